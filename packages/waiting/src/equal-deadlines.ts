/** A set of things with deadlines of equal length. */
export interface EqualDeadlines<T> {
  /** Adds a thing that is not in the set. */
  add(item: T): void;
  /** Removes a thing, if present. */
  delete(item: T): void;
}

/**
 * Deadlines of one length for many things at once, nearly all of which end earlier: one timer for all, and only a map operation per thing.
 * `onPassed` is called with each thing whose time, ms, is over; it must not throw. The timer does not keep the process alive.
 */
export const createEqualDeadlines = <T>(lengthMs: number, onPassed: (item: T) => void): EqualDeadlines<T> => {
  /** Due times, earliest first. */
  const due = new Map<T, number>();
  let timer: NodeJS.Timeout | undefined;
  const arm = (delayMs: number): void => {
    timer = setTimeout(check, delayMs).unref();
  };
  const check = (): void => {
    timer = undefined;
    const now = performance.now();
    for (const [item, dueAt] of due) {
      if (dueAt > now) return arm(Math.ceil(dueAt - now));
      due.delete(item);
      onPassed(item);
    }
  };
  return {
    add: (item) => {
      due.set(item, performance.now() + lengthMs);
      if (timer === undefined) arm(lengthMs);
    },
    delete: (item) => void due.delete(item),
  };
};
