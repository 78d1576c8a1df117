import { type Activation, compareOrder, type Ending, type Frame, type Order } from './frame';
import { type FlowFailure, FlowFault } from './outcome';

/** A failure and its location. */
type Failing = Ending<FlowFailure> & { readonly frame: Frame };

/** The failed part: a step, or the values that a loop gives to an aggregate. */
export interface FailedStep {
  readonly ref: string;
  readonly kind?: string;
}

/**
 * Exits and failures that were reached but have not taken effect. An exit counts only in its activation, a failure everywhere; an exit
 * cancels failures after it in its own activation.
 */
export class Endings {
  /** In evaluation order. */
  private failures: readonly Failing[] = [];
  private readonly exiting = new Set<Activation>();

  /** Records an exit, unless an earlier one was already reached. */
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

  /** Whether a step, or an item of a loop, comes after a failure, or after an exit of its flow or of an enclosing one. */
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

  /**
   * The first ending that can take effect: an activation that has its exit, or the failure of the flow. `waits`: whether an earlier answer
   * is pending.
   */
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

  /** Records the end of an activation. */
  forget(activation: Activation): void {
    this.exiting.delete(activation);
  }

  /** An activation ends by its exit: other endings reached in it do not count. */
  forgetInside(activation: Activation): void {
    for (const inner of this.exiting) if (inner.root.isInside(activation)) this.exiting.delete(inner);
    this.failures = this.failures.filter(({ frame }) => !frame.isInside(activation));
  }
}

export const byOrder = (a: { readonly order: Order }, b: { readonly order: Order }): number =>
  compareOrder(a.order, b.order);

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The failure of a flow whose answer cannot be built. */
export const failureOfAnswer = (error: unknown): FlowFailure => {
  const details = error instanceof FlowFault ? error.details : {};
  return { code: 'evaluation_failed', message: reasonOf(error), path: [], indexes: [], details, ofInput: false };
};
