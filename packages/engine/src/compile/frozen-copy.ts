/** A copy of a JSON value that nobody can change: compiled rules are shared between requests. */
export const frozenCopy = <T>(value: T): T => freeze(structuredClone(value));

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
};
