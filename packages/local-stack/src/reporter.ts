import type { ServerName, StackProgress, StackStep } from './stack-options';

/** Turns what the servers' code says into progress events with the time that has passed. */
export interface Reporter {
  of(server: ServerName): (step: StackStep, message: string) => void;
  /** Time passes from here on; for stopping. */
  restart(): void;
}

export const createReporter = (onProgress: ((event: StackProgress) => void) | undefined): Reporter => {
  let began = performance.now();
  return {
    of: (server) => (step, message) => {
      onProgress?.({ server, step, message, elapsedMs: Math.round(performance.now() - began) });
    },
    restart: () => {
      began = performance.now();
    },
  };
};
