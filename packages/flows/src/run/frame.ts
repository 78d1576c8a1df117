import { type FlowPlan, type Scope } from '../plan';
import { type KeptOutputs } from './outside';

/** What became of a step. A condition that does not hold, and a node that is skipped, are alike for what depends on them. */
export const WAITING = 0;
export const STARTED = 1;
export const RAN = 2;
export const SKIPPED = 3;

/** Where something stands in the order of evaluation: positions of steps and indexes of items, from the outermost on. */
export type Order = readonly number[];

/** How an evaluation ends before its last step: by an exit, or by a failure. */
export interface Ending<T> {
  readonly order: Order;
  readonly what: T;
}

/** One evaluation of a flow: the one that was asked for, or that of a subflow node. */
export class Activation {
  /** By result: what each gave, with its place in the order of evaluation. */
  readonly given: { readonly order: Order; readonly members: Readonly<Record<string, unknown>> }[][];
  /** The first exit that was reached so far, with the index of its result. */
  exit: Ending<number> | undefined;
  readonly root: Frame;

  constructor(
    readonly plan: FlowPlan,
    readonly input: Readonly<Record<string, unknown>>,
    parent: Frame | undefined,
    parentStep: number,
    /** Where its answer is kept; undefined where it is not. */
    readonly kept?: KeptOutputs,
  ) {
    this.given = plan.results.map(() => []);
    this.root = new Frame(plan.root, this, parent, parentStep);
  }
}

/** The steps of a scope on their way: those of a flow, or those of one item of a loop. */
export class Frame {
  readonly states: Uint8Array;
  readonly values: unknown[];
  /** Step to look at next. */
  next = 0;
  /** Steps that have not ended. */
  left: number;
  /** Whether it stands on the stack of frames that can go on. */
  isQueued = false;
  /** Whether its item has ended, and the next one may not begin yet. */
  isIdle = false;
  item: unknown = undefined;
  index = 0;

  constructor(
    readonly scope: Scope,
    readonly activation: Activation,
    readonly parent: Frame | undefined,
    /** The step of the parent that it belongs to. */
    readonly parentStep: number,
  ) {
    this.left = scope.steps.length;
    this.states = new Uint8Array(this.left);
    this.values = [];
  }

  /** Makes it ready for another item. */
  reset(item: unknown, index: number): void {
    this.states.fill(WAITING);
    this.next = 0;
    this.left = this.scope.steps.length;
    this.item = item;
    this.index = index;
  }

  /** Whether it is the outermost frame of its activation. */
  get isRoot(): boolean {
    return this.parent?.activation !== this.activation;
  }

  /** Whether it belongs to an activation, or to a subflow within it. */
  isInside(activation: Activation): boolean {
    return this.activation === activation || (this.parent?.isInside(activation) ?? false);
  }

  /** The frame of the same activation that stands some loops further out. */
  outwards(loops: number): Frame {
    // A plan never leads out of its own activation.
    return loops === 0 || this.parent === undefined ? this : this.parent.outwards(loops - 1);
  }

  orderOf(step: number): Order {
    if (this.parent === undefined) return [step];
    const around = this.parent.orderOf(this.parentStep);
    return this.isRoot ? [...around, step] : [...around, this.index, step];
  }

  /** Refs from the outermost subflow node to a step. */
  pathOf(step: { readonly ref: string }): readonly string[] {
    const { parent, parentStep, isRoot } = this;
    if (parent === undefined) return [step.ref];
    const subflow = parent.scope.steps[parentStep];
    return isRoot && subflow !== undefined ? [...parent.pathOf(subflow), step.ref] : parent.pathOf(step);
  }

  /** Indexes of the items around it, from the outermost loop on. */
  get indexes(): readonly number[] {
    const around = this.parent?.indexes ?? [];
    return this.isRoot ? around : [...around, this.index];
  }
}

/** A loop on its way. */
export class LoopState {
  /** Next item to begin with. */
  next = 0;
  /** Items that have begun and not ended. */
  active = 0;
  /** By collector: values by position of the input, of each item that counts, in the order in which they ended. */
  readonly rows: { readonly index: number; readonly values: readonly unknown[] }[][];

  constructor(
    readonly items: readonly unknown[],
    collectors: number,
  ) {
    this.rows = Array.from({ length: collectors }, () => []);
  }

  /** Gives a frame the next item. */
  begin(frame: Frame): void {
    frame.reset(this.items[this.next], this.next);
    this.next += 1;
    this.active += 1;
  }
}

/** Negative where `a` comes before `b`. */
export const compareOrder = (a: Order, b: Order): number => {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};
