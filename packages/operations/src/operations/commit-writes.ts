import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { checkRecord, type Facts, historyOfChange, linksOf, sameValue } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';
import {
  addHistory,
  type CommitOutcome,
  type ContextInForce,
  type Database,
  findCommitOutcome,
  findContextInForce,
  type HistoryAddition,
  holdContext,
  type LinkWrite,
  together,
  type Transaction,
  writeLinks,
  type WrittenRow,
} from '@decision/persistence';
import { doublingMs } from '@decision/waiting';
import { type ContextDirectory, type ContextInUse, contextNotFound } from '../definitions/context-directory';
import { ContextOutdated } from '../definitions/recall-context';
import { findGivenMembers } from './surroundings';
import { type GivenFacts, type RequestOrigin, type Work } from './work';

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

/**
 * Writes instances of a context in one transaction. If the answer to its commit is lost, the outcome is queried from the database until it
 * answers or the deadline has passed (C149): a committed transaction is answered like any other, and one that was rolled back fails with
 * its original error. Throws {@link UnknownCommit}.
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
    // The work was not done, so no commit was requested; or there was nothing to lose.
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

/** The definition of a context has changed since the work on its instances started. */
export class DefinitionChanged extends ServiceError {
  constructor(
    /** The current context. */
    readonly context: ContextInUse,
  ) {
    super(
      'context_changed',
      `The definition of the context "${context.slug}" changed while the request was under way; send it again.`,
      { context: context.slug },
    );
  }
}

/**
 * Holds the definition of a context until the transaction ends and answers the current one (C153, ADR 22): the work may have started with
 * an older one. Throws `context_not_found` if the context no longer exists, and `ContextOutdated` if a recalled one is no longer in force.
 */
export const holdDefinition = async (
  transaction: Transaction,
  directory: ContextDirectory,
  { context, origin }: Pick<Work, 'context' | 'origin'>,
): Promise<ContextInUse> => {
  if (context.recalled !== undefined) return holdRecalled(transaction, context, context.recalled);
  const revision = await holdContext(transaction, context.id);
  if (revision === undefined) throw contextNotFound(context.slug);
  if (String(revision) === context.revision) return context;
  const inForce = await directory.openById(transaction, origin.access.workspaceId, context.id);
  if (inForce === undefined) throw contextNotFound(context.slug);
  return inForce;
};

const holdRecalled = async (
  transaction: Transaction,
  context: ContextInUse,
  recalled: ContextInForce,
): Promise<ContextInUse> => {
  // Held first, so that the context found next stays in force.
  const [revision, inForce] = await together(
    holdContext(transaction, context.id),
    findContextInForce(transaction, { id: context.id }),
  );
  if (revision !== undefined && isDeepStrictEqual(inForce, recalled)) return { ...context, recalled: undefined };
  throw new ContextOutdated('The context was changed since this process read it.');
};

/** Whether two states of a context allow and compute the same own facts. */
export const hasSameFacts = (one: ContextInUse, other: ContextInUse): boolean => {
  const [a, b] = [one.model.definition, other.model.definition];
  return (
    one === other ||
    (a.identityFact === b.identityFact && a.onSchemaMismatch === b.onSchemaMismatch && sameValue(a.schema, b.schema))
  );
};

/** Throws {@link DefinitionChanged} if facts that were checked before do not fit the current context. */
export const requireStillFit = async (
  transaction: Transaction,
  context: ContextInUse,
  given: readonly GivenFacts[],
): Promise<void> => {
  const facts = given.map((instance) => instance.facts);
  const collections = await findGivenMembers(transaction, context, facts);
  const fits = ({ facts }: GivenFacts): boolean => {
    const check = checkRecord(context.model, facts, collections);
    return check.ok && check.ignoredCount === 0;
  };
  if (!given.every(fits)) throw new DefinitionChanged(context);
};

/** Facts of an instance before and after one commit. */
interface FactsChange {
  readonly instanceId: string;
  readonly before: Facts;
  readonly after: Facts;
}

/** Adds the history of changes (C100), in the same transaction. */
export const writeHistory = async (
  transaction: Transaction,
  { id, model }: ContextInUse,
  changes: readonly FactsChange[],
  now: number,
): Promise<void> => {
  const entries = changes.flatMap(({ instanceId, before, after }): HistoryAddition[] =>
    [...historyOfChange(model, before, after, now)].map(([fact, entry]) => ({ instanceId, fact, ...entry })),
  );
  await addHistory(transaction, id, entries, model.definition.historyLimit);
};

/** Updates the links of changed foreign keys (C110), in the same transaction. */
export const followLinks = async (
  transaction: Transaction,
  { id, foreignKeys }: ContextInUse,
  changes: readonly FactsChange[],
): Promise<void> => {
  if (foreignKeys.length === 0) return;
  const writes = changes.flatMap(({ instanceId, before, after }): LinkWrite[] => {
    const [was, is] = [linksOf(foreignKeys, before), linksOf(foreignKeys, after)];
    return foreignKeys
      .filter((fact) => was.get(fact) !== is.get(fact))
      .map((fact) => ({ instanceId, fact, targetId: is.get(fact) ?? null }));
  });
  await writeLinks(transaction, id, writes);
};
