import { openSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/** The processor time of one thread. */
export interface ProcessorClock {
  /** The system's id of the thread, by which others read its time; 0 if the system does not provide it. */
  readonly threadId: number;
  /** Processor time of the thread, ms; clock time if the system does not provide it. */
  readonly processorMs: () => number;
}

/** Maximum characters of the system's statistics of a thread: three whole numbers. */
const MOST_CHARACTERS = 100;
const MS_IN_NANOSECONDS = 1e6;

const WALL_CLOCK: ProcessorClock = { threadId: 0, processorMs: () => performance.now() };

/** The time of the calling thread. Its file stays open until the process ends. */
export const openProcessorClock = (): ProcessorClock => {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const buffer = Buffer.alloc(MOST_CHARACTERS);
    const processorMs = (): number =>
      timeIn(buffer.toString('latin1', 0, readSync(file, buffer, 0, MOST_CHARACTERS, 0)));
    // A system that keeps no such statistics says 0.
    return processorMs() > 0 ? { threadId, processorMs } : WALL_CLOCK;
  } catch {
    // Not every system has these files.
    return WALL_CLOCK;
  }
};

/** The same of another thread of this process, by its name; undefined if it has ended, or if the system does not provide it. */
export const readProcessorMs = (threadId: number): number | undefined => {
  if (threadId === 0) return undefined;
  try {
    return timeIn(readFileSync(`/proc/self/task/${threadId}/schedstat`, 'latin1'));
  } catch {
    return undefined;
  }
};

/** The first of three numbers is the time on a processor, ns. */
const timeIn = (text: string): number => Number(text.split(' ')[0]) / MS_IN_NANOSECONDS;
