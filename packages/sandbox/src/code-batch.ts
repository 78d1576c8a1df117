import { type ProcessorClock, readProcessorMs } from './processor-clock';
import { type CodeAnswer, type CodeJob } from './sandbox';

/** The jobs that one message carries to a thread. */
export interface CodeBatchMessage {
  readonly id: number;
  readonly jobs: readonly CodeJob[];
  /**
   * Shared by both sides: the state of each job, then the ms from `sentAt` to each job's start, then the processor time of the thread at
   * each job's start, ms, and finally the id of the thread.
   */
  readonly shared: Int32Array;
  /** Ms on the clock of the process. */
  readonly sentAt: number;
}

/** Answers of a thread for the jobs of a batch that were not withdrawn, in order. */
export interface CodeThreadAnswer {
  readonly batch: number;
  readonly position: number;
  readonly answer: CodeAnswer;
}

/** States of a job. A waiting job is begun by its thread or withdrawn by its sender, whichever comes first. */
const WAITS = 0;
const BEGUN = 1;
const WITHDRAWN = 2;
/** Begun, and told to end. */
const ABANDONED = 3;

let batches = 0;

/** Ms on a monotonic clock that all threads of a process share. */
const processMs = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
};

/** A batch of jobs as its sender sees it. */
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

  /** Withdraws a job; false if it has begun. A withdrawn job never begins, and is not answered. */
  withdraw(position: number): boolean {
    return Atomics.compareExchange(this.message.shared, position, WAITS, WITHDRAWN) === WAITS;
  }

  /** Withdraws a job that has not begun, and tells running code to end; it is then answered soon. */
  abandon(position: number): 'withdrawn' | 'ending' {
    if (this.withdraw(position)) return 'withdrawn';
    Atomics.store(this.message.shared, position, ABANDONED);
    return 'ending';
  }

  /** Time that a job has taken so far; undefined if it has not begun. */
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

/** Milliseconds since a job began: by the clock, and of processor time of its thread. */
interface Spent {
  readonly wallMs: number;
  readonly processorMs: number;
}

/** Begins a job in its thread; undefined if it was withdrawn. The function says whether its answer is still wanted. */
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
