/** Deletes that are pending for the shared cache, kept until they are done. */
export interface Eraser {
  /** Adds keys to delete, twice each: as soon as possible and once more a while later. */
  owe(keys: readonly string[]): void;
  /** Attempts the deletes that are due now. */
  flush(): Promise<void>;
  /** Number of keys that are pending. */
  size(): number;
  close(): void;
}

interface EraserOptions {
  /** Deletes keys; true if the cache confirmed it. Never rejects. */
  readonly erase: (keys: readonly string[]) => Promise<boolean>;
  /** Interval between attempts, ms. */
  readonly retryMs: number;
  /** Called with the number of keys given up because `MAX_KEYS` were pending. Further ones are not reported until none is pending. */
  readonly onDropped: (count: number) => void;
  readonly now?: () => number;
}

interface Debt {
  readonly rounds: number;
  readonly dueAt: number;
}

const MAX_KEYS = 100_000;
const BATCH = 500;

/**
 * Twice, because the write that a delete undoes may still be in flight when the first delete is answered: a paused server, or a proxy in
 * between, can execute it late.
 */
const ROUNDS = 2;
const SECOND_ROUND_MS = 3_000;

export const createEraser = ({ erase, retryMs, onDropped, now = () => performance.now() }: EraserOptions): Eraser => {
  const debts = new Map<string, Debt>();
  let timer: NodeJS.Timeout | undefined;
  let flushing = false;
  let closed = false;
  let isFull = false;

  const owe = (keys: readonly string[]): void => {
    if (closed) return;
    for (const key of keys) {
      debts.delete(key);
      debts.set(key, { rounds: ROUNDS, dueAt: now() });
    }
    dropOldest();
    arm();
  };

  const dropOldest = (): void => {
    const excess = debts.size - MAX_KEYS;
    if (excess <= 0) return;
    for (const key of firstOf(debts.keys(), excess)) debts.delete(key);
    if (!isFull) onDropped(excess);
    isFull = true;
  };

  const arm = (): void => {
    if (closed || timer || debts.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      void flush().then(arm);
    }, retryMs);
    timer.unref();
  };

  const flush = async (): Promise<void> => {
    if (flushing) return;
    flushing = true;
    for (let batch = due(); batch.length > 0 && !closed; batch = due()) {
      if (!(await erase(batch.map(([key]) => key)))) break;
      batch.forEach(settle);
    }
    if (debts.size === 0) isFull = false;
    flushing = false;
  };

  const due = (): [string, Debt][] => {
    const at = now();
    return firstOf(debts, BATCH, ([, debt]) => debt.dueAt <= at);
  };

  const settle = ([key, debt]: [string, Debt]): void => {
    // Added again while it was being deleted: the newer delete stays pending.
    if (debts.get(key) !== debt) return;
    debts.delete(key);
    if (debt.rounds > 1) debts.set(key, { rounds: debt.rounds - 1, dueAt: now() + SECOND_ROUND_MS });
  };

  return {
    owe,
    flush,
    size: () => debts.size,
    close: () => {
      closed = true;
      clearTimeout(timer);
      debts.clear();
    },
  };
};

const firstOf = <T>(items: Iterable<T>, count: number, accept: (item: T) => boolean = () => true): T[] => {
  const found: T[] = [];
  for (const item of items) {
    if (found.length >= count) break;
    if (accept(item)) found.push(item);
  }
  return found;
};
