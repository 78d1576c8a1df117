import { outcomeOf, resolveInstance, type Settled } from '@decision/contexts';
import { ServiceError, type SettledInstance } from '@decision/contracts';
import {
  addNotifications,
  type Database,
  endRegistrations,
  type HeldInstances,
  together,
  type Transaction,
  writeBackInstances,
  type WrittenInstance,
} from '@decision/persistence';
import { type ContextDirectory, type ContextInUse } from '../definitions/context-directory';
import { type HeldInstance, sourcesOf } from './admit';
import {
  commitWrites,
  DefinitionChanged,
  followLinks,
  hasSameFacts,
  holdDefinition,
  isLost,
  UnknownCommit,
  waitsUntil,
  writeHistory,
} from './commit-writes';
import { type InstanceOutcome, type Work } from './work';

/** New states of instances, and the instances whose state is unknown. */
export interface Finished {
  readonly outcomes: readonly InstanceOutcome[];
  readonly failures: ReadonlyMap<string, ServiceError>;
}

interface FinishOptions {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly operationId: string;
  /** Called with instances whose write-back a take-over prevented, or whose outcome the database did not report. */
  readonly onFenced: (cause: 'taken_over' | 'unknown', instances: number) => void;
}

/** Result of an operation for an instance that it holds. */
interface SettledHeld {
  readonly held: HeldInstance;
  readonly settled: SettledInstance;
  readonly outcome: InstanceOutcome;
}

/**
 * Writes back the results of an operation on its instances (C142), and reports the outcome of each. If the connection is lost the write is
 * sent again under the same fence, until the deadline has passed (C149). Throws `DefinitionChanged` if the context has other facts by now,
 * and `context_not_found`.
 */
export const finish = async (
  { database, directory, operationId, onFenced }: FinishOptions,
  work: Work,
  settledHeld: readonly SettledHeld[],
): Promise<Finished> => {
  const { origin } = work;
  const wait = waitsUntil(origin.deadline);
  let holds: Holding = holdWhileWriting;
  for (;;) {
    try {
      const { written, context } = await commitWrites(database, work.context.id, origin, async (transaction) => {
        const { rows, context } = await holds(
          () => holdFor(transaction, directory, work),
          (context) => writeRows(transaction, { ...work, context }, operationId, settledHeld),
          work.context,
        );
        await writeConsequences(transaction, { ...work, context }, settledHeld, rows);
        return { written: rows, context };
      });
      const lost = settledHeld.length - written.length;
      if (lost > 0) onFenced('taken_over', lost);
      return settleAccounts(settledHeld, written, context);
    } catch (error) {
      if (error instanceof WrittenAsBefore) {
        holds = holdBeforeWriting;
        continue;
      }
      if (error instanceof UnknownCommit) break;
      if (!isLost(error)) throw error;
      if (!(await wait())) break;
    }
  }
  onFenced('unknown', settledHeld.length);
  return { outcomes: [], failures: unknownOutcomes(settledHeld) };
};

/** Holds the definition and writes rows by it. */
type Holding = (
  hold: () => Promise<ContextInUse>,
  write: (context: ContextInUse) => Promise<readonly WrittenInstance[]>,
  before: ContextInUse,
) => Promise<{ readonly context: ContextInUse; readonly rows: readonly WrittenInstance[] }>;

/** In one message: the definition is almost always unchanged. */
const holdWhileWriting: Holding = async (hold, write, before) => {
  const [context, rows] = await together(hold(), write(before));
  if (context !== before) throw new WrittenAsBefore();
  return { context, rows };
};

const holdBeforeWriting: Holding = async (hold, write) => {
  const context = await hold();
  return { context, rows: await write(context) };
};

/** Rows were written by a definition that is no longer in force, in a transaction that is not committed. */
class WrittenAsBefore extends Error {
  override readonly name = 'WrittenAsBefore';
}

const holdFor = async (transaction: Transaction, directory: ContextDirectory, work: Work): Promise<ContextInUse> => {
  const context = await holdDefinition(transaction, directory, work);
  if (!hasSameFacts(context, work.context)) throw new DefinitionChanged(context);
  return context;
};

