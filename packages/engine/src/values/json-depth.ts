/** Lists and objects within one another that a table may hold in one place: what is deeper is refused, so that the rest may recurse. */
export const MAX_DEPTH = 100;

/** Whether lists and objects stand deeper within one another than a bound. Does not recurse. */
export const isTooDeep = (value: unknown, bound = MAX_DEPTH): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  let level: readonly object[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= bound) return true;
    const below: object[] = [];
    for (const container of level) addContainers(container, below);
    level = below;
  }
  return false;
};

const addContainers = (container: object, found: object[]): void => {
  const parts: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
  for (const part of parts) if (typeof part === 'object' && part !== null) found.push(part);
};
