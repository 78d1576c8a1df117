import {
  type ContextRemoval,
  type Database,
  forgetEntityWrites,
  findUnfinishedForeignKeys,
  forgetStaleTickets,
  markPendingCascades,
  releaseInstances,
  removeContextStep,
  type StepBounds,
  sweepExpiredInstances,
  type SweptRows,
  type TakenOperation,
  takeOverOperations,
} from '@decision/persistence';
import { createEventCounter, type Logger, type Metrics } from '@decision/service-kit';
import { finishForeignKey } from '../definitions/relate-contexts';
import { finishPendingCascades, type PendingCascadesContext, type PendingCascadesEvent } from './pending-cascades';

interface UpkeepContext extends PendingCascadesContext {
  readonly onEvent: (event: UpkeepEvent) => void;
  /** Whether the process has just started and reaches no worker yet: pending work is left to others until then. Default: never. */
  readonly isStarting?: () => boolean;
}

type UpkeepEvent =
  /** Rows that the steps of one round deleted. */
  | ({ readonly type: 'instances_expired' } & SweptRows)
  /** Progress in removing a deleted context after the steps of one round, and the rows that they removed. */
  | ({ readonly type: 'context_removal' } & ContextRemoval)
  | { readonly type: 'operations_taken_over'; readonly count: number }
  | PendingCascadesEvent;

/** A background task. */
export interface Upkeep {
  /** Does one round, and answers whether there is more to do immediately; for tests. */
  round(): Promise<boolean>;
  /** Ends the task after the current step. Idempotent. */
  stop(): Promise<void>;
}

/** Maximum number of rows per statement. */
const MOST_AT_ONCE = 500;
/** Limits of one step of a sweep or a removal: well below a second of work, so that no statement times out and nobody waits long. */
const SWEEP_STEP: StepBounds = { rows: MOST_AT_ONCE, history: 5_000, bytes: 33_554_432 };
const REMOVAL_STEP = { rows: 2_000, bytes: 33_554_432 };
/** Steps of each kind in one round, so that urgent work does not wait until the last row of a large removal is gone. */
const MOST_STEPS = 20;
/** Maximum number of recorded writes of flow steps that one statement deletes, and how long a repeated step writes nothing twice (CN-107). */
const WRITES_AT_ONCE = 2_000;
const STEP_LIFE_MS = 86_400_000;
/** Maximum number of operations taken over at once; each holds as many instances as a chunk of a batch. */
const MOST_OPERATIONS = 10;

/**
 * Cleans up leftovers: takes over operations whose owner is silent (C147), removes expired instances and the data of deleted contexts in bounded
 * steps (C107, C161, ADR 29), finishes pending cascades (C120) and incomplete links, and removes tickets of dead processes and old recorded
 * writes of flow steps (CN-107).
 */
export const startUpkeep = (context: UpkeepContext, periodMs: number): Upkeep => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const isStopped = (): boolean => stopped;
  const round = async (): Promise<boolean> => {
    const orTellAndPause = (error: unknown): false => {
      context.onError(error);
      return false;
    };
    await takeOver(context).catch(context.onError);
    const hasMoreExpired = await sweep(context, isStopped).catch(orTellAndPause);
    const hasMoreToRemove = await removeContexts(context, isStopped).catch(orTellAndPause);
    const hasMorePending =
      context.isStarting?.() !== true && (await finishPendingCascades(context, isStopped).catch(orTellAndPause));
    await finishForeignKeys(context).catch(context.onError);
    await forgetStaleTickets(context.database, MOST_AT_ONCE).catch(context.onError);
    const hasMoreWrites = await forgetWrites(context, isStopped).catch(orTellAndPause);
    return hasMoreExpired || hasMoreToRemove || hasMorePending || hasMoreWrites;
  };
  const schedule = (delayMs: number): void => {
    timer = setTimeout(() => {
      running = round().then((hasMore) => {
        if (!stopped) schedule(hasMore ? 0 : periodMs);
      });
    }, delayMs);
    timer.unref();
  };
  schedule(periodMs);
  return {
    round,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};

/** Does some steps on the expired instances; answers whether there may be more. */
const sweep = async ({ database, onEvent }: UpkeepContext, isStopped: () => boolean): Promise<boolean> => {
  const gone = { instances: 0, history: 0 };
  try {
    for (let steps = 0; steps < MOST_STEPS && !isStopped(); steps += 1) {
      const { instances, history } = await sweepExpiredInstances(database, SWEEP_STEP);
      if (instances + history === 0) return false;
      gone.instances += instances;
      gone.history += history;
    }
    return true;
  } finally {
    if (gone.instances + gone.history > 0) onEvent({ type: 'instances_expired', ...gone });
  }
};

