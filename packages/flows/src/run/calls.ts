import { type Activation, compareOrder, type Frame, type Order } from './frame';
import { Notices } from './notices';
import { type FlowNotification, type OutsideCall } from './outside';

/** A step that reaches out, and the handler of its answer. */
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

/** The calls that wait for an answer. The evaluation takes over answers when it is ready, in the order in which they arrived. */
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

  /** Keeps the notifications of an answered call; false if they exceed the limit, which fails its step. */
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

  /** Notifications in evaluation order; undefined if there are none. */
  get notifications(): readonly FlowNotification[] | undefined {
    return this.notices?.inOrder();
  }

  /** Takes over the answers that have arrived. */
  takeOver(): void {
    for (let take = this.settled.shift(); take !== undefined; take = this.settled.shift()) take();
  }

  /** Wakes the waiting evaluation without an answer. */
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

  /** Whether a call before a position in evaluation order is pending, optionally within one activation. */
  waitBefore(order: Order, activation?: Activation): boolean {
    return [...this.pending].some(
      ({ frame, index }) =>
        compareOrder(frame.orderOf(index), order) < 0 && (activation === undefined || frame.isInside(activation)),
    );
  }

  /** Ends an activation. If it ends by an exit, drops its calls, and the notifications of nodes after the exit. */
  leave(activation: Activation): void {
    if (activation.exit === undefined) return;
    this.giveUp((frame) => frame.isInside(activation));
    this.notices?.leave(activation);
  }

  /** Aborts calls that nobody waits for; their later answers are ignored. */
  giveUp(isMeant: (frame: Frame) => boolean = () => true): void {
    for (const call of this.pending) {
      if (!isMeant(call.frame)) continue;
      this.pending.delete(call);
      call.abort.abort();
    }
  }
}
