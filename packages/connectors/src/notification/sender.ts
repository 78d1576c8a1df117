import { backOffMs, doublingMs } from '@decision/waiting';
import { ConnectorFailure } from '../connector';
import { type Channels, type OutgoingMessage } from './channels';

/** A notification that this process must send before its lease ends. */
interface TakenMessage extends OutgoingMessage {
  readonly workspaceId: string;
  /** From 1. */
  readonly attempt: number;
}

/** The outcome of an attempt; reasons reveal nothing of the message. */
type MessageEnd =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed'; readonly reason: string }
  | { readonly outcome: 'again'; readonly reason: string; readonly pauseMs: number };

/** The store of waiting notifications. Every method rejects if it does not answer. */
export interface NotificationStore {
  take(options: {
    readonly leaseMs: number;
    readonly most: number;
    /** The maximum per workspace. */
    readonly share: number;
    /** Workspaces to skip. */
    readonly busy: readonly string[];
  }): Promise<readonly TakenMessage[]>;
  end(message: TakenMessage, end: MessageEnd): Promise<void>;
  /** Removes some of the notifications that ended long ago; answers how many. */
  purge(): Promise<number>;
}

/** An attempt that ended, for metrics and logs; it contains nothing of the message. */
export interface SendEnd {
  readonly id: string;
  readonly channel: string;
  readonly workspaceId: string;
  readonly attempt: number;
  readonly outcome: MessageEnd['outcome'];
  readonly reason: string | undefined;
  /** Recipients that the mail server refused, of a mail that it accepted for others. */
  readonly refused: number;
}

interface SenderOptions {
  readonly store: NotificationStore;
  readonly channels: Channels;
  /** Attempts before a notification is given up. */
  readonly maxAttempts: number;
  readonly onEnd: (end: SendEnd) => void;
  /** Called when the store does not answer. */
  readonly onError: (error: unknown) => void;
  /** Interval between polls of the store while nothing waits, ms. Default 1,000. */
  readonly pollMs?: number;
  /** How long a notification is leased to the process that sends it, ms. Default 60,000. */
  readonly leaseMs?: number;
}

/** Sends waiting notifications as long as the process runs. */
export interface NotificationSender {
  /** Something was written: polls at once. */
  wake(): void;
  /** Takes no further notifications, and gives attempts under way this much time to end, ms. */
  stop(drainMs: number): Promise<void>;
}

/** Notifications that are sent at once in this process, and per workspace. */
const AT_ONCE = 16;
const OF_WORKSPACE_AT_ONCE = 8;
/** Time of one attempt, ms. */
const SEND_MS: Readonly<Record<string, number>> = { email: 30_000 };
const OTHER_SEND_MS = 10_000;
const PAUSES = { initialMs: 5_000, maxMs: 3_600_000 } as const;
const LONGEST_POLL_MS = 30_000;
const PURGE_EVERY_MS = 60_000;
const PURGES_AT_ONCE = 20;

export const startNotificationSender = (options: SenderOptions): NotificationSender => new Sender(options);

class Sender implements NotificationSender {
  private readonly running = new Set<Promise<void>>();
  private readonly ofWorkspace = new Map<string, number>();
  private readonly stopping = new AbortController();
  private readonly aborting = new AbortController();
  private readonly loop: Promise<void>;
  private wakeUp: (() => void) | undefined;
  private isWoken = false;
  private purgedAt = performance.now();

  constructor(private readonly options: SenderOptions) {
    this.loop = this.run();
  }

  wake(): void {
    this.isWoken = true;
    this.wakeUp?.();
  }

  async stop(drainMs: number): Promise<void> {
    this.stopping.abort();
    this.wake();
    const timer = setTimeout(() => this.aborting.abort(), drainMs);
    await this.loop;
    await Promise.all(this.running);
    clearTimeout(timer);
    await this.options.channels.stop();
  }

