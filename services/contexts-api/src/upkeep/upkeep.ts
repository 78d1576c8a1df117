import {
  forgetStaleTickets,
  sweepExpiredInstances,
  takeOverOperations,
  type TakenOperation,
} from '@decision/persistence';
import { resume, type ResumeContext } from './resume';

export interface UpkeepContext extends ResumeContext {
  readonly onError: (error: unknown) => void;
  readonly onEvent: (event: UpkeepEvent) => void;
}

export type UpkeepEvent =
  | { readonly type: 'instances_expired'; readonly count: number }
  | { readonly type: 'operations_taken_over'; readonly count: number };

/** Something that goes on in the background. */
export interface Upkeep {
  /** Does one round; for tests. */
  round(): Promise<void>;
  /** Ends it, after the round that is under way. Idempotent. */
  stop(): Promise<void>;
}

/** Rows that one statement takes at most. */
const MOST_AT_ONCE = 500;
/** Operations that are taken over at once; each holds as many instances as a chunk of a batch. */
const MOST_OPERATIONS = 10;

/**
 * Looks after what was left behind: instances that have expired are deleted in bounded steps (C107), operations whose owner is silent are taken over
 * (C147), tickets of the dead are taken away.
 */
export const startUpkeep = (context: UpkeepContext, periodMs: number): Upkeep => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const round = async (): Promise<void> => {
    await sweep(context, () => stopped).catch(context.onError);
    await takeOver(context).catch(context.onError);
    await forgetStaleTickets(context.database, MOST_AT_ONCE).catch(context.onError);
  };
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = round().then(() => {
        if (!stopped) schedule();
      });
    }, periodMs);
    timer.unref();
  };
  schedule();
  return {
    round,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};

const sweep = async ({ database, onEvent }: UpkeepContext, isStopped: () => boolean): Promise<void> => {
  for (let gone = MOST_AT_ONCE; gone === MOST_AT_ONCE && !isStopped();) {
    gone = (await sweepExpiredInstances(database, MOST_AT_ONCE)).length;
    if (gone > 0) onEvent({ type: 'instances_expired', count: gone });
  }
};

const takeOver = async (context: UpkeepContext): Promise<void> => {
  const { database, operate, onEvent } = context;
  const taken: readonly TakenOperation[] = await takeOverOperations(database, {
    leaseMs: operate.leaseMs,
    most: MOST_OPERATIONS,
  });
  if (taken.length > 0) onEvent({ type: 'operations_taken_over', count: taken.length });
  for (const operation of taken) await resume(context, operation).catch(context.onError);
};
