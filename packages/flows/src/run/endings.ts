import { type Activation, compareOrder, type Ending, type Frame, type Order } from './frame';
import { type FlowFailure, FlowFault } from './outcome';

/** A failure, and where it happened. */
type Failing = Ending<FlowFailure> & { readonly frame: Frame };

/** What failed: a step, or what a loop gives to an aggregate. */
export interface FailedStep {
  readonly ref: string;
  readonly kind?: string;
}

/**
 * The exits and failures that were reached and have not taken effect. An exit counts in its activation alone, and a failure everywhere; an exit
 * undoes failures behind it in its own activation.
 */
export class Endings {
  /** In the order of evaluation. */
  private failures: readonly Failing[] = [];
  private readonly exiting = new Set<Activation>();

  /** Notes an exit, unless one before it was reached already. */
  addExit(activation: Activation, exit: Ending<number>): void {
    if (activation.exit !== undefined && compareOrder(activation.exit.order, exit.order) < 0) return;
    activation.exit = exit;
    this.exiting.add(activation);
  }

  addFailure(frame: Frame, step: FailedStep, index: number, error: unknown): void {
    const fault = error instanceof FlowFault ? error : undefined;
    const { indexes } = frame;
    const path = frame.pathOf(step);
    const at = indexes.length === 0 ? '' : ` (item ${indexes.join(', ')})`;
    const what: FlowFailure = {
      code: fault?.code ?? 'infrastructure_error',
      message: `The node "${path.join('" > "')}"${at} failed: ${reasonOf(error)}`,
      path,
      indexes,
      details: fault?.details ?? {},
      ofInput: step.kind === 'origin' && frame.parent === undefined,
    };
    this.failures = [...this.failures, { order: frame.orderOf(index), what, frame }].sort(byOrder);
  }

  /** Whether a step, or an item of a loop, stands behind an exit of its flow, or of one around it, or behind a failure. */
  areBefore(frame: Frame, index: number, ...item: readonly number[]): boolean {
    const [failure] = this.failures;
    if (failure === undefined && this.exiting.size === 0) return false;
    const order = [...frame.orderOf(index), ...item];
    if (failure !== undefined && compareOrder(order, failure.order) > 0) return true;
    return [...this.exiting].some(
      (activation) =>
        activation.exit !== undefined && frame.isInside(activation) && compareOrder(order, activation.exit.order) > 0,
    );
  }

  /** The first ending that can take effect: an activation that has its exit, or the failure of the flow. `waits`: whether an answer is missing before. */
  first(waits: (order: Order, activation?: Activation) => boolean): Activation | FlowFailure | undefined {
    const [failure] = this.failures;
    const exits = [...this.exiting].flatMap((activation) =>
      activation.exit === undefined ? [] : [{ order: activation.exit.order, activation }],
    );
    for (const { order, activation } of exits.sort(byOrder)) {
      if (failure !== undefined && compareOrder(failure.order, order) < 0) break;
      if (!waits(order, activation)) return activation;
    }
    return failure === undefined || waits(failure.order) ? undefined : failure.what;
  }

  /** An activation has come to its end. */
  forget(activation: Activation): void {
    this.exiting.delete(activation);
  }

  /** An activation is left by its exit: what else was reached in it does not count. */
  forgetInside(activation: Activation): void {
    for (const inner of this.exiting) if (inner.root.isInside(activation)) this.exiting.delete(inner);
    this.failures = this.failures.filter(({ frame }) => !frame.isInside(activation));
  }
}

export const byOrder = (a: { readonly order: Order }, b: { readonly order: Order }): number =>
  compareOrder(a.order, b.order);

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The failure of a flow whose own answer cannot be given. */
export const failureOfAnswer = (error: unknown): FlowFailure => {
  const details = error instanceof FlowFault ? error.details : {};
  return { code: 'evaluation_failed', message: reasonOf(error), path: [], indexes: [], details, ofInput: false };
};
