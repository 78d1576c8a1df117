/** Result of work that was not done in time. */
export const LATE = Symbol('late');

/**
 * The result of the work, or {@link LATE} after `ms` milliseconds; the work itself goes on, and a failure of it is then ignored. When the
 * timer fires, input that the network has already delivered is handled first, so that a busy process does not take its own pause for
 * a silent server.
 */
export const resultWithin = async <T>(work: Promise<T>, ms: number): Promise<T | typeof LATE> => {
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

/** The result of the work; after `ms` milliseconds throws the error that `late` makes. See {@link resultWithin}. */
export const withDeadline = async <T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> => {
  const result = await resultWithin(work, ms);
  if (result === LATE) throw late();
  return result;
};

/** Waits until the work has succeeded or failed, at most `ms` milliseconds; answers whether it has. Never throws. */
export const settledWithin = async (work: Promise<unknown>, ms: number): Promise<boolean> =>
  (await resultWithin(work.then(ignore, ignore), ms)) !== LATE;

const ignore = (): void => undefined;
