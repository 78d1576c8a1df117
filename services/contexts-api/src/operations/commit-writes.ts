import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import {
  type CommitOutcome,
  type Database,
  findCommitOutcome,
  type Transaction,
  type WrittenRow,
} from '@decision/persistence';
import { type RequestOrigin } from './work';

/** Result of a transaction, with the rows of instances that it wrote. */
interface Writes {
  readonly written: readonly WrittenRow[];
}

/** The database did not tell in time whether it committed what was written to these instances. */
export class UnknownCommit extends ServiceError {
  constructor(
    readonly instanceIds: readonly string[],
    cause: unknown,
  ) {
    super(
      'operation_interrupted',
      'The database did not tell in time whether it stored what was sent to it. Send the request again.',
      { unknown_instance_ids: instanceIds },
      { cause },
    );
  }
}

/** Whether the database may have been reached, and its answer was not. */
export const isLost = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'database_unavailable';

/** First and longest wait between two questions, ms. */
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 500;

/** The waits between attempts until a deadline, epoch ms: resolves true after each, and false at once where the next would end after it. */
export const waitsUntil = (deadline: number): (() => Promise<boolean>) => {
  let waitMs = FIRST_WAIT_MS;
  return async () => {
    if (Date.now() + waitMs >= deadline) return false;
    await pause(waitMs);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    return true;
  };
};

/**
 * Writes instances of a context in one transaction. Where the answer to its commit gets lost, the database is asked what became of it, until it
 * tells or the deadline has passed (C149): what was committed is answered like any other, and what was not fails as it did. Throws
 * {@link UnknownCommit}.
 */
export const commitWrites = async <Result extends Writes>(
  database: Database,
  contextId: string,
  { access, deadline }: Pick<RequestOrigin, 'access' | 'deadline'>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> => {
  let result: Result | undefined;
  try {
    return await database.inWorkspace(access, async (transaction) => (result = await work(transaction)));
  } catch (error) {
    // The work was not done, so that nobody asked for its commit; or there was nothing to lose.
    if (result === undefined || result.written.length === 0 || !isLost(error)) throw error;
    const { written } = result;
    const ask = (): Promise<CommitOutcome> =>
      database.inWorkspace(access, (transaction) => findCommitOutcome(transaction, contextId, written));
    const outcome = await askUntil(ask, deadline);
    if (outcome === 'committed') return result;
    if (outcome === 'rolled_back') throw error;
    throw new UnknownCommit(
      written.map(({ instanceId }) => instanceId),
      error.cause,
    );
  }
};

const askUntil = async (ask: () => Promise<CommitOutcome>, deadline: number): Promise<CommitOutcome> => {
  const wait = waitsUntil(deadline);
  do {
    const outcome = await ask().catch((error: unknown): CommitOutcome => {
      if (isLost(error)) return 'under_way';
      throw error;
    });
    if (outcome !== 'under_way') return outcome;
  } while (await wait());
  return 'unknown';
};