/** Does some steps of the removals of deleted contexts; answers whether there may be more. */
const removeContexts = async ({ database, onEvent }: UpkeepContext, isStopped: () => boolean): Promise<boolean> => {
  const removals = new Map<string, ContextRemoval>();
  try {
    for (let steps = 0; steps < MOST_STEPS && !isStopped(); steps += 1) {
      const removal = await removeContextStep(database, REMOVAL_STEP);
      if (removal === undefined) return false;
      const removed = removal.removed + (removals.get(removal.contextId)?.removed ?? 0);
      removals.set(removal.contextId, { ...removal, removed });
    }
    return true;
  } finally {
    for (const removal of removals.values()) onEvent({ type: 'context_removal', ...removal });
  }
};

/** Deletes recorded writes of flow steps that are too old to run again; answers whether there may be more. */
const forgetWrites = async ({ database }: UpkeepContext, isStopped: () => boolean): Promise<boolean> => {
  for (let steps = 0; steps < MOST_STEPS && !isStopped(); steps += 1) {
    const forgotten = await forgetEntityWrites(database, { ageMs: STEP_LIFE_MS, most: WRITES_AT_ONCE });
    if (forgotten < WRITES_AT_ONCE) return false;
  }
  return true;
};

const finishForeignKeys = async ({ database, timeoutMs, now, onError }: UpkeepContext): Promise<void> => {
  const deadline = now() + timeoutMs;
  for (const { workspaceId, ...key } of await findUnfinishedForeignKeys(database, MOST_AT_ONCE)) {
    if (now() >= deadline) return;
    await finishForeignKey(database, { workspaceId, userGroups: undefined }, key, deadline).catch(onError);
  }
};

const takeOver = async (context: UpkeepContext): Promise<void> => {
  const { database, operate, onEvent } = context;
  const taken: readonly TakenOperation[] = await takeOverOperations(database, {
    leaseMs: operate.leaseMs,
    most: MOST_OPERATIONS,
  });
  if (taken.length > 0) onEvent({ type: 'operations_taken_over', count: taken.length });
  for (const operation of taken)
    await resume(database, operation).catch((error: unknown) => {
      operate.onEvent?.({ type: 'fenced', cause: 'not_released', instances: operation.held.fences.size });
      context.onError(error);
    });
};

/**
 * Releases the instances of an operation whose owner fell silent, under their new fences, which the former owner does not have. Its merge is
 * committed, so the remaining work is to run what is due now and to re-evaluate their readers: the same commit marks them, so that another
 * process does both (C120) if this one dies.
 */
export const resume = (database: Database, { workspaceId, contextId, held }: TakenOperation): Promise<void> =>
  database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    await releaseInstances(transaction, contextId, held);
    await markPendingCascades(transaction, contextId, [...held.fences.keys()], 0);
  });

/** Counts the work of upkeep and logs slow work: one line for the steps of a round, not one per step. */
export const createUpkeepObserver = (
  metrics: Metrics,
  logger: Pick<Logger, 'info'>,
): ((event: UpkeepEvent) => void) => {
  const countEvent = createEventCounter(metrics, 'upkeep');
  const rows = metrics.counter({
    name: 'decision_context_rows_removed_total',
    help: 'Rows that this process removed, of instances that had expired and of contexts that were deleted.',
    labelNames: ['cause'],
  });
  const takenOver = metrics.counter({
    name: 'decision_context_operations_taken_over_total',
    help: 'Operations that this process finished because the process that had started them was silent.',
  });
  const cascades = metrics.counter({
    name: 'decision_context_instances_told_late_total',
    help: 'Changed instances whose readers this process notified because no other process had.',
  });
  return (event) => {
    countEvent(event);
    if (event.type === 'operations_taken_over') takenOver.inc(event.count);
    if (event.type === 'instances_untold') cascades.inc(event.count);
    if (event.type === 'instances_expired') rows.inc({ cause: 'expired' }, event.instances + event.history);
    if (event.type !== 'context_removal') return;
    rows.inc({ cause: 'deleted' }, event.removed);
    const { contextId, slug, instances, links, history, done } = event;
    const message = done ? 'A deleted context is removed.' : 'A deleted context is being removed.';
    logger.info({ contextId, slug, instances, links, history }, message);
  };
};
