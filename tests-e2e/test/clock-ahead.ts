import { type ServiceProcess } from '@decision/launcher';

/** Starts a process whose clock can be put ahead, by so much each time: its copies grow old without being waited for. */
export const clockAheadEnvironment = (stepMs: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${require.resolve('./clock-preload.cjs')}`,
  CLOCK_STEP_MS: String(stepMs),
});

/** Steps that follow one another without an answer of the process between them may count as one. */
export const putClockAhead = (service: ServiceProcess): void => {
  process.kill(service.pid() ?? 0, 'SIGUSR2');
};

/** Starts a process whose date is another by so many ms. */
export const shiftedClockEnvironment = (shiftMs: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${require.resolve('./date-preload.cjs')}`,
  CLOCK_SHIFT_MS: String(shiftMs),
});
