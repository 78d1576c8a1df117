/** An object as JSON makes them, with its own members. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object as JSON makes them: of no class. Objects of another realm count too. */
export const isPlainObject = (value: unknown): value is PlainObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
};

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined;
