/** A task belongs to an owner (a workspace) and to one of its runs. */
export interface Place {
  readonly owner: string;
  readonly run: string;
}

interface Owner<T> {
  /** Waiting tasks by run; the run whose turn is next comes first. Lists are never empty. */
  readonly runs: Map<string, T[]>;
  waiting: number;
  /** Tasks that were taken and have not ended. */
  taken: number;
  /** Time spent on its tasks, starting from that of the owner whose turn it was when this owner arrived. */
  spent: number;
}

/**
 * A fair queue. The owner whose tasks have taken the least time is next, and the runs of one owner take turns. So a task waits for at most
 * as many turns as there are owners, however many tasks one of them adds. The time of all operations except {@link FairLine.remove} grows
 * with the number of owners at most.
 */
export class FairLine<T extends Place> {
  private readonly owners = new Map<string, Owner<T>>();
  /** Time spent by the owner whose turn was last. A new owner starts from it, so that an idle owner saves up nothing. */
  private now = 0;
  size = 0;

  /** Adds a task at the end of its run. */
  add(task: T): void {
    this.put(task, 'push');
  }

  /** Puts tasks that were taken back in their order, ahead of all others of their runs. */
  putBack(tasks: readonly T[]): void {
    for (const task of [...tasks].reverse()) {
      this.ownerOf(task).taken -= 1;
      this.put(task, 'unshift');
    }
  }

  /** Takes tasks of the owner whose turn it is; `countOf` says how many, given the number that wait. */
  take(countOf: (waiting: number) => number): readonly T[] {
    let next: Owner<T> | undefined;
    for (const owner of this.owners.values())
      if (owner.waiting > 0 && (next === undefined || owner.spent < next.spent)) next = owner;
    if (next === undefined) return [];
    this.now = next.spent;
    const tasks: T[] = [];
    for (let count = countOf(next.waiting); count > 0; count -= 1) {
      const task = this.takeOne(next);
      if (task === undefined) break;
      tasks.push(task);
    }
    next.taken += tasks.length;
    return tasks;
  }

  /** Records that a task that was taken has ended, and its time. */
  ended(task: T, ms: number): void {
    const owner = this.ownerOf(task);
    owner.taken -= 1;
    owner.spent += ms;
    this.forgetIdle(task.owner, owner);
  }

  /** Removes a waiting task; false if it does not wait. */
  remove(task: T): boolean {
    const owner = this.owners.get(task.owner);
    const tasks = owner?.runs.get(task.run);
    const at = tasks?.indexOf(task) ?? -1;
    if (owner === undefined || tasks === undefined || at < 0) return false;
    tasks.splice(at, 1);
    this.took(owner, task.run, tasks);
    this.forgetIdle(task.owner, owner);
    return true;
  }

  /**
   * The task that gives way to a new one of an owner: the last task of the owner with the most waiting tasks; undefined if that is the new
   * one itself.
   */
  leastDue(newcomer: string): T | undefined {
    let most = this.owners.get(newcomer);
    for (const owner of this.owners.values()) if (owner.waiting > (most?.waiting ?? 0)) most = owner;
    if (most === undefined || most === this.owners.get(newcomer)) return undefined;
    return [...most.runs.values()].at(-1)?.at(-1);
  }

  /** Removes everything that waits. */
  clear(): readonly T[] {
    const tasks = [...this.owners.values()].flatMap(({ runs }) => [...runs.values()].flat());
    this.owners.clear();
    this.size = 0;
    return tasks;
  }

  private put(task: T, end: 'push' | 'unshift'): void {
    const owner = this.ownerOf(task);
    const tasks = owner.runs.get(task.run);
    if (tasks === undefined) owner.runs.set(task.run, [task]);
    else tasks[end](task);
    owner.waiting += 1;
    this.size += 1;
  }

  private ownerOf({ owner: name }: Place): Owner<T> {
    const known = this.owners.get(name);
    if (known !== undefined) return known;
    const owner: Owner<T> = { runs: new Map(), waiting: 0, taken: 0, spent: this.now };
    this.owners.set(name, owner);
    return owner;
  }

  private takeOne(owner: Owner<T>): T | undefined {
    for (const [run, tasks] of owner.runs) {
      const task = tasks.shift();
      this.took(owner, run, tasks);
      // Its next turn comes after those of all other runs.
      if (owner.runs.delete(run)) owner.runs.set(run, tasks);
      return task;
    }
    return undefined;
  }

  private took(owner: Owner<T>, run: string, left: readonly T[]): void {
    owner.waiting -= 1;
    this.size -= 1;
    if (left.length === 0) owner.runs.delete(run);
  }

  private forgetIdle(name: string, owner: Owner<T>): void {
    if (owner.waiting === 0 && owner.taken === 0) this.owners.delete(name);
  }
}
