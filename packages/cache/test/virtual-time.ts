const realImmediate = setImmediate;

/** Lets everything run that waits only for promises, whatever timers are faked. */
const drain = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

/** Milliseconds of virtual time, since the fake timers were installed. */
export const virtualNow = (): number => performance.now();

/** Runs every timer up to a moment of virtual time, one by one, and everything that follows from each before the next. */
export const runUntil = async (end: number): Promise<void> => {
  let reached = false;
  setTimeout(() => (reached = true), Math.max(0, end - virtualNow()));
  while (!reached) {
    await drain();
    jest.advanceTimersToNextTimer();
  }
  await drain();
};

/** Resolves after a time that may be virtual. */
export const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
