import { describeError } from './describe-error';

const CENSOR = '[secret]';
const SECRET_NAME =
  /(?:authorization|apikey|cookie|password|passwd|passphrase|secret|secrethash|token|credentials?|privatekey|accesskey)$/;

const MAX_DEPTH = 6;
const MAX_ENTRIES = 100;

/** Whether a value under this name must not be logged. Case, dashes and underscores do not matter. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name.toLowerCase().replace(/[^a-z]/g, ''));

/**
 * A copy of what is to be logged, without the values of secret names at any depth, with errors described and bytes counted. Deeper
 * than six levels and past 100 entries it is cut. A getter that throws is named as unreadable.
 */
export const redact = (fields: object): Record<string, unknown> => redactEntries(fields, 0);

/** The same for one value, which may be anything; text and numbers are kept. */
export const redactValue = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return describeError(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (hasOwnForm(value)) return value;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => redactValue(item, depth + 1));
  return redactEntries(value, depth);
};

/** Made of entries, which never touches a prototype: any name is only a name. */
const redactEntries = (value: object, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(value)
      .slice(0, MAX_ENTRIES)
      .map((name) => [name, isSecretName(name) ? CENSOR : redactValue(read(value, name), depth + 1)]),
  );

/** A getter may throw, and a log line must not. */
const read = (value: object, name: string): unknown => {
  try {
    return (value as Record<string, unknown>)[name]; // one of its own keys
  } catch {
    return '[unreadable]';
  }
};

/** Dates, secrets and addresses know how they are written. */
const hasOwnForm = (value: object): boolean => 'toJSON' in value && typeof value.toJSON === 'function';
