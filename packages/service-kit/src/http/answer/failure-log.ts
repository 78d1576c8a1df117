import { type ErrorCode, ServiceError } from '@decision/contracts';
import { type Logger } from '../../logging/logger';
import { publicError } from './error-answer';

/** Lines a second and code: a client's mistakes are a sample, our own failures nearly complete. */
const CLIENT_LINES_PER_SECOND = 1;
const SERVER_LINES_PER_SECOND = 10;
const WINDOW_MS = 1_000;

/** Answered with a 5xx, yet nobody must act: the service says so itself at start and at stop. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set(['not_ready', 'shutting_down']);

interface Window {
  readonly startedAt: number;
  logged: number;
  suppressed: number;
}

/**
 * Logs failed requests: 5xx at error with their stack, the rest at info. Bounded in lines a second for each code; the next line says
 * how many were left out.
 */
export class FailureLog {
  /** One entry a code of the catalogue. */
  private readonly windows = new Map<ErrorCode, Window>();

  /** `now` answers ms of a clock that never goes back. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** `logOf` makes the logger of the request; it is not asked where nothing is logged. */
  report(logOf: () => Logger, error: unknown): void {
    const shown = publicError(error);
    const { code, status } = shown;
    const ours = status >= 500 && !EXPECTED.has(code);
    const suppressed = this.admit(code, ours ? SERVER_LINES_PER_SECOND : CLIENT_LINES_PER_SECOND);
    if (suppressed === undefined) return;
    const log = logOf();
    const fields = { status, code, ...(suppressed > 0 ? { suppressed } : {}) };
    if (ours) log.error({ ...fields, err: error }, error instanceof ServiceError ? error.message : 'A request failed.');
    else log.info(fields, `A request was refused: ${shown.code}.`);
  }

  /** How many lines of this code were left out before this one, or undefined where this one is left out too. */
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
