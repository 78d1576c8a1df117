import { type Decide, type History, type Operation } from './history';
import { afterOperation, EMPTY_INSTANCE, type InstanceModel, type ModelRules } from './instance-model';

/** Whether a history can be explained by one serial order, and if not, how far the best attempt came. */
export type Verdict =
  | { readonly type: 'serial'; readonly order: readonly Operation[] }
  | { readonly type: 'not_serial'; readonly longest: readonly Operation[]; readonly next: readonly Operation[] }
  /** The search was given up without a result. */
  | { readonly type: 'undecided'; readonly steps: number };

const MOST_STEPS = 2_000_000;

/**
 * Searches for an order of the operations in which each answer is the one that sequential execution would give, and in which no operation
 * precedes one that had ended before it started. Operations with an unknown outcome take effect at any time after they started, or never; refused
 * ones never. The search goes depth first and remembers visited states: the same set of completed operations with the same state needs no second
 * visit.
 */
export const explainHistory = (history: History, decide: Decide, mostSteps = MOST_STEPS): Verdict => {
  const operations = relevantOperations(history);
  const rules: ModelRules = { decide, orders: history.orders };
  return new Search(operations, rules, mostSteps).run();
};

interface Attempt {
  readonly model: InstanceModel;
  /** Positions of operations that may come next, the most informative first. */
  readonly candidates: readonly number[];
  tried: number;
}

class Search {
  private readonly done: boolean[];
  private readonly order: number[] = [];
  private readonly visited = new Set<string>();
  private longest: number[] = [];

  constructor(
    private readonly operations: readonly Operation[],
    private readonly rules: ModelRules,
    private readonly mostSteps: number,
  ) {
    this.done = operations.map(() => false);
  }

  run(): Verdict {
    const attempts: Attempt[] = [this.attempt(EMPTY_INSTANCE)];
    for (let steps = 0; steps < this.mostSteps; steps += 1) {
      const top = attempts.at(-1);
      if (top === undefined) return this.failure();
      if (this.isComplete(top.model)) return { type: 'serial', order: this.named(this.order) };
      const position = top.candidates[top.tried];
      top.tried += 1;
      if (position === undefined) {
        attempts.pop();
        this.takeBack();
        continue;
      }
      const model = this.tryNext(top.model, position);
      if (model !== undefined) attempts.push(this.attempt(model));
    }
    return { type: 'undecided', steps: this.mostSteps };
  }

  private isComplete({ counts }: InstanceModel): boolean {
    if (this.order.length < this.operations.length) return false;
    return Object.entries(this.rules.orders).every(([fact, values]) => (counts[fact] ?? 0) === values.length);
  }

  private tryNext(model: InstanceModel, position: number): InstanceModel | undefined {
    const operation = this.operations[position];
    const next = operation && afterOperation(model, operation, this.rules);
    if (next === undefined) return undefined;
    this.done[position] = true;
    const key = this.keyOf(next);
    if (this.visited.has(key)) {
      this.done[position] = false;
      return undefined;
    }
    this.visited.add(key);
    this.order.push(position);
    if (this.order.length > this.longest.length) this.longest = [...this.order];
    return next;
  }

  private takeBack(): void {
    const position = this.order.pop();
    if (position !== undefined) this.done[position] = false;
  }

  private attempt(model: InstanceModel): Attempt {
    return { model, candidates: this.candidates(this.done), tried: 0 };
  }

  /** Operations that may come next: those that started before the end of every remaining operation. */
  private candidates(done: readonly boolean[]): number[] {
    const open: number[] = [];
    let firstEnd = Infinity;
    for (let position = this.firstOpen(done); position < this.operations.length; position += 1) {
      const operation = this.operations[position];
      if (operation === undefined || operation.begunAt > firstEnd) break;
      if (done[position] === true) continue;
      open.push(position);
      firstEnd = Math.min(firstEnd, operation.endedAt);
    }
    return open
      .filter((position) => (this.operations[position]?.begunAt ?? Infinity) <= firstEnd)
      .sort((one, other) => this.rank(one) - this.rank(other) || one - other);
  }

  private firstOpen(done: readonly boolean[]): number {
    const position = done.indexOf(false);
    return position === -1 ? done.length : position;
  }

  private rank(position: number): number {
    const operation = this.operations[position];
    if (operation?.writes === undefined) return 0;
    return operation.outcome.type === 'seen' ? 1 : 2;
  }

  private keyOf({ facts, possible, settledBy }: InstanceModel): string {
    const first = this.firstOpen(this.done);
    const beyond = this.done.flatMap((isDone, position) => (isDone && position > first ? [position] : []));
    const values = Object.keys(facts)
      .sort()
      .map((name) => [name, facts[name]]);
    return JSON.stringify([first, beyond, values, possible, settledBy]);
  }

  private failure(): Verdict {
    const done = this.operations.map((_, position) => this.longest.includes(position));
    return { type: 'not_serial', longest: this.named(this.longest), next: this.named(this.candidates(done)) };
  }

  private named(positions: readonly number[]): Operation[] {
    return positions.flatMap((position) => this.operations[position] ?? []);
  }
}

/**
 * Operations that an order must contain, by their start. An operation without an answer whose effect was never seen can be left out: it explains
 * nothing. One whose effect was seen did take effect, at any time after it started.
 */
const relevantOperations = ({ operations, orders }: History): Operation[] => {
  const seen = seenValues(operations, orders);
  return operations
    .filter(({ outcome, writes }) => {
      if (outcome.type === 'refused') return false;
      if (outcome.type !== 'unknown') return true;
      return Object.values(writes ?? {}).some((value) => seen.has(value));
    })
    .map((operation) => (operation.outcome.type === 'unknown' ? { ...operation, endedAt: Infinity } : operation))
    .sort((one, other) => one.begunAt - other.begunAt);
};

const seenValues = (operations: readonly Operation[], orders: History['orders']): ReadonlySet<number> =>
  new Set([
    ...operations.flatMap(({ outcome }) => (outcome.type === 'seen' ? Object.values(outcome.seen.facts) : [])),
    ...Object.values(orders).flat(),
  ]);
