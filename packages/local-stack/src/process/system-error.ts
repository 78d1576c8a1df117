/**
 * Whether this is the operating system's error of that name, for instance `ENOENT`. Told by its code alone: inside jest such
 * errors belong to another realm, in which `instanceof Error` does not hold.
 */
export const isSystemError = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;
