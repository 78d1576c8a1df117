import {
  assetKey,
  type Collections,
  disownFacts,
  type Executions,
  type Facts,
  historyOfChange,
  identityValueOf,
  isReady,
  mergeFacts,
  resolveInstance,
  settle,
  type SettlePorts,
} from '@decision/contexts';
import { inputHash } from '@decision/execution';
import { type LockedInstance, type Registration } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { type PlannedInstance, type Surroundings, type Work } from './work';

/** An instance that is held, with what was read for it. */
interface InstanceToPlan {
  readonly locked: LockedInstance;
  /** Merged already, as are executions. */
  readonly facts: Facts;
  readonly executions: Executions;
  readonly surroundings: Surroundings;
  readonly registrations: readonly Registration[];
}

/** An instance after a merge. Its identity is among its facts; no asset owns what was given (C66). */
export const mergeInto = (
  context: ContextInUse,
  locked: LockedInstance,
  given: Facts,
): Pick<InstanceToPlan, 'facts' | 'executions'> => {
  const { key } = context.model.identity;
  const identity = { [key]: identityValueOf(context.model.identity, locked.instanceId) ?? locked.instanceId };
  return {
    facts: mergeFacts({ ...locked.facts, ...identity }, given).facts,
    executions: disownFacts(locked.executions, Object.keys(given)),
  };
};

/** Decides what is due for an instance whose facts were merged. Nothing is executed. */
export const planInstance = async (
  work: Work,
  { locked, facts, executions, surroundings, registrations }: InstanceToPlan,
  collections: Collections,
): Promise<PlannedInstance> => {
  const { model, assets } = work.context;
  const { forced } = work;
  const sources = sourcesOf(work, locked.facts, facts, surroundings);
  const registered = new Set(registrations.map(assetKey));
  const only = onlyConsidered(work, registered);
  const task = { model, assets, facts, executions, sources, only, forced };
  const peek = await settle(task, { ...LOOKING_ONLY, collections });
  const resolved = resolveInstance(model, facts, sources);
  const wanted = assets.find((asset) => assetKey(asset) === forced);
  return {
    ...{ locked, facts, executions, surroundings, only, peek, resolved },
    hasRegistered: registered.size > 0,
    isDue: peek.ended !== 'fixpoint',
    registers: wanted !== undefined && !isReady(model, wanted, resolved.state),
  };
};

/** Sources of derived facts, with the change from `before` to `after` as the newest of history (C43). */
export const sourcesOf = (
  { context, origin }: Pick<Work, 'context' | 'origin'>,
  before: Facts,
  after: Facts,
  surroundings: Surroundings,
) => {
  const changes = historyOfChange(context.model, before, after, origin.now);
  return {
    now: origin.now,
    related: surroundings.related,
    aggregates: surroundings.aggregates,
    history: (fact: string) => {
      const stored = Object.hasOwn(surroundings.history, fact) ? (surroundings.history[fact] ?? []) : [];
      const change = changes.get(fact);
      return change === undefined ? stored : [change, ...stored];
    },
  };
};

/** If decisions are not executed automatically, only those that were asked for are considered (C72). */
const onlyConsidered = (
  { context, mode, forced }: Work,
  registered: ReadonlySet<string>,
): ReadonlySet<string> | undefined => {
  if (mode !== 'registered' && context.model.definition.autoExecuteDecisions) return undefined;
  return new Set(forced === undefined ? registered : [...registered, forced]);
};

/** A settling that ends before its first run, and so tells what is due. */
const LOOKING_ONLY: Omit<SettlePorts, 'collections'> = {
  execute: () => Promise.resolve({ status: 'unavailable', error: 'Nothing is executed here.' }),
  hash: inputHash,
  isOver: () => true,
  isFull: () => false,
  pause: () => Promise.resolve(),
  onFault: () => undefined,
};
