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
  type HistoryAddition,
  registerEvaluation,
  returnTickets,
  together,
  type Transaction,
  writeInstances,
  writeLinks,
  type WrittenInstance,
} from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { historyOfChanges, linksOfChanges, writeHistory } from './facts-changes';
import { loadSurroundings, loadWrittenCollections } from './surroundings';
import { type GivenFacts, type InstanceOutcome, type PlannedInstance, type Surroundings, type Work } from './work';

/** An instance to settle. */
export interface DueInstance {
  readonly planned: PlannedInstance;
  /** Creation of the instance, ISO 8601. */
  readonly createdAt: string;
}

/** An instance that was admitted to an operation, with the fence that its writes must name. */
export interface HeldInstance extends DueInstance {
  readonly fence: number;
  /** The version of its row after the merge. */
  readonly version: number;
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

/** What a transaction writes to admit instances; nothing of it is written yet. */
export interface AdmissionPlan {
  readonly work: Work;
  readonly admission: Admission;
  readonly planned: readonly PlannedInstance[];
  /** Ids of instances that are busy, or for which earlier requests wait. */
  readonly busy: readonly string[];
  readonly collections: ReadonlyMap<string, readonly unknown[]>;
  /** Instances with due assets. */
  readonly due: readonly PlannedInstance[];
  /** Instances with nothing due that the merge changes. */
  readonly done: readonly PlannedInstance[];
  readonly history: readonly HistoryAddition[];
  /** Instances for which the forced asset is registered. */
  readonly registering: readonly PlannedInstance[];
  /** The ticket of the request, and the instances whose queues it leaves. */
  readonly ticket: { readonly id: string; readonly instanceIds: readonly string[] } | undefined;
}

interface PlanOptions {
  readonly admission: Admission;
  readonly ticketId: string | undefined;
}

/** Plans the merge of facts into the free instances. The links of changed foreign keys are written already. */
export const planAdmission = async (
  transaction: Transaction,
  work: Work,
  { given, locked }: LockedGiven,
  { admission, ticketId }: PlanOptions,
): Promise<AdmissionPlan> => {
  const { context, origin } = work;
  const free = locked.filter(isFree);
  const busy = locked.filter((instance) => !isFree(instance)).map(({ instanceId }) => instanceId);
  const collections = await loadWrittenCollections(transaction, context);
  const planned = free.length === 0 ? [] : await planAll(transaction, work, free, given);
  const turns = given.map(({ instanceId }) => instanceId).filter((id) => !busy.includes(id));
  const extendsLife = (ttlOf(work) ?? null) !== null;
  const changes = planned.map(({ locked: { instanceId, facts: before }, facts }) => ({
    ...{ instanceId, before, after: facts },
  }));
  return {
    ...{ work, admission, planned, busy, collections },
    due: planned.filter(({ settled }) => settled === undefined),
    done: planned.filter((instance) => instance.settled !== undefined && (extendsLife || !isUnchanged(instance))),
    history: historyOfChanges(context, changes, origin.now),
    registering: planned.filter(({ registers }) => registers),
    ticket: ticketId === undefined ? undefined : { id: ticketId, instanceIds: turns },
  };
};

/** Whether an admission writes nothing but its operation and the instances that it holds. */
export const isOperationAlone = ({ due, done, history, registering, ticket }: AdmissionPlan): boolean =>
  due.length > 0 && done.length === 0 && history.length === 0 && registering.length === 0 && ticket === undefined;

/**
 * Whether workers may settle while the admission is being committed: a single instance that exists, and assets that only compute. If the
 * commit fails, the results are dropped, and nothing but a record of decisions tells of them.
 */
export const mayStartEarly = ({ work, due }: AdmissionPlan): boolean =>
  due.length === 1 && due[0]?.locked.isNew === false && work.context.assets.every(({ type }) => type === 'rule');

/**
 * Merges facts into the free instances (C140, C141): those with nothing due are free again with the commit, those with due assets are busy
 * with the operation. With `commits`, which is for an operation alone, the transaction may commit with it.
 */
export const writeAdmission = async (
  transaction: Transaction,
  { work, admission, due, done, history, registering, ticket }: AdmissionPlan,
  { commits = false } = {},
): Promise<readonly WrittenInstance[]> => {
  const options = { contextId: work.context.id, ttlSeconds: ttlOf(work) };
  const [merged, admitted] = await together(
    writeInstances(transaction, done.map(toWrite), options),
    writeInstances(transaction, due.map(toWrite), { ...options, admission, commits }),
    writeHistory(transaction, work.context, history),
    ...registering.map(({ locked }) => register(transaction, work, locked.instanceId)),
    ...(ticket === undefined ? [] : [returnTickets(transaction, ticket.id, ticket.instanceIds)]),
  );
  return [...merged, ...admitted];
};

/** The result of a plan, from the rows that were written. */
export const toAdmitted = (
  { work, planned, busy, collections }: AdmissionPlan,
  written: readonly WrittenInstance[],
): Admitted => {
  const rows = new Map(written.map((row) => [row.instanceId, row]));
  const done: InstanceOutcome[] = [];
  const held: HeldInstance[] = [];
  for (const instance of planned) {
    const row = rows.get(instance.locked.instanceId);
    if (instance.settled !== undefined) done.push(toOutcome(work, instance, instance.settled, row));
    else held.push(toHeld(instance, row));
  }
  return { done, held, busy, collections, written };
};

/** Lifetime that the work gives to instances, seconds; null: unlimited. Undefined: it leaves theirs unchanged (C105). */
export const ttlOf = ({ context, mode }: Work): number | null | undefined =>
  mode === 'submit' ? context.model.definition.ttlSeconds : undefined;

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
    writeLinks(transaction, context.id, linksOfChanges(context, changes)),
    loadSurroundings(transaction, context, merged, work.origin),
  );
  return merged.map(({ locked, instanceId, facts, executions }) => {
    const found = surroundings.get(instanceId) ?? { related: {}, aggregates: {}, history: noHistory };
    return planInstance(work, { locked, facts, executions, surroundings: found });
  });
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
