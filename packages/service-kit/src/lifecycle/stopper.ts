import { withDeadline } from '@decision/waiting';

/** Stops one thing. `drainMs` is the remaining drain time, which work in flight may still take. */
type Stop = (drainMs: number) => Promise<unknown> | void;

/** Not everything could be stopped; `cause` contains the errors. */
export class StopError extends Error {
  override readonly name = 'StopError';
}

/** Collects the stop functions of everything that was started. */
export interface Stopper {
  /**
   * Registers the stop function of something that was just started. It gets the remaining drain time and `deadlineMs` (default 5 s) beyond
   * it. Once stopping has begun, additions are stopped at once.
   */
  add(name: string, stop: Stop, deadlineMs?: number): void;
  /**
   * Stops everything, the newest first, one after the other. Idempotent: later calls wait for the first. A failure does not keep the rest
   * from being stopped; rejects with {@link StopError} afterwards. `drainMs` is the total for all. Default 0.
   */
  stop(drainMs?: number): Promise<void>;
}

interface Entry {
  readonly name: string;
  readonly stop: Stop;
  readonly deadlineMs: number;
}

const DEFAULT_DEADLINE_MS = 5_000;

/** `now` answers ms of a clock that never goes back. */
export const createStopper = (now: () => number = () => performance.now()): Stopper => {
  const entries: Entry[] = [];
  let stopping: Promise<void> | undefined;

  const stopAll = async (drainMs: number): Promise<void> => {
    const failures: Error[] = [];
    const drainedAt = now() + drainMs;
    // Entries may still be added while others are being stopped: the loop ends when none is left.
    for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
      const failure = await stopOne(entry, Math.max(0, Math.ceil(drainedAt - now())));
      if (failure) failures.push(failure);
    }
    if (failures.length > 0) {
      const message = failures.map((failure) => failure.message).join(' ');
      throw new StopError(message, { cause: new AggregateError(failures, message) });
    }
  };

  /** Stops late parts; nobody may be waiting, so a failure must not count as unhandled. */
  const stopBehind = (earlier: Promise<void>): Promise<void> => {
    const all = Promise.allSettled([earlier]).then(async ([first]) => {
      await stopAll(0);
      if (first.status === 'rejected') throw first.reason;
    });
    all.catch(() => undefined);
    return all;
  };

  return {
    add: (name, stop, deadlineMs = DEFAULT_DEADLINE_MS) => {
      entries.push({ name, stop, deadlineMs });
      if (stopping) stopping = stopBehind(stopping);
    },
    stop: (drainMs = 0) => (stopping ??= stopAll(drainMs)),
  };
};

const stopOne = async ({ name, stop, deadlineMs }: Entry, drainMs: number): Promise<StopError | undefined> => {
  const budgetMs = drainMs + deadlineMs;
  try {
    const late = (): Error => new StopError(`It did not stop within ${budgetMs} ms.`);
    await withDeadline(Promise.resolve(stop(drainMs)), budgetMs, late);
    return undefined;
  } catch (cause) {
    return new StopError(`Stopping ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
};
