import { type Worker } from 'node:worker_threads';
import {
  CLOCK_FACTOR,
  type CodeAnswer,
  type CodeJob,
  CodeBatch,
  type CodeThreadAnswer,
  startCodeThread,
} from '@decision/sandbox';
import { FairLine, type Place } from './fair-line';

interface CodePoolOptions {
  /** Maximum number of threads; each is started by the first run that finds none free. */
  readonly threads: number;
  /** Memory of each run. */
  readonly memoryBytes: number;
  /** Processor time that code may take, ms. */
  readonly maxRunMs: number;
  /** Runs that may wait. Beyond them a run of the workspace with the most waiting runs is refused. */
  readonly maxWaiting: number;
  readonly faults: CodePoolFaults;
}

/** Why a run has no answer. */
export interface CodePoolFaults {
  readonly tooMany: (limit: number) => Error;
  /** The code exceeded its time, and did not stop when it was told to. */
  readonly tooLong: () => Error;
  /** The thread ended by itself. */
  readonly ended: () => Error;
  readonly stopped: () => Error;
}

/** The owner of a run, and the signal that ends it. */
interface CodeOrder extends Place {
  readonly job: CodeJob;
  /** A run that aborts before it has begun never begins; a running one ends soon. */
  readonly signal: AbortSignal;
}

interface Task extends CodeOrder {
  readonly resolve: (answer: CodeAnswer) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Unanswered tasks of its batch, by position; the first one is running. */
  readonly tasks: Map<number, Task>;
  batch: CodeBatch | undefined;
  /** When the first of its tasks may have begun. */
  since: number;
  budget: NodeJS.Timeout | undefined;
  watch: NodeJS.Timeout | undefined;
}

/** Runs that one message carries to a thread. */
const MOST_OF_BATCH = 16;
/**
 * Time after which tasks that a thread has not begun go back into the line, ms, so that tasks behind a long one begin in another thread.
 */
const BUDGET_MS = 20;
/** Processor time beyond the limit of a run after which a silent thread is ended, ms: built-in functions never check the time. */
const GRACE_MS = 500;
/** Time for the start of a thread and of its engine, ms. */
const START_MS = 30_000;

/**
 * Runs code in threads (docs/adr/0045-code-goes-to-threads-in-batches.md). A free thread is given several runs of the workspace whose turn
 * it is. A task waits in the line, belongs to the batch of one thread, or is settled; the shared state of the batch says whether the thread
 * or the pool owns it.
 */
export class CodePool {
  private readonly threads = new Set<Thread>();
  private readonly line = new FairLine<Task>();
  private isStopped = false;

  constructor(private readonly options: CodePoolOptions) {}

  /** Rejects with one of the pool's `faults`, or with the signal's reason if the run never began. */
  run(order: CodeOrder): Promise<CodeAnswer> {
    return new Promise((resolve, reject) => {
      if (this.isStopped) return reject(this.options.faults.stopped());
      if (order.signal.aborted) return reject(order.signal.reason as Error); // connectors abort only with errors
      const abandon = (): void => this.abandon(task);
      const settle =
        <T>(how: (what: T) => void) =>
        (what: T): void => {
          order.signal.removeEventListener('abort', abandon);
          how(what);
        };
      const task: Task = { ...order, resolve: settle(resolve), reject: settle(reject) };
      if (this.line.size >= this.options.maxWaiting && !this.makeRoom(task)) return;
      order.signal.addEventListener('abort', abandon);
      this.line.add(task);
      this.next();
    });
  }

  /** Ends the threads and the runs in them. Idempotent. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const { faults } = this.options;
    for (const task of this.line.clear()) task.reject(faults.stopped());
    const threads = [...this.threads];
    this.threads.clear();
    for (const thread of threads) {
      this.rest(thread);
      for (const task of thread.tasks.values()) task.reject(faults.stopped());
      thread.tasks.clear();
    }
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  private makeRoom({ owner, reject }: Task): boolean {
    const { faults, maxWaiting } = this.options;
    const due = this.line.leastDue(owner);
    (due?.reject ?? reject)(faults.tooMany(maxWaiting));
    return due !== undefined && this.line.remove(due);
  }

  private abandon(task: Task): void {
    const reason = task.signal.reason as Error; // as above
    if (this.line.remove(task)) return task.reject(reason);
    for (const thread of this.threads) {
      const [position] = [...thread.tasks].find(([, other]) => other === task) ?? [];
      if (position === undefined || thread.batch?.abandon(position) !== 'withdrawn') continue;
      thread.tasks.delete(position);
      this.line.ended(task, 0);
      task.reject(reason);
      if (thread.tasks.size === 0) this.rest(thread);
    }
    this.next();
  }

  /** Assigns waiting tasks to free threads. */
  private next(): void {
    while (!this.isStopped && this.line.size > 0) {
      const thread = this.freeThread();
      if (thread === undefined) return;
      // Not all of it to one thread if others become free soon.
      this.give(
        thread,
        this.line.take((waiting) => Math.min(MOST_OF_BATCH, Math.ceil(waiting / this.options.threads))),
      );
    }
  }

