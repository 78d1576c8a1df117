import { type Worker } from 'node:worker_threads';
import { settledWithin } from './deadline';

/** Errors of jobs without an answer, made by the pool's owner. */
export interface ThreadFaults {
  /** `limit` jobs already wait. */
  readonly tooMany: (limit: number) => Error;
  /** The deadline of the job passed. */
  readonly tooLate: () => Error;
  /** The job ran longer than `limitMs`. */
  readonly tooLong: (limitMs: number) => Error;
  /** The thread ended by itself, perhaps for lack of memory. */
  readonly ended: (cause: unknown) => Error;
  /** The pool stops. */
  readonly stopped: () => Error;
}

export interface ThreadPoolOptions<Job, Answer> {
  /** Starts a thread, which answers each message with one message, in order. */
  readonly start: () => Worker;
  /** Maximum number of threads; each is started by the first job that finds none free. */
  readonly size: number;
  /** Jobs that may wait for a free thread; more are refused with `overloaded`. */
  readonly maxWaiting: number;
  /** Milliseconds that one job may run; a thread that exceeds it is ended and restarted. */
  readonly maxRunMs: number;
  /** Affinity of a job: it goes to a free thread that has run a job of the same affinity, if there is one. */
  readonly affinityOf: (job: Job) => string;
  /** Whether a job is a part of many that one caller asks for one after the other: parts and other jobs take turns at waiting. Default: none is. */
  readonly isPart?: ((job: Job) => boolean) | undefined;
  /** Bytes that a thread keeps for later jobs, according to its last answer. */
  readonly keptBytesOf: (answer: Answer) => number;
  readonly onEvent: (event: ThreadEvent) => void;
  readonly faults: ThreadFaults;
}

export interface ThreadEvent {
  readonly type: 'started' | 'finished' | 'refused' | 'expired' | 'overran' | 'crashed';
  /** Time from the start of a finished job to its end. */
  readonly ms?: number;
}

/** Runs jobs in threads. */
export interface ThreadPool<Job, Answer> {
  /** `deadline` is epoch ms. Rejects with one of the pool's `faults`. */
  run(job: Job, deadline: number): Promise<Answer>;
  status(): ThreadPoolStatus;
  /** Refuses waiting jobs, gives running ones `drainMs` to end, and ends the threads. Idempotent. */
  stop(drainMs?: number): Promise<void>;
}

export interface ThreadPoolStatus {
  readonly threads: number;
  readonly busy: number;
  readonly waiting: number;
  /** Bytes of all threads together. */
  readonly keptBytes: number;
}

interface Task<Job, Answer> {
  readonly job: Job;
  readonly deadline: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
  beganAt: number;
}

interface Thread<Job, Answer> {
  readonly worker: Worker;
  readonly had: Set<string>;
  task: Task<Job, Answer> | undefined;
  keptBytes: number;
}

/** Maximum affinities that are remembered per thread. */
const MOST_AFFINITIES = 200;

/**
 * A thread is free, busy with one task, or ended. A task waits, runs in one thread, or is settled; settling it clears its timer, however it
 * ends: the answer, its deadline, its overrun, the end of its thread, or the stop of the pool.
 */
export const createThreadPool = <Job, Answer>(options: ThreadPoolOptions<Job, Answer>): ThreadPool<Job, Answer> =>
  new WorkerThreads<Job, Answer>(options);

class WorkerThreads<Job, Answer> implements ThreadPool<Job, Answer> {
  private readonly threads = new Set<Thread<Job, Answer>>();
  private readonly waiting = { parts: new Set<Task<Job, Answer>>(), others: new Set<Task<Job, Answer>>() };
  private isTurnOfParts = false;
  private stopping: Promise<void> | undefined;
  private onIdle: (() => void) | undefined;

  constructor(private readonly options: ThreadPoolOptions<Job, Answer>) {}

