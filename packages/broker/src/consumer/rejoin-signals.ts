import { headerText, type MessageHeaders, type ReceivedHeaders } from '@decision/contracts';
import type { KafkaMessage } from 'kafkajs';
import { rejoinError } from '../connection/kafkajs-internals';
import type { Timers } from './timers';

/**
 * Members notice a rebalance only at their next heartbeat, and the first to notice it wait for the last. A member that joins, leaves or notices a
 * rebalance therefore writes a signal to every partition of the group's topic; members that read it rejoin at once. A lost signal costs only
 * time. It is a message without a value and with two headers; every reader skips those of other groups.
 */
const GROUP_HEADER = 'rejoin-group';
const SENDER_HEADER = 'rejoin-sender';

/** Headers of the signal to a group (its name on the cluster) from a member. */
export const rejoinSignal = (groupId: string, sender: string): MessageHeaders => ({
  [GROUP_HEADER]: groupId,
  [SENDER_HEADER]: sender,
});

/** Whether a message is a signal to any group. */
export const isRejoinSignal = (headers: ReceivedHeaders): boolean => headers[GROUP_HEADER] !== undefined;

/** Whether a signal is meant for this member: sent to its group, by another member. */
export const isRejoinSignalFor = (headers: ReceivedHeaders, groupId: string, self: string): boolean =>
  headerText(headers, GROUP_HEADER) === groupId && headerText(headers, SENDER_HEADER) !== self;

/** When a member that is still joining signals the others, ms after it started. */
const SIGNAL_WHILE_JOINING_MS = [100, 1_000, 4_000] as const;
const SIGNAL_AFTER_NOTICING_MS = 50;
/** Signals within this time after a join were meant for that join, ms. */
const SIGNAL_IGNORED_MS = 1_000;

interface RejoinSignalsOptions {
  readonly groupId: string;
  /** Name of this member. */
  readonly self: string;
  readonly timers: Timers;
  /** Writes a rejoin signal to every partition; does nothing if nobody reads it. */
  readonly signal: () => void;
}

/** Makes rebalances quick: signals the other members to rejoin, and rejoins on their signals. */
export class RejoinSignals {
  private signalled = false;
  private joining = true;
  private joinedAt = 0;

  constructor(private readonly options: RejoinSignalsOptions) {}

  /** A session has started to join. `isCurrent` says whether it still counts. */
  opened(isCurrent: () => boolean): void {
    this.joining = true;
    for (const delay of SIGNAL_WHILE_JOINING_MS) {
      this.options.timers.later(delay, () => {
        if (this.joining && isCurrent()) this.options.signal();
      });
    }
  }

  joined(): void {
    this.joining = false;
    this.signalled = false;
    this.joinedAt = Date.now();
  }

  /** This member has noticed a rebalance. It signals the others, unless it learned of it from a signal. */
  rebalancing(signalOthers: () => void): void {
    this.joining = true;
    if (this.signalled) return;
    this.options.timers.later(SIGNAL_AFTER_NOTICING_MS, () => {
      if (this.joining) signalOthers();
    });
  }

  /** Throws the error that makes this member rejoin, if one of the messages is a signal to it. */
  throwIfSignalled(messages: readonly KafkaMessage[]): void {
    const { groupId, self } = this.options;
    if (this.signalled || Date.now() - this.joinedAt < SIGNAL_IGNORED_MS) return;
    if (!messages.some(({ headers }) => headers !== undefined && isRejoinSignalFor(headers, groupId, self))) return;
    this.signalled = true;
    throw rejoinError();
  }
}
