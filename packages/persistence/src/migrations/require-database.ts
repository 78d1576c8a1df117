import { ServiceError } from '@decision/contracts';
import { checkDatabase } from './check-database';

interface RequireDatabaseOptions {
  /** How long a database that cannot be reached is waited for, ms. Default 30,000. */
  readonly deadlineMs?: number;
  /** Told of every attempt that failed, with the time until the next one in ms. */
  readonly onRetry?: (message: string, nextMs: number) => void;
}

const DEFAULT_DEADLINE_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;

/**
 * Resolves once the database can be used as it is. Throws `database_unavailable` with everything that is wrong with it at once, and
 * after the deadline where it cannot be reached at all.
 */
export const requireDatabase = async (url: string, options: RequireDatabaseOptions = {}): Promise<void> => {
  const until = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const problems = await checkDatabase(url);
      if (problems.length === 0) return;
      throw new UnusableDatabase('database_unavailable', problems.join(' '));
    } catch (error) {
      if (error instanceof UnusableDatabase || performance.now() + pauseMs > until) throw error;
      options.onRetry?.(error instanceof Error ? error.message : String(error), pauseMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
};

/** The database answers but cannot be used: waiting does not help. */
class UnusableDatabase extends ServiceError {}
