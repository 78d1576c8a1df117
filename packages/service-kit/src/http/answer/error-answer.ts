import { type ErrorCode, type ErrorDetails, ServiceError } from '@decision/contracts';

/** How an error is answered. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The one error body, as JSON text. */
  readonly body: string;
}

const INTERNAL_SENTENCE = 'The service failed on its own account. The request id leads to the cause in its logs.';
const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** The error as clients may know it: what is no {@link ServiceError} is an `internal_error` without a word about the inside. */
export const publicError = (error: unknown): ServiceError =>
  error instanceof ServiceError && error.code !== 'internal_error'
    ? error
    : new ServiceError('internal_error', INTERNAL_SENTENCE, {}, { cause: error });

/** The answer to an error: `{"error", "code", "request_id", ...details}` with the status and headers that belong to it. */
export const errorAnswer = (error: unknown, requestId: string): ErrorAnswer => {
  const { status, code, message, details } = publicError(error);
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...headersOf(code, details),
    },
    body: bodyText({ error: message, code, request_id: requestId }, details),
  };
};

const headersOf = (code: ErrorCode, details: ErrorDetails): Record<string, string> => ({
  ...retryHeader(code, details['retry_after_seconds']),
  ...(Array.isArray(details['allow']) ? { allow: details['allow'].join(', ') } : {}),
  ...(code === 'missing_api_key' || code === 'invalid_api_key'
    ? { 'www-authenticate': 'ApiKey header="x-api-key"' }
    : {}),
});

/** Codes that say "not now, but soon" always carry Retry-After. */
const SOON: ReadonlySet<ErrorCode> = new Set([
  'overloaded',
  'broker_unavailable',
  'database_unavailable',
  'not_ready',
  'shutting_down',
]);

const retryHeader = (code: ErrorCode, seconds: unknown): Record<string, string> => {
  if (typeof seconds === 'number' && seconds >= 0) return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
  return SOON.has(code) ? { 'retry-after': String(DEFAULT_RETRY_AFTER_SECONDS) } : {};
};

const bodyText = (
  base: { readonly error: string; readonly code: string; readonly request_id: string },
  details: ErrorDetails,
): string => {
  try {
    return JSON.stringify({ ...base, ...details, ...base });
  } catch {
    // Details that are not JSON must not cost the client the rest of the answer.
    return JSON.stringify(base);
  }
};
