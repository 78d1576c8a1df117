import {
  assetKey,
  deriveState,
  describeState,
  disownFacts,
  type Executions,
  type Facts,
  historyOfChange,
  identityValueOf,
  isReady,
  lookAhead,
  mergeFacts,
  noHistory,
  outcomeOf,
  sameValue,
  type Settled,
  withChange,
} from '@decision/contexts';
import { ancestorsOf, inputHash } from '@decision/execution';
import {
  type Admission,
  type LockedInstance,
  lockInstances,
  registerEvaluation,
  returnTickets,
  together,
  type Transaction,
  writeInstances,
  type WrittenInstance,
} from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { followLinks, writeHistory } from './commit-writes';
import { loadSurroundings, loadWrittenCollections } from './surroundings';
import { type GivenFacts, type InstanceOutcome, type PlannedInstance, type Surroundings, type Work } from './work';

/** An instance that was admitted to an operation, with the fence that its writes must name. */
export interface HeldInstance {
  readonly planned: PlannedInstance;
  readonly fence: number;
  /** The version of its row after the merge. */
  readonly version: number;
  /** Creation of the instance, ISO 8601. */
  readonly createdAt: string;
}

/** Result of a transaction on some instances. */
export interface Admitted {
  /** Merged, with nothing further due. */
  readonly done: readonly InstanceOutcome[];
  /** Merged, and busy with the operation. */
  readonly held: readonly HeldInstance[];
  /** Ids of instances that are busy, or for which earlier requests wait. They were not changed. */
  readonly busy: readonly string[];
  readonly collections: ReadonlyMap<string, readonly unknown[]>;
  /** The rows that were written. */
  readonly written: readonly WrittenInstance[];
}

interface AdmitOptions {
  readonly admission: Admission;
  readonly ticketId: string | undefined;
}

/** Locks the rows of instances, with their registered evaluations, regardless of the definition of their context. */
export const lockGiven = (
  transaction: Transaction,
  { context, mode }: Pick<Work, 'context' | 'mode'>,
  given: readonly GivenFacts[],
  ticketId: string | undefined,
): Promise<readonly LockedInstance[]> =>
  lockInstances(transaction, {
    contextId: context.id,
    instanceIds: given.map(({ instanceId }) => instanceId),
    create: mode === 'submit',
    ticketId,
    withRegistrations: true,
  });

/** Facts for instances whose rows are locked. */
interface LockedGiven {
  readonly given: readonly GivenFacts[];
  readonly locked: readonly LockedInstance[];
}

/**
 * Merges facts into the free instances, in one transaction (C140, C141): those with nothing due are free again with its commit, those with
 * due assets are busy with the operation.
 */
export const admit = async (
  transaction: Transaction,
  work: Work,
  { given, locked }: LockedGiven,
  { admission, ticketId }: AdmitOptions,
): Promise<Admitted> => {
  const { context } = work;
  const free = locked.filter(isFree);
  const busy = locked.filter((instance) => !isFree(instance)).map(({ instanceId }) => instanceId);
  const collections = await loadWrittenCollections(transaction, context);
  const planned = free.length === 0 ? [] : await planAll(transaction, work, free, given);
  const turns = given.map(({ instanceId }) => instanceId).filter((id) => !busy.includes(id));
  const [written] = await together(
    writeAll(transaction, work, planned, admission),
    ticketId === undefined ? Promise.resolve() : returnTickets(transaction, ticketId, turns),
  );
  const done: InstanceOutcome[] = [];
  const held: HeldInstance[] = [];
  for (const instance of planned) {
    const row = written.get(instance.locked.instanceId);
    if (instance.settled !== undefined) done.push(toOutcome(work, instance, instance.settled, row));
    else held.push(toHeld(instance, row));
  }
  return { done, held, busy, collections, written: [...written.values()] };
};

const toHeld = (planned: PlannedInstance, row: WrittenInstance | undefined): HeldInstance => {
  const { fence = -1, version = -1, createdAt = '' } = row ?? {};
  return { planned, fence, version, createdAt };
};

const isFree = ({ isBusy, isQueued }: LockedInstance): boolean => !isBusy && !isQueued;

const planAll = async (
  transaction: Transaction,
  work: Work,
  free: readonly LockedInstance[],
  given: readonly GivenFacts[],
): Promise<readonly PlannedInstance[]> => {
  const { context } = work;
  const factsOf = new Map(given.map(({ instanceId, facts }) => [instanceId, facts]));
  const merged = free.map((locked) => {
    const { instanceId } = locked;
    return { locked, instanceId, ...mergeInto(context, locked, factsOf.get(instanceId) ?? {}) };
  });
  const changes = merged.map(({ locked, instanceId, facts }) => ({ instanceId, before: locked.facts, after: facts }));
  // Links are written before related instances are read, since an instance may be related to one of the same context.
  const [, surroundings] = await together(
    followLinks(transaction, context, changes),
    loadSurroundings(transaction, context, merged, work.origin),
  );
  return merged.map(({ locked, instanceId, facts, executions }) => {
    const found = surroundings.get(instanceId) ?? { related: {}, aggregates: {}, history: noHistory };
    return planInstance(work, { locked, facts, executions, surroundings: found });
  });
};

