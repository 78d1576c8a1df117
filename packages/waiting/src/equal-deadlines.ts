/** Things that wait equally long at most. */
export interface EqualDeadlines<T> {
  /** Begins to wait for a thing that is not waited for. */
  add(item: T): void;
  /** Ends the wait for a thing, if it lasts. */
  delete(item: T): void;
}

/**
 * Deadlines of one length for many things at once, which nearly all end before: one timer for all, and no work for a thing but that of a map. `onPassed`
 * is called with each whose time, ms, is over; it must not throw. The timer keeps no process alive.
 */
export const createEqualDeadlines = <T>(lengthMs: number, onPassed: (item: T) => void): EqualDeadlines<T> => {
  /** When each is due, the first to be due first. */
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
