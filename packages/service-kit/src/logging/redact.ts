const CENSOR = '[secret]';
const SECRET_NAME =
  /(?:authorization|apikey|cookie|password|passwd|passphrase|secret|secrethash|token|credentials?|privatekey|accesskey)$/;

const MAX_DEPTH = 6;
const MAX_ENTRIES = 100;

/** Whether a value under this name must not be logged. Case, dashes and underscores do not matter. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name.toLowerCase().replace(/[^a-z]/g, ''));

/**
 * A copy for the log, without the values of secret names at any depth, with errors described and bytes counted. It is cut at six levels and
 * 100 entries. A getter that throws is shown as unreadable.
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

/** Built from entries, which never touches a prototype, so any name is safe. */
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

/** Dates, secrets and addresses have their own text form. */
const hasOwnForm = (value: object): boolean => 'toJSON' in value && typeof value.toJSON === 'function';

const CREDENTIALS_IN_ADDRESS = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'\\]{1,1000}@/gi;
const API_KEY = /dsk_([0-9a-z]{12})_[A-Za-z0-9_-]{20,}/g;
const BEARER = /\b(bearer|basic) +(?=[^\s"]{0,200}\d)[A-Za-z0-9._~+/=-]{8,}/gi;

/** Removes secrets from foreign text: user and password in addresses, API keys, bearer tokens. */
export const scrubText = (text: string): string => {
  let scrubbed = text;
  if (scrubbed.includes('@')) scrubbed = scrubbed.replace(CREDENTIALS_IN_ADDRESS, '$1[secret]@');
  if (scrubbed.includes('dsk_')) scrubbed = scrubbed.replace(API_KEY, 'dsk_$1_[secret]');
  return MAYBE_TOKEN.test(scrubbed) ? scrubbed.replace(BEARER, '$1 [secret]') : scrubbed;
};

const MAYBE_TOKEN = /bearer |basic /i;

/** An error as it is logged: its type, origin and cause, without the data that it concerned. */
interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
  /** The parts of an `AggregateError`, at most five. */
  readonly errors?: readonly DescribedError[];
}

const MAX_MESSAGE = 2_000;
const MAX_STACK = 8_000;
const MAX_CAUSES = 4;
const MAX_PARTS = 5;

/**
 * Describes a thrown value. Only type, code, message, stack and causes are kept: drivers attach queries, parameters and rows to their
 * errors, which are payload.
 */
export const describeError = (error: unknown, depth = 0): DescribedError => {
  if (!(error instanceof Error)) return { type: typeof error, message: describeThrown(error) };
  const { code, cause } = error as Error & { code?: unknown }; // many drivers add a code
  return {
    type: error.name,
    message: shorten(messageOf(error), MAX_MESSAGE),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(error.stack === undefined ? {} : { stack: shorten(stackOf(error, error.stack), MAX_STACK) }),
    ...(cause === undefined || depth >= MAX_CAUSES ? {} : { cause: describeError(cause, depth + 1) }),
    ...(error instanceof AggregateError && depth < MAX_CAUSES ? { errors: parts(error, depth) } : {}),
  };
};

/** A syntax error quotes its input, which can be payload, so its message is left out. */
const messageOf = (error: Error): string =>
  error instanceof SyntaxError ? 'the message is left out, since it quotes what was read' : error.message;

/** The stack starts with the message. */
const stackOf = (error: Error, stack: string): string =>
  error instanceof SyntaxError ? stack.replace(error.message, () => messageOf(error)) : stack;

const parts = ({ errors }: AggregateError, depth: number): DescribedError[] =>
  errors.slice(0, MAX_PARTS).map((part) => describeError(part, depth + 1));

/** A thrown value that is not an error: text is kept, anything else could be payload. */
const describeThrown = (thrown: unknown): string =>
  typeof thrown === 'string' ? shorten(thrown, MAX_MESSAGE) : 'something that is not an error was thrown';

const shorten = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}...` : text);
