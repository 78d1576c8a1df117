import { type ProcessorClock, readProcessorMs } from './processor-clock';
import { type CodeAnswer, type CodeJob } from './sandbox';

/** What goes to a thread in one message. */
export interface CodeBatchMessage {
  readonly id: number;
  readonly jobs: readonly CodeJob[];
  /**
   * Shared by both sides: for each job its state, then for each job the ms from `sentAt` to its beginning, then for each job the processor time of
   * its thread at its beginning, ms; at last the name of the thread.
   */
  readonly shared: Int32Array;
  /** Ms on the clock of the process. */
  readonly sentAt: number;
}

/** What a thread answers for each job that it was given and that was not withdrawn, in their order. */
export interface CodeThreadAnswer {
  readonly batch: number;
  readonly position: number;
  readonly answer: CodeAnswer;
}

/** States of a job. One that waits is begun by its thread or withdrawn by whoever sent it, whichever comes first. */
const WAITS = 0;
const BEGUN = 1;
const WITHDRAWN = 2;
/** Begun, and to be ended. */
const ABANDONED = 3;

let batches = 0;

/** Ms on a clock that all threads of a process share, and that nobody sets. */
const processMs = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
};

/** Jobs on their way to a thread, as whoever sends them sees them. */
export class CodeBatch {
  readonly message: CodeBatchMessage;

  constructor(jobs: readonly CodeJob[]) {
    batches += 1;
    const shared = new Int32Array(new SharedArrayBuffer((jobs.length * 3 + 1) * Int32Array.BYTES_PER_ELEMENT));
    this.message = { id: batches, jobs, shared, sentAt: processMs() };
  }

  get id(): number {
    return this.message.id;
  }

  /** Takes back a job; false where it has begun. One that was taken back never begins, and is not answered. */
  withdraw(position: number): boolean {
    return Atomics.compareExchange(this.message.shared, position, WAITS, WITHDRAWN) === WAITS;
  }

  /** Takes back a job that has not begun, and tells code that has to end; it is answered soon. */
  abandon(position: number): 'withdrawn' | 'ending' {
    if (this.withdraw(position)) return 'withdrawn';
    Atomics.store(this.message.shared, position, ABANDONED);
    return 'ending';
  }

  /** What a job has taken so far; undefined where it has not begun. */
  spent(position: number): Spent | undefined {
    const { shared, jobs, sentAt } = this.message;
    if (Atomics.load(shared, position) === WAITS) return undefined;
    const wallMs = Math.max(0, processMs() - sentAt - Atomics.load(shared, jobs.length + position));
    const processorMs = readProcessorMs(Atomics.load(shared, jobs.length * 3));
    if (processorMs === undefined) return { wallMs, processorMs: wallMs };
    // Both wrap around as 32 bits do.
    const begunAt = Atomics.load(shared, jobs.length * 2 + position);
    return { wallMs, processorMs: Math.max(0, (Math.trunc(processorMs) - begunAt) | 0) };
  }
}

/** Milliseconds since a job began: those of the clock, and those in which its thread ran. */
interface Spent {
  readonly wallMs: number;
  readonly processorMs: number;
}

/** Begins a job in its thread; undefined where it was withdrawn. The function says whether its answer is still wanted. */
export const beginJob = (
  { shared, jobs, sentAt }: CodeBatchMessage,
  position: number,
  { threadId, processorMs }: ProcessorClock,
): (() => boolean) | undefined => {
  Atomics.store(shared, jobs.length + position, Math.max(0, processMs() - sentAt));
  Atomics.store(shared, jobs.length * 2 + position, processorMs());
  Atomics.store(shared, jobs.length * 3, threadId);
  if (Atomics.compareExchange(shared, position, WAITS, BEGUN) !== WAITS) return undefined;
  return () => Atomics.load(shared, position) !== ABANDONED;
};
