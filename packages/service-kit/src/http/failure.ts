import { type ErrorCode, errorCodes, type ErrorDetails, ServiceError } from '@decision/contracts';
import { type Logger } from '../logging/logger';

/** How an error is answered. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The common error body, as JSON text. */
  readonly body: string;
}

const INTERNAL_SENTENCE = 'The service failed on its own account. The request id leads to the cause in its logs.';
const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** The error as clients see it: anything but a {@link ServiceError} becomes an `internal_error` that shows no internals. */
const publicError = (error: unknown): ServiceError =>
  error instanceof ServiceError && error.code !== 'internal_error'
    ? error
    : new ServiceError('internal_error', INTERNAL_SENTENCE, {}, { cause: error });

/** The answer to an error: `{"error", "code", "request_id", ...details}` with its status and headers. */
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
  ...(errorCodes[code].status === 401 ? { 'www-authenticate': 'ApiKey header="x-api-key"' } : {}),
});

/** Codes of temporary failures; their answers always carry Retry-After. */
const SOON_OVER: ReadonlySet<ErrorCode> = new Set([
  'overloaded',
  'broker_unavailable',
  'decision_not_recorded',
  'database_unavailable',
  'not_ready',
  'shutting_down',
]);

const retryHeader = (code: ErrorCode, seconds: unknown): Record<string, string> => {
  if (typeof seconds === 'number' && seconds >= 0) return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
  return SOON_OVER.has(code) ? { 'retry-after': String(DEFAULT_RETRY_AFTER_SECONDS) } : {};
};

const bodyText = (
  base: { readonly error: string; readonly code: string; readonly request_id: string },
  details: ErrorDetails,
): string => {
  try {
    return JSON.stringify({ ...base, ...details, ...base });
  } catch {
    // Details that are not JSON must not suppress the rest of the answer.
    return JSON.stringify(base);
  }
};

/** Maximum lines per second for each code: a sample of client errors, and nearly all failures of the service. */
const CLIENT_LINES_PER_SECOND = 1;
const SERVER_LINES_PER_SECOND = 10;
const WINDOW_MS = 1_000;

/** Codes with a 5xx status that the service deliberately answers at start and stop: nobody has to act. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set(['not_ready', 'shutting_down']);

interface Window {
  readonly startedAt: number;
  logged: number;
  suppressed: number;
}

/**
 * Logs failed requests: 5xx at error with their stack, the rest at info. Bounded in lines per second for each code; the next line says how
 * many were left out.
 */
export class FailureLog {
  /** One entry per code of the catalogue. */
  private readonly windows = new Map<ErrorCode, Window>();

  /** `now` answers ms of a clock that never goes back. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** `logOf` makes the logger of the request; it is not called if nothing is logged. */
  report(logOf: () => Logger, error: unknown): void {
    const shown = publicError(error);
    const { code, status } = shown;
    const isServerFault = status >= 500 && !EXPECTED.has(code);
    const suppressed = this.admit(code, isServerFault ? SERVER_LINES_PER_SECOND : CLIENT_LINES_PER_SECOND);
    if (suppressed === undefined) return;
    const log = logOf();
    const fields = { status, code, ...(suppressed > 0 ? { suppressed } : {}) };
    if (isServerFault)
      log.error({ ...fields, err: error }, error instanceof ServiceError ? error.message : 'A request failed.');
    else log.info(fields, `A request was refused: ${shown.code}.`);
  }

  /** Number of suppressed lines of this code before this one; undefined if this one is suppressed too. */
  private admit(code: ErrorCode, linesPerSecond: number): number | undefined {
    const now = this.now();
    let window = this.windows.get(code);
    if (window === undefined || now - window.startedAt >= WINDOW_MS) {
      window = { startedAt: now, logged: 0, suppressed: window?.suppressed ?? 0 };
      this.windows.set(code, window);
    }
    if (window.logged >= linesPerSecond) {
      window.suppressed += 1;
      return undefined;
    }
    window.logged += 1;
    const { suppressed } = window;
    window.suppressed = 0;
    return suppressed;
  }
}

/** The client closed the connection before it was answered. There is nobody to answer, so this is not logged. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before it was answered.');
  }
}
