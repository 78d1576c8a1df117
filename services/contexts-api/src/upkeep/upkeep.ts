import {
  type ContextRemoval,
  findUnfinishedForeignKeys,
  forgetStaleTickets,
  removeContextStep,
  type StepBounds,
  sweepExpiredInstances,
  type SweptRows,
  takeOverOperations,
  type TakenOperation,
} from '@decision/persistence';
import { finishForeignKey } from '../links/build-links';
import { finishUntold, type FinishUntoldContext, type UntoldEvent } from './finish-untold';
import { resume } from './resume';

interface UpkeepContext extends FinishUntoldContext {
  readonly onEvent: (event: UpkeepEvent) => void;
}

export type UpkeepEvent =
  /** Rows that the steps of one round deleted. */
  | ({ readonly type: 'instances_expired' } & SweptRows)
  /** How far a deleted context is removed after the steps of one round, and the rows that they removed. */
  | ({ readonly type: 'context_removal' } & ContextRemoval)
  | { readonly type: 'operations_taken_over'; readonly count: number }
  | UntoldEvent;

/** A background task. */
export interface Upkeep {
  /** Does one round, and answers whether there is more to do at once; for tests. */
  round(): Promise<boolean>;
  /** Ends it, after the step that is under way. Idempotent. */
  stop(): Promise<void>;
}

/** Rows that one statement takes at most. */
const MOST_AT_ONCE = 500;
/** Bounds of one step of a sweep or a removal: well below a second of work, so that no statement times out and nobody waits long. */
const SWEEP_STEP: StepBounds = { rows: MOST_AT_ONCE, history: 5_000, bytes: 33_554_432 };
const REMOVAL_STEP = { rows: 2_000, bytes: 33_554_432 };
/** Steps of each kind in one round, so that what is urgent does not wait until the last row of something large is gone. */
const MOST_STEPS = 20;
/** Operations that are taken over at once; each holds as many instances as a chunk of a batch. */
const MOST_OPERATIONS = 10;

/**
 * Looks after what was left behind: operations whose owner is silent are taken over (C147), instances that have expired and the data of deleted contexts
 * are removed in bounded steps (C107, C161), readers that nobody tells are told (C120), links that are not all made are made, tickets of the dead are taken
 * away.
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
    const hasMoreUntold = await finishUntold(context, isStopped).catch(orTellAndPause);
    await finishForeignKeys(context).catch(context.onError);
    await forgetStaleTickets(context.database, MOST_AT_ONCE).catch(context.onError);
    return hasMoreExpired || hasMoreToRemove || hasMoreUntold;
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

/** Takes some steps through the expired instances; answers whether there may be more. */
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

/** Takes some steps of the removals of deleted contexts; answers whether there may be more. */
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
  for (const operation of taken) await resume(database, operation).catch(context.onError);
};