const writeRows = (
  transaction: Transaction,
  work: Work,
  operationId: string,
  settledHeld: readonly SettledHeld[],
): Promise<readonly WrittenInstance[]> => {
  const { context, mode } = work;
  const fences = new Map(settledHeld.map(({ held }) => [idOf(held), held.fence]));
  const held: HeldInstances = { operationId, takeovers: 0, fences };
  const ttlSeconds = mode === 'submit' ? context.model.definition.ttlSeconds : undefined;
  const writes = settledHeld.map(({ held: one, settled, outcome }) => ({
    instanceId: idOf(one),
    facts: settled.facts,
    derived: outcome.resolved.derived,
    executions: settled.executions,
    isNew: false,
  }));
  return writeBackInstances(transaction, writes, { contextId: context.id, ttlSeconds, held });
};

/** Writes the consequences of the written rows; rows that other processes had taken over are left to those. */
const writeConsequences = async (
  transaction: Transaction,
  { context, origin }: Work,
  settledHeld: readonly SettledHeld[],
  written: readonly WrittenInstance[],
): Promise<void> => {
  const ids = new Set(written.map(({ instanceId }) => instanceId));
  const mine = settledHeld.filter(({ held: one }) => ids.has(idOf(one)));
  const changes = mine.map(({ held: one, settled }) => ({
    instanceId: idOf(one),
    before: one.planned.facts,
    after: settled.facts,
  }));
  const notifications = mine.flatMap(({ settled }) => settled.notifications ?? []);
  await together(
    writeHistory(transaction, context, changes, origin.now),
    followLinks(transaction, context, changes),
    endRegistrations(transaction, context.id, mine.flatMap(endedRegistrations)),
    addNotifications(transaction, notifications),
  );
};

const idOf = ({ planned }: HeldInstance): string => planned.locked.instanceId;

/**
 * Registered evaluations that are settled: those that ran, with any result, and those with nothing new to evaluate. While the instance is
 * busy nobody registers another.
 */
const endedRegistrations = ({ held, settled }: SettledHeld) =>
  (held.planned.hasRegistered || held.planned.registers ? settled.runs : [])
    .filter(({ status }) => status === 'success' || status === 'evaluation_error' || status === 'skipped_already_run')
    .map(({ type, slug }) => ({ instanceId: idOf(held), type, slug }));

const settleAccounts = (
  settledHeld: readonly SettledHeld[],
  written: readonly WrittenInstance[],
  context: ContextInUse,
): Finished => {
  const rows = new Map(written.map((row) => [row.instanceId, row]));
  const failures = new Map<string, ServiceError>();
  const outcomes = settledHeld.flatMap(({ held, outcome }) => {
    const row = rows.get(idOf(held));
    if (row !== undefined) return [{ ...outcome, context, expiresAt: row.expiresAt }];
    failures.set(idOf(held), takenOver());
    return [];
  });
  return { outcomes, failures };
};

const takenOver = (): ServiceError =>
  new ServiceError(
    'operation_interrupted',
    'Another process took the operation over, since this one was silent for too long; what this one found was not written. Send the request again.',
  );

const unknownOutcomes = (settledHeld: readonly SettledHeld[]): ReadonlyMap<string, ServiceError> =>
  new Map(
    settledHeld.map(({ held }) => [
      idOf(held),
      new ServiceError(
        'operation_interrupted',
        'The facts were merged, but the database did not tell in time whether what was decided was written. Send the request again.',
      ),
    ]),
  );

/** Outcome of an instance after an operation has settled it. */
export const outcomeOfHeld = (work: Work, held: HeldInstance, instance: SettledInstance): InstanceOutcome => {
  const { context } = work;
  const { locked, facts, surroundings, hasRegistered, registers } = held.planned;
  const { history } = sourcesOf(work, locked.facts, facts, surroundings);
  const sources = sourcesOf(work, facts, instance.facts, { ...surroundings, history });
  const settled: Settled = { ...instance, degraded: instance.degraded };
  return {
    instanceId: locked.instanceId,
    context,
    isNew: locked.isNew,
    before: { ...locked.facts, ...locked.derived },
    resolved: resolveInstance(context.model, instance.facts, sources),
    settled,
    outcome: outcomeOf(settled, {
      hasAssets: true,
      autoExecute: context.model.definition.autoExecuteDecisions,
      hasRegistered: hasRegistered || work.forced !== undefined,
    }),
    relatives: { related: surroundings.related, aggregates: surroundings.aggregates },
    expiresAt: locked.expiresAt,
    version: held.version + 1,
    readerPass: locked.isNew ? undefined : locked.readerPass,
    registered: registers,
  };
};
