/** The answer of a deadline that passed. */
export const LATE = Symbol('late');

/**
 * The result of the work, or LATE after `ms` milliseconds; the work itself goes on unheard. When the timer fires, what the
 * network has already delivered is looked at first, so that a busy process does not take its own pause for a silent server.
 */
export const settleWithin = async <T>(work: Promise<T>, ms: number): Promise<T | typeof LATE> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => setImmediate(() => resolve(LATE)), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
};
