import { type Activation, compareOrder, type Frame, type Order } from './frame';
import { Notices } from './notices';
import { type FlowNotification, type OutsideCall } from './outside';

/** A step that asks the outside, and what to do with the answer. */
export interface Call<T> {
  readonly frame: Frame;
  readonly index: number;
  readonly ask: (ports: Pick<OutsideCall, 'signal' | 'onNotifications'>) => Promise<T>;
  readonly answered: (answer: T) => void;
  readonly refused: (error: unknown) => void;
}

interface PendingCall {
  readonly frame: Frame;
  readonly index: number;
  readonly abort: AbortController;
}

/** The calls that wait for an answer. Answers are taken over when the evaluation asks for them, in the order in which they came. */
export class Calls {
  private readonly pending = new Set<PendingCall>();
  private readonly settled: (() => void)[] = [];
  private wake: (() => void) | undefined;
  private notices: Notices | undefined;

  begin<T>({ frame, index, ask, answered, refused }: Call<T>): void {
    const call = { frame, index, abort: new AbortController() };
    this.pending.add(call);
    const settle = (take: () => void): void => {
      this.settled.push(() => {
        if (this.pending.delete(call)) take();
      });
      this.wake?.();
    };
    const asked: FlowNotification[] = [];
    const { signal } = call.abort;
    ask({ signal, onNotifications: (notifications) => void asked.push(...notifications) }).then(
      (answer) => {
        settle(() => {
          if (asked.length > 0 && !this.keep(call, asked, refused)) return;
          answered(answer);
        });
      },
      (error: unknown) => {
        settle(() => {
          refused(error);
        });
      },
    );
  }

  /** Keeps what an answered call asks to be sent; false where that is too much, of which its step is told. */
  private keep({ frame, index }: PendingCall, asked: readonly FlowNotification[], refused: Call<never>['refused']) {
    try {
      this.notices ??= new Notices();
      this.notices.add(frame, index, asked);
      return true;
    } catch (error) {
      refused(error);
      return false;
    }
  }

  /** What is to be sent, in the order of evaluation; undefined where it is nothing. */
  get notifications(): readonly FlowNotification[] | undefined {
    return this.notices?.inOrder();
  }

  /** Hands on what was answered. */
  takeOver(): void {
    for (let take = this.settled.shift(); take !== undefined; take = this.settled.shift()) take();
  }

  /** Ends the wait for an answer without one. */
  wakeUp(): void {
    this.wake?.();
  }

  /** Resolves when a call is answered. */
  async answered(): Promise<void> {
    if (this.settled.length > 0) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
  }

  /** Whether one that comes before a place in the order of evaluation waits; within an activation, where one is given. */
  waitBefore(order: Order, activation?: Activation): boolean {
    return [...this.pending].some(
      ({ frame, index }) =>
        compareOrder(frame.orderOf(index), order) < 0 && (activation === undefined || frame.isInside(activation)),
    );
  }

  /** An activation ends. Where that is by its exit, gives up its calls, and what was to be sent of nodes behind the exit. */
  leave(activation: Activation): void {
    if (activation.exit === undefined) return;
    this.giveUp((frame) => frame.isInside(activation));
    this.notices?.leave(activation);
  }

  /** Aborts those that nobody waits for any more; what they answer later is passed over. */
  giveUp(isMeant: (frame: Frame) => boolean = () => true): void {
    for (const call of this.pending) {
      if (!isMeant(call.frame)) continue;
      this.pending.delete(call);
      call.abort.abort();
    }
  }
}
