import type { ServerControl } from '../stack-options';
import { freezeTree, killTree, thawTree } from './process-tree';
import { sendSignal } from './send-signal';
import type { ServerRecipe } from './server-recipe';
import { launchServer, type ServerRun, type ServerWatch, untilServerReady } from './server-run';

export interface ServerProcess extends ServerControl {
  /** Asks it to end, and kills it at the deadline. May be called again. */
  stop(deadlineMs: number): Promise<void>;
  /** Calls the listener each time a run ends by itself. One listener; a later one replaces it. */
  onDeath(listener: () => void): void;
}

/** How long a server may take to heed a signal that does not kill outright. */
const KILL_DEADLINE_MS = 10_000;

/**
 * One server, down or with one run, in these modes:
 *
 * - down: `start` leads to starting; everything else does nothing.
 * - starting, then running: `kill` and `stop` lead to down, `pause` to paused; a second `start` does nothing.
 * - paused: `resume` leads back to running; `kill` and `stop` wake it as far as they must.
 *
 * A run that ends by itself leads to down as well and is reported, in the log and to the listener of `onDeath`.
 */
export const createServerProcess = (recipe: ServerRecipe, watch: ServerWatch): ServerProcess => {
  let run: ServerRun | undefined;
  let frozen: readonly number[] = [];
  let tellDeath = (): void => undefined;
  const living = (): ServerRun | undefined => (run?.hasEnded === false ? run : undefined);

  const forgetFrozen = (): void => {
    for (const pid of frozen) watch.register.remove(pid);
    frozen = [];
  };

  const end = async (target: ServerRun, signal: NodeJS.Signals, deadlineMs: number): Promise<void> => {
    target.isEndExpected = true;
    if (signal === 'SIGKILL') killTree(target.pid);
    else sendSignal(target.pid, signal);
    const timer = setTimeout(() => killTree(target.pid), deadlineMs);
    await target.ended;
    clearTimeout(timer);
    forgetFrozen();
  };

  return {
    start: async () => {
      if (living() !== undefined) return;
      await recipe.prepare();
      const launched = await launchServer(recipe, watch);
      run = launched;
      void launched.ended.then(() => launched.isEndExpected || tellDeath());
      await untilServerReady(recipe, launched, watch);
      await recipe.onReady?.(launched.pid);
    },
    kill: async (signal = 'SIGKILL') => {
      const target = living();
      if (target !== undefined) await end(target, signal, KILL_DEADLINE_MS);
    },
    stop: async (deadlineMs) => {
      const target = living();
      if (target === undefined) return;
      if (frozen.length > 0) thawTree(target.pid);
      else sendSignal(target.pid, 'SIGCONT');
      await end(target, recipe.stopSignal, deadlineMs);
    },
    pause: () => {
      const target = living();
      if (target === undefined) return;
      frozen = freezeTree(target.pid);
      // Should this process die now, they would stay as they are for ever: their parent cannot wake them.
      for (const pid of frozen) watch.register.add(pid, 'SIGKILL');
    },
    resume: () => {
      const target = living();
      if (target === undefined) return;
      thawTree(target.pid);
      forgetFrozen();
    },
    pid: () => living()?.pid,
    onDeath: (listener) => {
      tellDeath = listener;
    },
  };
};
