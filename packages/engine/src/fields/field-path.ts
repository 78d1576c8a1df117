/** A field key, prepared for reading and writing. A key with dots means nested objects; an own key of the full name comes first. */
export interface FieldPath {
  readonly key: string;
  readonly segments: readonly string[];
}

/** A path with what is known of its key beforehand. */
export interface FieldReader extends FieldPath {
  /** Whether an object of the usual prototype has nothing under the key but what is its own. */
  readonly isSafe: boolean;
  /** Whether the key has dots. */
  readonly isNested: boolean;
}

export const fieldPath = (key: string): FieldPath => ({ key, segments: key.split('.') });

/** Written out, so that all readers have one shape: searches look at them for each field of each input. */
export const fieldReader = (key: string): FieldReader => ({
  key,
  segments: key.split('.'),
  isSafe: !(key in Object.prototype),
  isNested: key.includes('.'),
});

/** The value at a path; undefined where there is none. Only own properties are seen, so `constructor` is as absent as any other. */
export const readOwn = (input: Readonly<Record<string, unknown>>, { key, segments }: FieldPath): unknown => {
  if (Object.hasOwn(input, key)) return input[key];
  if (segments.length === 1) return undefined;
  let value: unknown = input;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment]; // an object that has this own property
  }
  return value;
};

/** Writes a value at a path of an output, making nested objects on the way. Keys such as `__proto__` become plain own keys. */
export const writeField = (output: Record<string, unknown>, { segments }: FieldPath, value: unknown): void => {
  let target = output;
  for (const segment of segments.slice(0, -1)) target = childOf(target, segment);
  defineOwn(target, segments.at(-1) ?? '', value);
};

const childOf = (parent: Record<string, unknown>, segment: string): Record<string, unknown> => {
  if (!Object.hasOwn(parent, segment)) defineOwn(parent, segment, {});
  return parent[segment] as Record<string, unknown>; // made by this function: keys that collide with values were refused
};

/** Sets an own member, also one whose name means something to a prototype. */
export const defineOwn = (target: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
};
