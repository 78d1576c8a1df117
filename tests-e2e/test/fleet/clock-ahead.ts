import { type ServiceProcess } from '@decision/launcher';

/** Environment of a process whose clock can be put ahead, in steps of this size: its copies age without waiting. */
export const clockAheadEnvironment = (stepMs: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${require.resolve('./clock-preload.cjs')}`,
  CLOCK_STEP_MS: String(stepMs),
});

/** Consecutive steps without an answer of the process between them may count as one. */
export const putClockAhead = (service: ServiceProcess): void => {
  process.kill(service.pid() ?? 0, 'SIGUSR2');
};

/** Environment of a process whose date is shifted by so many ms. */
export const shiftedClockEnvironment = (shiftMs: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${require.resolve('./date-preload.cjs')}`,
  CLOCK_SHIFT_MS: String(shiftMs),
});
