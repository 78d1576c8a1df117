import { ServiceError } from '@decision/contracts';

/** Fields of the client library's errors besides the message. */
interface LibraryError extends Error {
  readonly type?: unknown;
  readonly code?: unknown;
}

/** The error at the bottom of a chain of causes: the library wraps the informative one when its retries are used up. */
const root = (error: unknown): unknown => {
  let current = error;
  for (let depth = 0; depth < 10 && current instanceof Error && current.cause instanceof Error; depth += 1)
    current = current.cause;
  return current;
};

/** The broker's own name for an error, such as MESSAGE_TOO_LARGE, if the broker gave one. */
export const brokerErrorType = (error: unknown): string | undefined => {
  const type = (root(error) as LibraryError | undefined)?.type; // only read, and checked on the next line
  return typeof type === 'string' ? type : undefined;
};

/** Codes of the network for a broker that accepts no connection. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'],
]);

/** The library's names for an error because no broker is known that leads a partition. */
const LEADERLESS: ReadonlySet<unknown> = new Set(['KafkaJSBrokerNotFound', 'KafkaJSMetadataNotLoaded']);

/** Whether a broker could not be connected to, or none is known that leads the partition. */
export const isUnreachable = (error: unknown): boolean => {
  const cause = root(error) as LibraryError | undefined; // fields are only compared
  return UNREACHABLE.has(cause?.code) || LEADERLESS.has(cause?.name);
};

/** An error's sentence for a status line or a log: the message of the broker or the network, in one line. */
export const brokerErrorText = (error: unknown): string => {
  const cause = root(error);
  if (!(cause instanceof Error)) return 'unknown error';
  const type = brokerErrorType(cause);
  return type === undefined ? cause.message : `${cause.message} (${type})`;
};

/** Turns any error of the client library into a `ServiceError`; a `ServiceError` is returned unchanged. */
export const brokerError = (error: unknown): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError(
        'broker_unavailable',
        `The message broker cannot be used: ${brokerErrorText(error)}.`,
        {},
        { cause: error },
      );
