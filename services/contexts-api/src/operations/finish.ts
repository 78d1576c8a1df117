import { setTimeout as pause } from 'node:timers/promises';
import { resolveInstance, type Settled, outcomeOf } from '@decision/contexts';
import { ServiceError, type SettledInstance } from '@decision/contracts';
import {
  type Database,
  endRegistrations,
  findAdmissions,
  type HeldInstances,
  type Transaction,
  type WrittenInstance,
  writeBackInstances,
} from '@decision/persistence';
import { type HeldInstance } from './admit';
import { sourcesOf } from './plan-instances';
import { type InstanceOutcome, type Work } from './work';
import { followLinks, writeHistory } from './write-changes';

/** What instances became, and those of which that cannot be told. */
export interface Finished {
  readonly outcomes: readonly InstanceOutcome[];
  readonly failures: ReadonlyMap<string, ServiceError>;
}

export interface FinishOptions {
  readonly database: Database;
  readonly operationId: string;
}

/** What an operation made of an instance that it holds. */
export interface SettledHeld {
  readonly held: HeldInstance;
  readonly settled: SettledInstance;
  readonly outcome: InstanceOutcome;
}

/**
 * Writes back what an operation made of its instances (C142), and says what became of each. Where the outcome of the write gets lost, the rows are
 * read until they tell, or the deadline has passed (C149).
 */
export const finish = async (
  { database, operationId }: FinishOptions,
  work: Work,
  settledHeld: readonly SettledHeld[],
): Promise<Finished> => {
  const { access, deadline } = work.origin;
  for (let wait = 20; ; wait = Math.min(wait * 2, 500)) {
    try {
      const written = await database.inWorkspace(access, (transaction) =>
        writeBack(transaction, work, operationId, settledHeld),
      );
      return settleAccounts(settledHeld, written);
    } catch (error) {
      const isLost = error instanceof ServiceError && error.code === 'database_unavailable';
      if (!isLost) throw error;
      if (Date.now() + wait >= deadline) return { outcomes: [], failures: unknownOutcomes(settledHeld) };
      await pause(wait);
    }
  }
};

type Written = ReadonlyMap<string, { readonly expiresAt: string | null }>;

const writeBack = async (
  transaction: Transaction,
  work: Work,
  operationId: string,
  settledHeld: readonly SettledHeld[],
): Promise<Written> => {
  const { context, origin, mode } = work;
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
  const rows = await writeBackInstances(transaction, writes, { contextId: context.id, ttlSeconds, held });
  const written = new Map<string, Pick<WrittenInstance, 'expiresAt'>>(rows.map((row) => [row.instanceId, row]));
  const mine = settledHeld.filter(({ held: one }) => written.has(idOf(one)));
  const changes = mine.map(({ held: one, settled }) => ({
    instanceId: idOf(one),
    before: one.planned.facts,
    after: settled.facts,
  }));
  await writeHistory(transaction, context, changes, origin.now);
  await followLinks(transaction, context, changes);
  await endRegistrations(transaction, context.id, mine.flatMap(endedRegistrations));
  if (mine.length === settledHeld.length) return written;
  return new Map([...written, ...(await writtenBefore(transaction, work, settledHeld))]);
};

const idOf = ({ planned }: HeldInstance): string => planned.locked.instanceId;

/** Rows that an attempt of this operation wrote whose answer was lost: the fence is still its own, and there was one write since the merge. */
const writtenBefore = async (
  transaction: Transaction,
  { context }: Work,
  settledHeld: readonly SettledHeld[],
): Promise<Written> => {
  const rows = await findAdmissions(
    transaction,
    context.id,
    settledHeld.map(({ held }) => idOf(held)),
  );
  const byId = new Map(rows.map((row) => [row.instanceId, row]));
  const own = settledHeld.flatMap(({ held }): [string, { expiresAt: string | null }][] => {
    const row = byId.get(idOf(held));
    const isOwn =
      row !== undefined && row.operationId === null && row.fence === held.fence && row.version === held.version + 1;
    return isOwn ? [[idOf(held), { expiresAt: row.expiresAt }]] : [];
  });
  return new Map(own);
};

/** Registered evaluations that are settled: those that ran, whatever they found, and those that had nothing new to find. While the instance is busy nobody registers another. */
const endedRegistrations = ({ held, settled }: SettledHeld) =>
  (held.planned.hasRegistered || held.planned.registers ? settled.runs : [])
    .filter(({ status }) => status === 'success' || status === 'evaluation_error' || status === 'skipped_already_run')
    .map(({ type, slug }) => ({ instanceId: idOf(held), type, slug }));

const settleAccounts = (settledHeld: readonly SettledHeld[], written: Written): Finished => {
  const failures = new Map<string, ServiceError>();
  const outcomes = settledHeld.flatMap(({ held, outcome }) => {
    const row = written.get(idOf(held));
    if (row !== undefined) return [{ ...outcome, expiresAt: row.expiresAt }];
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

/** What became of an instance, once an operation has settled it. */
export const outcomeOfHeld = (work: Work, held: HeldInstance, instance: SettledInstance): InstanceOutcome => {
  const { context } = work;
  const { locked, facts, surroundings, hasRegistered, registers } = held.planned;
  const sources = sourcesOf(work, locked.facts, facts, surroundings);
  const history = sourcesOf(work, facts, instance.facts, {
    ...surroundings,
    history: Object.fromEntries([...context.model.facts.keys()].map((fact) => [fact, sources.history(fact)])),
  });
  const settled: Settled = { ...instance, degraded: instance.degraded };
  return {
    instanceId: locked.instanceId,
    isNew: locked.isNew,
    before: { ...locked.facts, ...locked.derived },
    resolved: resolveInstance(context.model, instance.facts, history),
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
