/** Actions at the end of this process, newest last; one listener serves all servers and stacks. */
const actions = new Set<() => void>();

/** Has the action done, synchronously, when this process ends by itself or by `process.exit`. Returns what takes it back. */
export const atExit = (action: () => void): (() => void) => {
  if (actions.size === 0) process.on('exit', runAll);
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size === 0) process.off('exit', runAll);
  };
};

const runAll = (): void => {
  for (const action of actions) action();
};
