import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import {
  type CommitOutcome,
  type Database,
  findCommitOutcome,
  type Transaction,
  type WrittenInstance,
  type WrittenRow,
} from '@decision/persistence';
import { doublingMs } from '@decision/waiting';
import { type RequestOrigin } from './work';

/** Result of a transaction, with the rows of instances that it wrote. */
interface Writes {
  readonly written: readonly WrittenRow[];
}

/** The database did not answer in time whether the writes to these instances were committed. */
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

/** Whether the request may have reached the database while its answer was lost. */
export const isLost = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'database_unavailable';

/** First and longest wait between two queries, ms. */
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 500;

/** The waits between attempts until a deadline, epoch ms: resolves true after each, and false at once if the next would end after it. */
export const waitsUntil = (deadline: number): (() => Promise<boolean>) => {
  let attempts = 0;
  return async () => {
    attempts += 1;
    const waitMs = doublingMs(attempts, { initialMs: FIRST_WAIT_MS, maxMs: LONGEST_WAIT_MS });
    if (Date.now() + waitMs >= deadline) return false;
    await pause(waitMs);
    return true;
  };
};

/** The last write of a transaction, with which it may commit ({@link Transaction.commitWith}). */
interface LastWrite<Result> {
  readonly instanceIds: readonly string[];
  readonly write: () => Promise<readonly WrittenInstance[]>;
  /** The result of the transaction, from the answer to the write. */
  readonly complete: (written: readonly WrittenInstance[]) => Result;
  /** Finds what became of the write, if it was not answered. */
  readonly find: (transaction: Transaction) => Promise<readonly WrittenInstance[] | Uncommitted>;
}

/** Ends the work of a transaction with a write that {@link commitWrites} can find if it is not answered. */
export type EndWith<Result> = (last: LastWrite<Result>) => Promise<Result>;

type Uncommitted = Exclude<CommitOutcome, 'committed'>;

/**
 * Writes instances of a context in one transaction. If the answer to its commit is lost, the outcome is queried from the database until it
 * answers or the deadline has passed (C149): a committed transaction is answered like any other, and one that was rolled back fails with
 * its original error. Throws {@link UnknownCommit}.
 */
export const commitWrites = async <Result extends Writes>(
  database: Database,
  contextId: string,
  { access, deadline }: Pick<RequestOrigin, 'access' | 'deadline'>,
  work: (transaction: Transaction, endWith: EndWith<Result>) => Promise<Result>,
): Promise<Result> => {
  let result: Result | undefined;
  let last: LastWrite<Result> | undefined;
  const endWith: EndWith<Result> = async (given) => {
    last = given;
    return given.complete(await given.write());
  };
  try {
    return await database.inWorkspace(access, async (transaction) => (result = await work(transaction, endWith)));
  } catch (error) {
    const question = isLost(error) ? askFor(contextId, result, last) : undefined;
    // No commit was requested, or there was nothing to lose.
    if (question === undefined) throw error;
    const outcome = await askUntil(() => database.inWorkspace(access, question.ask), deadline);
    if (outcome === 'rolled_back') throw error;
    if (typeof outcome === 'object') return outcome;
    throw new UnknownCommit(question.instanceIds, error instanceof Error ? error.cause : undefined);
  }
};

/** How the database tells whether a transaction was committed, and with which result. */
interface Question<Result> {
  readonly instanceIds: readonly string[];
  readonly ask: (transaction: Transaction) => Promise<Result | Uncommitted>;
}

/** Undefined if no commit was requested, or nothing was written. */
const askFor = <Result extends Writes>(
  contextId: string,
  result: Result | undefined,
  last: LastWrite<Result> | undefined,
): Question<Result> | undefined => {
  if (result === undefined) return last && askForLast(last);
  const { written } = result;
  if (written.length === 0) return undefined;
  return {
    instanceIds: written.map(({ instanceId }) => instanceId),
    ask: async (transaction) => {
      const outcome = await findCommitOutcome(transaction, contextId, written);
      return outcome === 'committed' ? result : outcome;
    },
  };
};

const askForLast = <Result>({ instanceIds, complete, find }: LastWrite<Result>): Question<Result> => ({
  instanceIds,
  ask: async (transaction) => {
    const found = await find(transaction);
    return typeof found === 'string' ? found : complete(found);
  },
});

const askUntil = async <Result>(
  ask: () => Promise<Result | Uncommitted>,
  deadline: number,
): Promise<Result | Uncommitted> => {
  const wait = waitsUntil(deadline);
  do {
    const outcome = await ask().catch((error: unknown) => {
      if (isLost(error)) return 'under_way' as const;
      throw error;
    });
    if (outcome !== 'under_way') return outcome;
  } while (await wait());
  return 'unknown';
};
