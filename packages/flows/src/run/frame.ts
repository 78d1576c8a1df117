import { type FlowPlan, type Scope } from '../plan';
import { type KeptOutputs } from './outside';

/** Outcome of a step. A condition that does not hold and a skipped node are equivalent for dependent steps. */
export const WAITING = 0;
export const STARTED = 1;
export const RAN = 2;
export const SKIPPED = 3;

/** Position in evaluation order: positions of steps and indexes of items, outermost first. */
export type Order = readonly number[];

/** An early end of an evaluation: an exit or a failure. */
export interface Ending<T> {
  readonly order: Order;
  readonly what: T;
}

/** One evaluation of a flow: the requested one, or that of a subflow node. */
export class Activation {
  /** Values of each result, with their positions in evaluation order. */
  readonly given: { readonly order: Order; readonly members: Readonly<Record<string, unknown>> }[][];
  /** The earliest exit reached so far, with the index of its result. */
  exit: Ending<number> | undefined;
  readonly root: Frame;

  constructor(
    readonly plan: FlowPlan,
    readonly input: Readonly<Record<string, unknown>>,
    parent: Frame | undefined,
    parentStep: number,
    /** Where its answer is cached; undefined if it is not. */
    readonly kept?: KeptOutputs,
  ) {
    this.given = plan.results.map(() => []);
    this.root = new Frame(plan.root, this, parent, parentStep);
  }
}

/** The running steps of a scope: those of a flow, or those of one item of a loop. */
export class Frame {
  readonly states: Uint8Array;
  readonly values: unknown[];
  /** The next step. */
  next = 0;
  /** Steps that have not ended. */
  left: number;
  /** Whether it is on the stack of runnable frames. */
  isQueued = false;
  /** Whether its item has ended, and the next one may not begin yet. */
  isIdle = false;
  item: unknown = undefined;
  index = 0;

  constructor(
    readonly scope: Scope,
    readonly activation: Activation,
    readonly parent: Frame | undefined,
    /** The parent's step that it belongs to. */
    readonly parentStep: number,
  ) {
    this.left = scope.steps.length;
    this.states = new Uint8Array(this.left);
    this.values = [];
  }

  /** Resets it for another item. */
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

  /** The frame of the same activation that is some loops further out. */
  outwards(loops: number): Frame {
    // A plan never leads out of its own activation.
    return loops === 0 || this.parent === undefined ? this : this.parent.outwards(loops - 1);
  }

  orderOf(step: number): Order {
    if (this.parent === undefined) return [step];
    const around = this.parent.orderOf(this.parentStep);
    return this.isRoot ? [...around, step] : [...around, this.index, step];
  }

  /** Refs from the outermost subflow node down to a step. */
  pathOf(step: { readonly ref: string }): readonly string[] {
    const { parent, parentStep, isRoot } = this;
    if (parent === undefined) return [step.ref];
    const subflow = parent.scope.steps[parentStep];
    return isRoot && subflow !== undefined ? [...parent.pathOf(subflow), step.ref] : parent.pathOf(step);
  }

  /** Indexes of the enclosing items, outermost loop first. */
  get indexes(): readonly number[] {
    const around = this.parent?.indexes ?? [];
    return this.isRoot ? around : [...around, this.index];
  }
}

/** A running loop. */
export class LoopState {
  /** The next item to start. */
  next = 0;
  /** Items that have begun and not ended. */
  active = 0;
  /** By collector: the values of each counting item by input position, in the order in which items ended. */
  readonly rows: { readonly index: number; readonly values: readonly unknown[] }[][];

  constructor(
    readonly items: readonly unknown[],
    collectors: number,
  ) {
    this.rows = Array.from({ length: collectors }, () => []);
  }

  /** Assigns the next item to a frame. */
  begin(frame: Frame): void {
    frame.reset(this.items[this.next], this.next);
    this.next += 1;
    this.active += 1;
  }
}

/** Negative if `a` comes before `b`. */
export const compareOrder = (a: Order, b: Order): number => {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};
