import { outcomeOf, resolveInstance, type Settled } from '@decision/contexts';
import { ServiceError, type SettledInstance } from '@decision/contracts';
import { type Database } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { type HeldInstance, sourcesOf } from './admit';
import { commitWrites, isLost, UnknownCommit, waitsUntil } from './commit-writes';
import { type InstanceOutcome, type Work } from './work';
import { type BackRow, idOf, type SettledHeld, WriteBack, type WriteBackOptions, WrittenAsBefore } from './write-back';

/** New states of instances, and the instances whose state is unknown. */
export interface Finished {
  readonly outcomes: readonly InstanceOutcome[];
  readonly failures: ReadonlyMap<string, ServiceError>;
}

interface FinishOptions extends WriteBackOptions {
  readonly database: Database;
  /** Called with instances whose write-back a take-over prevented, or whose outcome the database did not report. */
  readonly onFenced: (cause: 'taken_over' | 'unknown', instances: number) => void;
}

/**
 * Writes back the results of an operation on its instances (C142), and reports the outcome of each. If the connection is lost the write is
 * sent again under the same fence, until the deadline has passed (C149). Throws `DefinitionChanged` if the context has other facts by now,
 * and `context_not_found`.
 */
export const finish = async (
  options: FinishOptions,
  work: Work,
  settledHeld: readonly SettledHeld[],
): Promise<Finished> => {
  const { database, onFenced } = options;
  const wait = waitsUntil(work.origin.deadline);
  const writeBack = new WriteBack(options, work, settledHeld);
  for (;;) {
    try {
      const { rows, context } = await commitWrites(database, work.context.id, work.origin, (transaction) =>
        writeBack.attempt(transaction),
      );
      const lost = settledHeld.length - rows.length;
      if (lost > 0) onFenced('taken_over', lost);
      return settleAccounts(settledHeld, rows, context);
    } catch (error) {
      if (error instanceof WrittenAsBefore) continue;
      if (error instanceof UnknownCommit) break;
      if (!isLost(error)) throw error;
      if (!(await wait())) break;
    }
  }
  onFenced('unknown', settledHeld.length);
  return { outcomes: [], failures: unknownOutcomes(settledHeld) };
};

const settleAccounts = (
  settledHeld: readonly SettledHeld[],
  written: readonly BackRow[],
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
