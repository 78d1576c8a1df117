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
  /** Threads at most; each is started with the first run for which none is free. */
  readonly threads: number;
  /** Memory of each run. */
  readonly memoryBytes: number;
  /** Processor time that code may take, ms. */
  readonly maxRunMs: number;
  /** Runs that wait. When more come, the workspace of whom most wait is refused one. */
  readonly maxWaiting: number;
  readonly faults: CodePoolFaults;
}

/** Why a run has no answer. */
export interface CodePoolFaults {
  readonly tooMany: (limit: number) => Error;
  /** The code ran longer than it may, and did not stop when it was told to. */
  readonly tooLong: () => Error;
  /** The thread ended by itself. */
  readonly ended: () => Error;
  readonly stopped: () => Error;
}

/** Whose run it is, and when it is no longer needed. */
interface CodeOrder extends Place {
  readonly job: CodeJob;
  /** A run that has not begun when it aborts never does; one that has ends soon. */
  readonly signal: AbortSignal;
}

interface Task extends CodeOrder {
  readonly resolve: (answer: CodeAnswer) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  /** What it has been given and not answered, by position in its batch; the first one is under way. */
  readonly tasks: Map<number, Task>;
  batch: CodeBatch | undefined;
  /** When the first of its tasks may have begun. */
  since: number;
  budget: NodeJS.Timeout | undefined;
  watch: NodeJS.Timeout | undefined;
}

/** Runs that go to a thread in one message. */
const MOST_OF_BATCH = 16;
/** Time after which what a thread has not begun goes back into the line, ms: what stands behind something long is begun elsewhere. */
const BUDGET_MS = 20;
/** Processor time beyond that of a run before a thread that does not answer is ended, ms: built-in functions never look at the time. */
const GRACE_MS = 500;
/** Time for the start of a thread and of its engine, ms. */
const START_MS = 30_000;

/**
 * Runs code in threads (docs/adr/0045-code-goes-to-threads-in-batches.md). A free thread is given several runs of the workspace whose turn it is. A
 * task waits in the line, stands in the batch of one thread, or is settled; the thread and the pool agree by the batch on which of them has it.
 */
export class CodePool {
  private readonly threads = new Set<Thread>();
  private readonly line = new FairLine<Task>();
  private isStopped = false;

  constructor(private readonly options: CodePoolOptions) {}

  /** Rejects with one of the pool's `faults`, and with the reason of the signal where the run was never begun. */
  run(order: CodeOrder): Promise<CodeAnswer> {
    return new Promise((resolve, reject) => {
      if (this.isStopped) return reject(this.options.faults.stopped());
      if (order.signal.aborted) return reject(order.signal.reason as Error); // connectors abort with errors alone
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

  /** Ends the threads with whatever runs in them. Idempotent. */
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

  /** Gives free threads what waits. */
  private next(): void {
    while (!this.isStopped && this.line.size > 0) {
      const thread = this.freeThread();
      if (thread === undefined) return;
      // Not all of it to one thread, where others become free soon.
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

  /** Puts what a thread has not begun back into the line; one that starts is waited for. */
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

  /** Ends a thread that runs something for too long, since nothing else stops a built-in function, or that does not start. */
  private watch(thread: Thread): void {
    const { maxRunMs, faults } = this.options;
    const spent = spentBy(thread);
    const leftMs = maxRunMs + GRACE_MS - (spent?.processorMs ?? 0);
    if (spent === undefined && performance.now() - thread.since > START_MS) this.lose(thread, faults.ended);
    else if (leftMs <= 0 || (spent?.wallMs ?? 0) > (maxRunMs + GRACE_MS) * CLOCK_FACTOR)
      this.lose(thread, faults.tooLong);
    else thread.watch = setTimeout(() => this.watch(thread), leftMs);
  }

  /** A thread is gone with what it had begun, or with the first of what it had. What stood behind is begun elsewhere. */
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

/** What the first of what a thread was given has taken; undefined where it has not begun. */
const spentBy = ({ tasks, batch }: Thread): ReturnType<CodeBatch['spent']> => {
  const [position] = tasks.keys();
  return position === undefined ? undefined : batch?.spent(position);
};
