/** What a deadline answers when the work was not done in time. */
export const LATE = Symbol('late');

/**
 * The result of the work, or LATE after `ms` milliseconds; the work itself goes on unheard. When the timer fires, what the
 * network has already delivered is looked at first, so that a busy process does not take its own pause for a silent server.
 */
export const settleWithin = <T>(work: Promise<T>, ms: number): Promise<T | typeof LATE> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => resolve(LATE)), ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new TypeError(String(error)));
      },
    );
  });
