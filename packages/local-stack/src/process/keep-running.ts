import { setTimeout as delay } from 'node:timers/promises';
import type { ServerProcess } from './server-process';
import type { ServerWatch } from './server-run';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** A server that ran this long did start; its next death begins with the shortest pause again. */
const HEALTHY_AFTER_MS = 30_000;

/**
 * Starts a server again whenever it ends by itself, on its port and with its data, until the signal aborts. The pause before a start doubles with
 * each death that follows soon, up to 10 s; a start that fails counts as a death.
 */
export const keepRunning = (server: ServerProcess, { signal, say }: Pick<ServerWatch, 'signal' | 'say'>): void => {
  let pauseMs = FIRST_PAUSE_MS;
  let isRestarting = false;
  let startedAt = Date.now();

  const restart = async (): Promise<void> => {
    if (Date.now() - startedAt > HEALTHY_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      say('wait', `starts again in ${pauseMs} ms`);
      await delay(pauseMs, undefined, { signal });
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      try {
        await server.start();
        startedAt = Date.now();
        say('ready', 'ready again');
        return;
      } catch (error) {
        signal.throwIfAborted();
        say('stop', error instanceof Error ? error.message : String(error));
      }
    }
  };

  server.onDeath(() => {
    // A death during a start makes that start fail, and the loop above goes on.
    if (isRestarting || signal.aborted) return;
    isRestarting = true;
    restart()
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      })
      .finally(() => {
        isRestarting = false;
      });
  });
};
