import { byOrder } from './endings';
import { type Activation, compareOrder, type Frame, type Order } from './frame';
import { FlowFault } from './outcome';
import { type FlowNotification } from './outside';

/** Notifications of one run, and their bytes together. */
const MAX_NOTIFICATIONS = 100;
const MAX_BYTES = 262_144;

/** Requested notifications, with their positions in evaluation order. */
interface Notice {
  readonly frame: Frame;
  readonly order: Order;
  readonly notifications: readonly FlowNotification[];
}

/** Collects the notifications of a run's nodes. Which of them count depends on the flow, not on which node answered first (FL-89). */
export class Notices {
  private kept: readonly Notice[] = [];
  private count = 0;
  private bytes = 0;

  /** Throws if the run exceeds its limits. */
  add(frame: Frame, index: number, notifications: readonly FlowNotification[]): void {
    this.count += notifications.length;
    for (const { content } of notifications) this.bytes += Buffer.byteLength(content);
    if (this.count > MAX_NOTIFICATIONS)
      throw new FlowFault(
        `The flow sends more than ${MAX_NOTIFICATIONS} notifications, which is the limit for one input; gather them in fewer.`,
        { reason: 'too_many_notifications', limit: MAX_NOTIFICATIONS },
      );
    if (this.bytes > MAX_BYTES)
      throw new FlowFault(
        `The notifications of the flow take more than ${MAX_BYTES} bytes, which is the limit for one input; send less with each.`,
        { reason: 'notifications_too_large', limit: MAX_BYTES },
      );
    this.kept = [...this.kept, { frame, order: frame.orderOf(index), notifications }];
  }

  /** An activation ends by its exit: notifications after the exit are dropped. */
  leave(activation: Activation): void {
    const { exit } = activation;
    if (exit === undefined) return;
    this.kept = this.kept.filter(
      ({ frame, order }) => !frame.isInside(activation) || compareOrder(order, exit.order) < 0,
    );
  }

  /** In evaluation order. Undefined if there are none. */
  inOrder(): readonly FlowNotification[] | undefined {
    if (this.kept.length === 0) return undefined;
    return [...this.kept].sort(byOrder).flatMap(({ notifications }) => notifications);
  }
}
