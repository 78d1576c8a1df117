/** A copy of a JSON value, no deeper than tables may be, that nobody can change: compiled rules are shared between requests. */
export const frozenCopy = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: frozenCopy(member), enumerable: true });
  }
  return Object.freeze(copy);
};
