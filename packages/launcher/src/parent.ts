/** How often the parent of the process is looked for, ms. */
const LOOK_MS = 500;

/** Calls back once when the process that started this one has ended. Does not keep this process alive. */
export const onParentEnd = (ended: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    ended();
  }, LOOK_MS);
  timer.unref();
};
