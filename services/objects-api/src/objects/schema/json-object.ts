/** A JSON object. Its keys are a client's: ask with `Object.hasOwn`, never with `in`. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The member of a key, undefined where the object has none of its own. */
export const memberOf = (object: JsonObject, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Whether lists and objects nest deeper than the given number of levels. Without recursion: the value may nest without bound. */
export const nestsDeeper = (value: unknown, levels: number): boolean => {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? membersIn(part) : []));
    if (level.every((part) => typeof part !== 'object' || part === null)) return false;
  }
  return true;
};

const membersIn = (part: object): readonly unknown[] => Object.values(part);

/** One more step of a JSON pointer. */
export const pointerTo = (pointer: string, key: string | number): string =>
  `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