  private async run(): Promise<void> {
    const { pollMs = 1_000, onError } = this.options;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      try {
        const taken = this.running.size < AT_ONCE ? await this.takeSome() : 0;
        failures = 0;
        if (taken === 0) await this.purge();
        if (taken === 0) await this.rest(pollMs);
      } catch (error) {
        failures += 1;
        onError(error);
        await this.rest(doublingMs(failures, { initialMs: 2 * pollMs, maxMs: LONGEST_POLL_MS }));
      }
    }
  }

  /** Waits for a while, or until somebody wakes it. */
  private async rest(ms: number): Promise<void> {
    if (!this.isWoken && !this.stopping.signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        timer.unref();
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.isWoken = false;
  }

  private async takeSome(): Promise<number> {
    const { store, leaseMs = 60_000 } = this.options;
    const busy = [...this.ofWorkspace].filter(([, count]) => count >= OF_WORKSPACE_AT_ONCE).map(([id]) => id);
    const most = AT_ONCE - this.running.size;
    const taken = await store.take({ leaseMs, most, share: OF_WORKSPACE_AT_ONCE, busy });
    for (const message of taken) {
      const sending = this.send(message).finally(() => {
        this.running.delete(sending);
        this.wake();
      });
      this.running.add(sending);
    }
    return taken.length;
  }

  private async send(message: TakenMessage): Promise<void> {
    const { store, onEnd, onError } = this.options;
    const { id, channel, workspaceId, attempt } = message;
    this.ofWorkspace.set(workspaceId, (this.ofWorkspace.get(workspaceId) ?? 0) + 1);
    try {
      const { refused, ...end } = await this.attempt(message);
      const reason = end.outcome === 'sent' ? undefined : end.reason;
      onEnd({ id, channel, workspaceId, attempt, outcome: end.outcome, reason, refused });
      // If this is not recorded, it is sent again under the same id.
      await store.end(message, end).catch(onError);
    } finally {
      const left = (this.ofWorkspace.get(workspaceId) ?? 1) - 1;
      if (left === 0) this.ofWorkspace.delete(workspaceId);
      else this.ofWorkspace.set(workspaceId, left);
    }
  }

  private async attempt(message: TakenMessage): Promise<MessageEnd & { readonly refused: number }> {
    const { channels, maxAttempts } = this.options;
    const { attempt } = message;
    // Its senders died each time.
    if (attempt > maxAttempts)
      return { outcome: 'failed', reason: `None of ${maxAttempts} attempts was finished.`, refused: 0 };
    try {
      const { refused } = await this.withinTime(message, (signal) => channels.send(message, signal));
      return { outcome: 'sent', refused };
    } catch (error) {
      const reason = error instanceof ConnectorFailure ? error.message : 'It failed by a fault of the service.';
      if (!(error instanceof ConnectorFailure)) this.options.onError(error);
      const mayGoOn = error instanceof ConnectorFailure && error.mayRetry && attempt < maxAttempts;
      if (!mayGoOn) return { outcome: 'failed', reason, refused: 0 };
      const pauseMs = Math.min(PAUSES.maxMs, Math.max(backOffMs(attempt, PAUSES), error.retryAfterMs ?? 0));
      return { outcome: 'again', reason, pauseMs, refused: 0 };
    }
  }

  private async withinTime<T>({ channel }: TakenMessage, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController();
    const ms = SEND_MS[channel] ?? OTHER_SEND_MS;
    const timer = setTimeout(() => ending.abort(late(ms)), ms);
    const stop = (): void => ending.abort(stopped());
    this.aborting.signal.addEventListener('abort', stop);
    if (this.aborting.signal.aborted) stop();
    try {
      return await work(ending.signal);
    } finally {
      clearTimeout(timer);
      this.aborting.signal.removeEventListener('abort', stop);
    }
  }

  private async purge(): Promise<void> {
    if (performance.now() - this.purgedAt < PURGE_EVERY_MS) return;
    this.purgedAt = performance.now();
    for (let steps = 0; steps < PURGES_AT_ONCE && !this.stopping.signal.aborted; steps += 1)
      if ((await this.options.store.purge()) === 0) return;
  }
}

const late = (ms: number): ConnectorFailure =>
  new ConnectorFailure(`There was no answer within ${ms} ms.`, { outcome: 'timeout', mayRetry: true });

const stopped = (): ConnectorFailure =>
  new ConnectorFailure('The service stopped before there was an answer.', { outcome: 'abandoned', mayRetry: true });