const writeAll = async (
  transaction: Transaction,
  work: Work,
  planned: readonly PlannedInstance[],
  admission: Admission,
): Promise<ReadonlyMap<string, WrittenInstance>> => {
  const { context, mode, origin } = work;
  const ttlSeconds = mode === 'submit' ? context.model.definition.ttlSeconds : undefined;
  const options = { contextId: context.id, ttlSeconds };
  const due = planned.filter(({ settled }) => settled === undefined);
  const done = planned.filter(
    (instance) => instance.settled !== undefined && !(isUnchanged(instance) && (ttlSeconds ?? null) === null),
  );
  const changes = planned.map(({ locked, facts }) => ({
    instanceId: locked.instanceId,
    before: locked.facts,
    after: facts,
  }));
  const registering = planned.filter(({ registers }) => registers);
  const [merged, admitted] = await together(
    writeInstances(transaction, done.map(toWrite), options),
    writeInstances(transaction, due.map(toWrite), { ...options, admission }),
    writeHistory(transaction, context, changes, origin.now),
    ...registering.map(({ locked }) => register(transaction, work, locked.instanceId)),
  );
  return new Map([...merged, ...admitted].map((row) => [row.instanceId, row]));
};

/** Whether writing an instance would leave it unchanged. */
const isUnchanged = ({ locked, facts, executions, computed }: PlannedInstance): boolean =>
  !locked.isNew &&
  executions === locked.executions &&
  sameValue(locked.facts, facts) &&
  sameValue(locked.derived, computed.derived);

const register = async (transaction: Transaction, { context, forced }: Work, instanceId: string): Promise<void> => {
  const [type, slug = ''] = (forced ?? '').split(/:(.*)/s, 2);
  await registerEvaluation(transaction, context.id, { instanceId, type: type === 'flow' ? 'flow' : 'rule', slug });
};

const toWrite = ({ locked, facts, executions, computed }: PlannedInstance) => ({
  instanceId: locked.instanceId,
  facts,
  derived: computed.derived,
  executions: executions === locked.executions ? undefined : executions,
  isNew: locked.isNew,
});

/** Outcome of an instance that needs no further work. */
const toOutcome = (
  { context }: Work,
  { locked, computed, surroundings, hasRegistered, registers }: PlannedInstance,
  settled: Settled,
  row: WrittenInstance | undefined,
): InstanceOutcome => ({
  instanceId: locked.instanceId,
  context,
  isNew: locked.isNew,
  before: { ...locked.facts, ...locked.derived },
  resolved: describeState(context.model, computed),
  settled,
  outcome: outcomeOf(settled, {
    hasAssets: context.assets.length > 0,
    autoExecute: context.model.definition.autoExecuteDecisions,
    hasRegistered,
  }),
  relatives: { related: surroundings.related, aggregates: surroundings.aggregates },
  expiresAt: row?.expiresAt ?? locked.expiresAt,
  version: row?.version ?? locked.version,
  readerPass: locked.readerPass,
  registered: registers,
});

/** An instance that is held, with the data that was read for it. */
interface InstanceToPlan {
  readonly locked: LockedInstance;
  /** Merged already, as are executions. */
  readonly facts: Facts;
  readonly executions: Executions;
  readonly surroundings: Surroundings;
}

/** An instance after a merge. Its identity is among its facts; no asset owns the given facts (C66). */
const mergeInto = (
  context: ContextInUse,
  locked: LockedInstance,
  given: Facts,
): Pick<InstanceToPlan, 'facts' | 'executions'> => {
  const { key } = context.model.identity;
  const identity = { [key]: identityValueOf(context.model.identity, locked.instanceId) ?? locked.instanceId };
  return {
    facts: mergeFacts({ ...locked.facts, ...identity }, given),
    executions: disownFacts(locked.executions, Object.keys(given)),
  };
};

/** Determines the due assets of an instance whose facts were merged. Nothing is executed. */
const planInstance = (work: Work, { locked, facts, executions, surroundings }: InstanceToPlan): PlannedInstance => {
  const { context, forced } = work;
  const { model, assets } = context;
  const sources = sourcesOf(work, locked.facts, facts, surroundings);
  const registered = registeredFor(context, locked);
  const only = onlyConsidered(work, registered);
  const ancestors = ancestorsOf(work.context.id, work.origin.within);
  const computed = deriveState(model, facts, sources);
  const { state } = computed;
  const settled = lookAhead({ model, assets, facts, state, executions, sources, only, forced, ancestors }, inputHash);
  const wanted = forced === undefined ? undefined : assets.find((asset) => assetKey(asset) === forced);
  return {
    ...{ locked, facts, executions, surroundings, only, settled, computed },
    hasRegistered: registered.size > 0,
    registers: wanted !== undefined && !isReady(model, wanted, state),
  };
};

/** Keys of the assets that are registered for an instance. */
const registeredFor = ({ assets }: ContextInUse, { registrations }: LockedInstance): ReadonlySet<string> =>
  assets.length === 0 || registrations.length === 0 ? NONE_REGISTERED : new Set(registrations.map(assetKey));

const NONE_REGISTERED: ReadonlySet<string> = new Set();

/** Sources of derived facts, with the change from `before` to `after` as the newest of history (C43). */
export const sourcesOf = (
  { context, origin }: Pick<Work, 'context' | 'origin'>,
  before: Facts,
  after: Facts,
  { related, aggregates, history }: Surroundings,
) => {
  const changes = historyOfChange(context.model, before, after, origin.now);
  return { now: origin.now, related, aggregates, history: withChange(changes, history) };
};

/** If decisions are not executed automatically, only the requested ones are considered (C72). */
const onlyConsidered = (
  { context, mode, forced }: Work,
  registered: ReadonlySet<string>,
): ReadonlySet<string> | undefined => {
  if (mode !== 'registered' && context.model.definition.autoExecuteDecisions) return undefined;
  return new Set(forced === undefined ? registered : [...registered, forced]);
};
