import type { KafkaMessage } from 'kafkajs';
import { rejoinError } from './consumer-session';
import { isRejoinSignalFor } from './rejoin-signal';
import type { Timers } from './timers';

/** When a member that is still joining asks the others to hurry, ms after it began. */
const SIGNAL_WHILE_JOINING_MS = [100, 1_000, 4_000] as const;
const SIGNAL_AFTER_NOTICING_MS = 50;
/** Signals this soon after a join were meant for that join, ms. */
const SIGNAL_DEAF_MS = 1_000;

interface RejoinUrgingOptions {
  readonly groupId: string;
  /** Name of this member. */
  readonly self: string;
  readonly timers: Timers;
  /** Writes a rejoin signal to every partition; does nothing where there is nobody to read it. */
  readonly signal: () => void;
}

/** Makes rebalances quick: asks the other members to rejoin, and obeys their asking. See rejoin-signal. */
export class RejoinUrging {
  private obeyed = false;
  private joining = true;
  private joinedAt = 0;

  constructor(private readonly options: RejoinUrgingOptions) {}

  /** A session has begun to join. `isCurrent` says whether it still counts. */
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
    this.obeyed = false;
    this.joinedAt = Date.now();
  }

  /** This member has noticed a rebalance. The others hear of it, unless it was they who told. */
  rebalancing(signalOthers: () => void): void {
    this.joining = true;
    if (this.obeyed) return;
    this.options.timers.later(SIGNAL_AFTER_NOTICING_MS, () => {
      if (this.joining) signalOthers();
    });
  }

  /** Throws the error that makes this member rejoin, if one of the messages asks it to. */
  obey(messages: readonly KafkaMessage[]): void {
    const { groupId, self } = this.options;
    if (this.obeyed || Date.now() - this.joinedAt < SIGNAL_DEAF_MS) return;
    if (!messages.some(({ headers }) => headers !== undefined && isRejoinSignalFor(headers, groupId, self))) return;
    this.obeyed = true;
    throw rejoinError();
  }
}