  private freeThread(): Thread | undefined {
    for (const thread of this.threads) if (thread.tasks.size === 0) return thread;
    return this.threads.size < this.options.threads ? this.startThread() : undefined;
  }

  private startThread(): Thread {
    const worker = startCodeThread({ memoryBytes: this.options.memoryBytes });
    const thread: Thread = {
      ...{ worker, tasks: new Map<number, Task>(), since: 0 },
      ...{ batch: undefined, budget: undefined, watch: undefined },
    };
    this.threads.add(thread);
    worker.on('message', (answer: CodeThreadAnswer) => this.finish(thread, answer));
    worker.on('error', () => this.lose(thread, this.options.faults.ended));
    worker.on('exit', () => this.lose(thread, this.options.faults.ended));
    return thread;
  }

  private give(thread: Thread, tasks: readonly Task[]): void {
    tasks.forEach((task, position) => thread.tasks.set(position, task));
    thread.batch = new CodeBatch(tasks.map(({ job }) => job));
    thread.since = performance.now();
    thread.watch = setTimeout(() => this.watch(thread), this.options.maxRunMs + GRACE_MS);
    if (tasks.length > 1) this.budget(thread);
    thread.worker.postMessage(thread.batch.message);
  }

  private finish(thread: Thread, { batch, position, answer }: CodeThreadAnswer): void {
    const task = thread.tasks.get(position);
    if (task === undefined || batch !== thread.batch?.id) return;
    thread.tasks.delete(position);
    this.end(thread, task);
    task.resolve(answer);
    if (thread.tasks.size > 0) return;
    this.rest(thread);
    this.next();
  }

  /** Puts tasks that a thread has not begun back into the line, unless the thread is still starting. */
  private takeBack(thread: Thread): void {
    if (spentBy(thread) === undefined) return this.budget(thread);
    const tasks: Task[] = [];
    for (const [position, task] of thread.tasks) {
      if (thread.batch?.withdraw(position) !== true) continue;
      thread.tasks.delete(position);
      tasks.push(task);
    }
    this.line.putBack(tasks);
    this.next();
  }

  private budget(thread: Thread): void {
    thread.budget = setTimeout(() => this.takeBack(thread), BUDGET_MS);
  }

  /** Ends a thread that runs one task for too long, since nothing else stops a built-in function, or that does not start. */
  private watch(thread: Thread): void {
    const { maxRunMs, faults } = this.options;
    const spent = spentBy(thread);
    const leftMs = maxRunMs + GRACE_MS - (spent?.processorMs ?? 0);
    if (spent === undefined && performance.now() - thread.since > START_MS) this.lose(thread, faults.ended);
    else if (leftMs <= 0 || (spent?.wallMs ?? 0) > (maxRunMs + GRACE_MS) * CLOCK_FACTOR)
      this.lose(thread, faults.tooLong);
    else thread.watch = setTimeout(() => this.watch(thread), leftMs);
  }

  /** A thread has ended: its running task, or the first of its batch, fails. The tasks behind it begin elsewhere. */
  private lose(thread: Thread, fault: () => Error): void {
    if (!this.threads.delete(thread)) return;
    this.rest(thread);
    void thread.worker.terminate();
    const [first, ...others] = thread.tasks.values();
    thread.tasks.clear();
    if (first !== undefined) {
      this.end(thread, first);
      first.reject(fault());
    }
    this.line.putBack(others);
    this.next();
  }

  private end(thread: Thread, task: Task): void {
    const now = performance.now();
    this.line.ended(task, now - thread.since);
    thread.since = now;
  }

  private rest(thread: Thread): void {
    clearTimeout(thread.budget);
    clearTimeout(thread.watch);
  }
}

/** Processor time of the first task of the thread's batch; undefined if it has not begun. */
const spentBy = ({ tasks, batch }: Thread): ReturnType<CodeBatch['spent']> => {
  const [position] = tasks.keys();
  return position === undefined ? undefined : batch?.spent(position);
};