  run(job: Job, deadline: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const task: Task<Job, Answer> = { job, deadline, resolve, reject, timer: undefined, beganAt: 0 };
      if (this.stopping !== undefined) return reject(this.options.faults.stopped());
      if (Date.now() >= deadline) return this.expire(task);
      const thread = this.freeThread(job);
      if (thread !== undefined) return this.give(thread, task);
      if (this.waitingCount() >= this.options.maxWaiting) {
        this.options.onEvent({ type: 'refused' });
        return reject(this.options.faults.tooMany(this.options.maxWaiting));
      }
      const waiting = this.isPart(job) ? this.waiting.parts : this.waiting.others;
      waiting.add(task);
      task.timer = setTimeout(() => {
        waiting.delete(task);
        this.expire(task);
      }, deadline - Date.now());
    });
  }

  status(): ThreadPoolStatus {
    const busy = [...this.threads].filter(({ task }) => task !== undefined).length;
    const keptBytes = [...this.threads].reduce((sum, thread) => sum + thread.keptBytes, 0);
    return { threads: this.threads.size, busy, waiting: this.waitingCount(), keptBytes };
  }

  stop(drainMs = 0): Promise<void> {
    this.stopping ??= this.end(drainMs);
    return this.stopping;
  }

  private async end(drainMs: number): Promise<void> {
    for (const waiting of Object.values(this.waiting)) {
      for (const task of waiting) {
        clearTimeout(task.timer);
        task.reject(this.options.faults.stopped());
      }
      waiting.clear();
    }
    if (this.status().busy > 0) await this.idleWithin(drainMs);
    for (const thread of [...this.threads]) {
      this.settle(thread)?.reject(this.options.faults.stopped());
      this.threads.delete(thread);
      await thread.worker.terminate();
    }
  }

  private idleWithin(drainMs: number): Promise<boolean> {
    return settledWithin(new Promise<void>((resolve) => (this.onIdle = resolve)), drainMs);
  }

  private freeThread(job: Job): Thread<Job, Answer> | undefined {
    const free = [...this.threads].filter(({ task }) => task === undefined);
    const kind = this.options.affinityOf(job);
    return (
      free.find(({ had }) => had.has(kind)) ?? (this.threads.size < this.options.size ? this.startThread() : free[0])
    );
  }

  private startThread(): Thread<Job, Answer> {
    const thread: Thread<Job, Answer> = { worker: this.options.start(), had: new Set(), task: undefined, keptBytes: 0 };
    this.threads.add(thread);
    this.options.onEvent({ type: 'started' });
    thread.worker.on('message', (answer: Answer) => this.finish(thread, answer));
    thread.worker.on('error', (cause) => this.crash(thread, cause));
    thread.worker.on('exit', () => this.crash(thread, undefined));
    return thread;
  }

  private give(thread: Thread<Job, Answer>, task: Task<Job, Answer>): void {
    clearTimeout(task.timer);
    thread.task = task;
    task.beganAt = performance.now();
    const kind = this.options.affinityOf(task.job);
    if (thread.had.size >= MOST_AFFINITIES) thread.had.clear();
    thread.had.add(kind);
    const runs = Math.min(this.options.maxRunMs, task.deadline - Date.now());
    task.timer = setTimeout(() => this.overrun(thread, task), runs);
    thread.worker.postMessage(task.job);
  }

  private finish(thread: Thread<Job, Answer>, answer: Answer): void {
    thread.keptBytes = this.options.keptBytesOf(answer);
    const task = this.settle(thread);
    if (task === undefined) return;
    this.options.onEvent({ type: 'finished', ms: performance.now() - task.beganAt });
    task.resolve(answer);
    this.next();
  }

  /** Only the end of the thread stops its computation. */
  private overrun(thread: Thread<Job, Answer>, task: Task<Job, Answer>): void {
    this.settle(thread);
    this.threads.delete(thread);
    void thread.worker.terminate();
    this.options.onEvent({ type: 'overran', ms: performance.now() - task.beganAt });
    const { faults, maxRunMs } = this.options;
    task.reject(Date.now() >= task.deadline ? faults.tooLate() : faults.tooLong(maxRunMs));
    this.next();
  }

  private crash(thread: Thread<Job, Answer>, cause: unknown): void {
    if (!this.threads.delete(thread)) return;
    this.options.onEvent({ type: 'crashed' });
    this.settle(thread)?.reject(this.options.faults.ended(cause));
    this.next();
  }

  private expire(task: Task<Job, Answer>): void {
    this.options.onEvent({ type: 'expired' });
    task.reject(this.options.faults.tooLate());
  }

  /** Removes the task from its thread. */
  private settle(thread: Thread<Job, Answer>): Task<Job, Answer> | undefined {
    const { task } = thread;
    clearTimeout(task?.timer);
    thread.task = undefined;
    return task;
  }

  private next(): void {
    if (this.stopping !== undefined) {
      if (this.status().busy === 0) this.onIdle?.();
      return;
    }
    for (let task = this.firstWaiting(); task !== undefined; task = this.firstWaiting()) {
      const thread = this.freeThread(task.job);
      if (thread === undefined) return;
      const isPart = this.isPart(task.job);
      this.waiting[isPart ? 'parts' : 'others'].delete(task);
      this.isTurnOfParts = !isPart;
      this.give(thread, task);
    }
  }

  private firstWaiting(): Task<Job, Answer> | undefined {
    const { parts, others } = this.waiting;
    const [task] = parts.size > 0 && (this.isTurnOfParts || others.size === 0) ? parts : others;
    return task;
  }

  private isPart(job: Job): boolean {
    return this.options.isPart?.(job) ?? false;
  }

  private waitingCount(): number {
    return this.waiting.parts.size + this.waiting.others.size;
  }
}
