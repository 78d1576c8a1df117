import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, type TopicKey, topicName } from '@decision/contracts';
import { type BackOff, backOffMs } from '../connection/back-off';
import { brokerErrorText, brokerErrorType } from '../connection/broker-error';
import { settledWithin, withDeadline } from '../connection/deadline';
import type { BrokerLog, BrokerSettings } from '../settings';
import { largestMessageBytes, messageBytes, type OutgoingMessage } from './outgoing-message';
import { createProducerSession, isMessageFault, type ProducerSession } from './producer-session';
import { type QueuedMessage, SendQueue, type Settled } from './send-queue';

/** What a producer tells about itself, for metrics. */
export type ProducerEvent =
  | { readonly type: 'sent'; readonly messages: number; readonly bytes: number; readonly durationMs: number }
  | { readonly type: 'producer_connected' }
  | { readonly type: 'producer_lost'; readonly reason: string }
  /** A message was given up because its deadline passed. */
  | { readonly type: 'message_expired'; readonly topic: TopicKey }
  /** A message was given up because the broker refused it, or failed it too often. */
  | { readonly type: 'message_refused'; readonly topic: TopicKey; readonly reason: string };

export interface ProducerOptions {
  /** Topics without which the producer does not count as connected. Default: none. */
  readonly topics?: readonly TopicKey[];
  /** Most messages that wait or are in flight; beyond it they are refused with `overloaded`. Default 20,000. */
  readonly maxQueuedMessages?: number;
  /** Most bytes of such messages. Default 256 MiB. */
  readonly maxQueuedBytes?: number;
  /**
   * How long the broker may be away before what waits is given up with `broker_unavailable` and more is refused at once, ms.
   * Default: for ever; messages wait for it until their own deadline.
   */
  readonly unavailableAfterMs?: number;
  /** Wait between attempts to connect. */
  readonly retry?: BackOff;
  readonly onEvent?: (event: ProducerEvent) => void;
}

export type ProducerState = 'connected' | 'reconnecting' | 'stopped';

/** Sends messages in batches; see {@link createProducer}. */
export interface Producer {
  /**
   * Starts connecting and waits for it at most ten seconds, then throws `ServiceError` broker_unavailable; the attempts go on
   * behind until {@link stop}.
   */
  connect(): Promise<void>;
  /**
   * Resolves when all replicas in sync have the message. Throws `ServiceError`: deadline_exceeded, overloaded,
   * payload_too_large, broker_unavailable, shutting_down. A message that failed may have been stored all the same, and one
   * that succeeded may have been stored twice.
   */
  send(message: OutgoingMessage): Promise<void>;
  /** As {@link send}, for callers that need no promise: `settled` is called once, with the error if there was one. */
  submit(message: OutgoingMessage, settled: Settled): void;
  state(): ProducerState;
  /** Why the producer is not connected, as a clause; undefined when it is. */
  reason(): string | undefined;
  /** Whether it takes messages: connected, or not away for longer than `unavailableAfterMs`. */
  isAvailable(): boolean;
  /** Refuses new messages, sends what waits for at most `drainMs` (default 5,000), and disconnects. Idempotent. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** What the package's own parts may add. */
export interface InternalProducerOptions extends ProducerOptions {
  /** Called when `unavailableAfterMs` have passed, and again when the broker is back. */
  readonly onAvailability?: (available: boolean, reason: string) => void;
}

const MIB = 1024 * 1024;
const DEFAULT_MAX_QUEUED_MESSAGES = 20_000;
const DEFAULT_MAX_QUEUED_BYTES = 256 * MIB;
const CONNECT_WAIT_MS = 10_000;
const DEFAULT_DRAIN_MS = 5_000;

/** Grouping by partition is quadratic inside the library, and a larger batch gains nothing. */
const BATCH_LIMITS = { messages: 500, bytes: 16 * MIB } as const;
/** Opening a session, and one send with all its retries, ms. */
const OPEN_DEADLINE_MS = 15_000;
const SEND_DEADLINE_MS = 15_000;
/** How often deadlines of waiting messages are looked at, ms. */
const SWEEP_MS = 50;
/** A message that was in so many failed sends is given up; from the third on it is sent alone. */
const MAX_FAILURES = 5;
const ALONE_FROM_FAILURES = 2;

/**
 * Sends now if idle, else queues, and sends all that queued as one produce when the acknowledgement comes.
 *
 * Modes. `connecting`: no session, attempts with back-off. `connected`: a session, at most one batch in flight. A failed send, a
 * silent broker and a lost connection all discard the session (never repaired, see ProducerSession), put the batch back in
 * front of the queue, and lead to `connecting`. `stopped` is final.
 */
class BatchingProducer implements Producer {
  private readonly queue = new SendQueue();
  private readonly stopping = new AbortController();
  private session: ProducerSession | undefined;
  private opening: ProducerSession | undefined;
  private inFlight: readonly QueuedMessage[] = [];
  private inFlightBytes = 0;
  private sentAt = 0;
  private accepting = true;
  private connecting: Promise<void> | undefined;
  private whyNotConnected: string | undefined = 'not started';
  private unavailable: boolean;
  private unavailableTimer: NodeJS.Timeout | undefined;
  private sweepTimer: NodeJS.Timeout | undefined;
  private flushScheduled = false;
  private stopped: Promise<void> | undefined;
  private onDrained: (() => void) | undefined;
  private readonly firstConnection: Promise<void>;
  private markConnected: () => void = () => undefined;
  private markStopped: () => void = () => undefined;

  constructor(
    private readonly settings: BrokerSettings,
    private readonly log: BrokerLog,
    private readonly options: InternalProducerOptions,
  ) {
    this.unavailable = options.unavailableAfterMs !== undefined;
    this.firstConnection = new Promise((resolve, reject) => {
      this.markConnected = resolve;
      this.markStopped = () => {
        reject(stopped());
      };
    });
    this.firstConnection.catch(() => undefined); // nobody may be waiting for it
  }

  async connect(): Promise<void> {
    this.startConnecting();
    const late = `The message broker cannot be reached within ${CONNECT_WAIT_MS / 1_000} seconds.`;
    await withDeadline(CONNECT_WAIT_MS, late, this.firstConnection);
  }

  /** Starts connecting without waiting. */
  startConnecting(): void {
    if (this.session === undefined && !this.stopping.signal.aborted) this.connecting ??= this.keepConnecting();
  }

  state(): ProducerState {
    if (!this.accepting) return 'stopped';
    return this.session === undefined ? 'reconnecting' : 'connected';
  }

  reason(): string | undefined {
    return this.accepting ? this.whyNotConnected : 'stopped';
  }

  isAvailable(): boolean {
    return this.accepting && !this.unavailable;
  }

  send(message: OutgoingMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.submit(message, (error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  }

  submit(message: OutgoingMessage, settled: Settled): void {
    const bytes = messageBytes(message);
    const refusal = this.refusal(message, bytes);
    if (refusal !== undefined) {
      settled(refusal);
      return;
    }
    this.queue.push({ message, bytes, settled, failures: 0, alone: false });
    this.scheduleFlush();
    this.armSweep();
  }

  stop({ drainMs = DEFAULT_DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    this.stopped ??= this.drainAndClose(drainMs);
    return this.stopped;
  }

  private refusal({ topic, deadline }: OutgoingMessage, bytes: number): ServiceError | undefined {
    if (!this.accepting) return stopped();
    const limit = largestMessageBytes(topic);
    if (bytes > limit)
      return new ServiceError(
        'payload_too_large',
        `The message has ${bytes} bytes, the topic "${topicName(this.settings.topicPrefix, topic)}" takes ${limit}.`,
        { limit_bytes: limit },
      );
    if (deadline <= Date.now()) return this.expired(topic);
    if (this.unavailable) return this.brokerUnavailable();
    const { maxQueuedMessages = DEFAULT_MAX_QUEUED_MESSAGES, maxQueuedBytes = DEFAULT_MAX_QUEUED_BYTES } = this.options;
    const isFull =
      this.queue.length + this.inFlight.length >= maxQueuedMessages ||
      this.queue.bytes + this.inFlightBytes + bytes > maxQueuedBytes;
    if (!isFull) return undefined;
    return new ServiceError('overloaded', 'Too many messages wait for the broker.', { retry_after_seconds: 1 });
  }

  private expired(topic: TopicKey): ServiceError {
    this.emit({ type: 'message_expired', topic });
    return new ServiceError('deadline_exceeded', 'The message could not be sent before its deadline.');
  }

  private brokerUnavailable(): ServiceError {
    const reason = this.whyNotConnected ?? 'the connection was lost';
    return new ServiceError('broker_unavailable', `The message broker cannot be reached: ${reason}.`);
  }

  /** At the end of this turn of the event loop, so that all that arrives in it becomes one batch. */
  private scheduleFlush(): void {
    if (this.flushScheduled || this.session === undefined || this.inFlight.length > 0) return;
    this.flushScheduled = true;
    setImmediate(() => {
      this.flushScheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    const { session } = this;
    if (session === undefined || this.inFlight.length > 0 || this.queue.length === 0) return;
    const batch = this.queue.take(BATCH_LIMITS);
    this.inFlight = batch;
    this.inFlightBytes = batch.reduce((sum, { bytes }) => sum + bytes, 0);
    this.sentAt = Date.now();
    session.send(batch.map(({ message }) => message)).then(
      () => {
        if (session === this.session) this.acknowledged();
      },
      (error: unknown) => {
        if (session === this.session) this.lose(error);
      },
    );
  }

  private acknowledged(): void {
    const batch = this.inFlight;
    this.emit({
      type: 'sent',
      messages: batch.length,
      bytes: this.inFlightBytes,
      durationMs: Date.now() - this.sentAt,
    });
    this.inFlight = [];
    this.inFlightBytes = 0;
    for (const item of batch) settle(item);
    if (this.queue.length > 0) this.flush();
    else this.onDrained?.();
  }

  /** Discards the session, puts its batch back, and connects anew. */
  private lose(error: unknown): void {
    const reason = brokerErrorText(error);
    this.session?.discard();
    this.session = undefined;
    this.whyNotConnected = reason;
    this.emit({ type: 'producer_lost', reason });
    this.log.warn(
      { reason, unacknowledged: this.inFlight.length },
      'The producer lost its session and makes a new one',
    );
    this.putBackFailed(error);
    this.armUnavailable();
    this.startConnecting();
    if (this.queue.length === 0) this.onDrained?.();
  }

  private putBackFailed(error: unknown): void {
    const batch = this.inFlight;
    this.inFlight = [];
    this.inFlightBytes = 0;
    const isFault = isMessageFault(error);
    this.queue.putBack(
      batch.filter((item) => {
        item.failures += 1;
        if (item.settled === undefined) return false;
        if ((isFault && item.alone) || item.failures >= MAX_FAILURES) {
          this.refuse(item, error);
          return false;
        }
        item.alone = isFault || item.failures >= ALONE_FROM_FAILURES;
        return true;
      }),
    );
  }

  private refuse(item: QueuedMessage, error: unknown): void {
    const reason = brokerErrorText(error);
    this.emit({ type: 'message_refused', topic: item.message.topic, reason });
    const code = brokerErrorType(error) === 'MESSAGE_TOO_LARGE' ? 'payload_too_large' : 'broker_unavailable';
    settle(item, new ServiceError(code, `The broker refused a message: ${reason}.`, {}, { cause: error }));
  }

  private async keepConnecting(): Promise<void> {
    for (let failures = 0; !this.stopping.signal.aborted;) {
      const session = this.createSession();
      this.opening = session;
      try {
        await withDeadline(OPEN_DEADLINE_MS, 'the broker does not answer', session.open());
        this.connecting = undefined;
        this.opened(session);
        return;
      } catch (error) {
        session.discard();
        failures += 1;
        await this.waitAfterFailure(failures, error);
      }
    }
  }

  private createSession(): ProducerSession {
    const session = createProducerSession({
      settings: this.settings,
      log: this.log,
      topics: this.options.topics ?? [],
      onLost: (reason) => {
        if (session === this.session) this.lose(reason);
      },
    });
    return session;
  }

  private async waitAfterFailure(failures: number, error: unknown): Promise<void> {
    this.whyNotConnected = brokerErrorText(error);
    if (failures === 1) this.log.warn({ reason: this.whyNotConnected }, 'The producer cannot connect and keeps trying');
    const wait = backOffMs(failures, this.options.retry ?? {}, Math.random());
    await sleep(wait, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  private opened(session: ProducerSession): void {
    this.opening = undefined;
    if (this.stopping.signal.aborted) {
      session.discard();
      return;
    }
    this.session = session;
    this.whyNotConnected = undefined;
    this.setAvailable(true);
    this.emit({ type: 'producer_connected' });
    this.markConnected();
    this.flush();
  }

  private armUnavailable(): void {
    const { unavailableAfterMs } = this.options;
    if (unavailableAfterMs === undefined || this.unavailable) return;
    this.unavailableTimer ??= setTimeout(() => {
      this.unavailableTimer = undefined;
      this.setAvailable(false);
    }, unavailableAfterMs);
  }

  private setAvailable(available: boolean): void {
    clearTimeout(this.unavailableTimer);
    this.unavailableTimer = undefined;
    this.unavailable = !available && this.options.unavailableAfterMs !== undefined;
    if (this.unavailable) for (const item of this.queue.remove(() => true)) settle(item, this.brokerUnavailable());
    this.options.onAvailability?.(available, this.whyNotConnected ?? '');
  }

  private armSweep(): void {
    this.sweepTimer ??= setTimeout(() => {
      this.sweepTimer = undefined;
      this.sweep(Date.now());
      if (this.queue.length > 0 || this.inFlight.length > 0) this.armSweep();
    }, SWEEP_MS);
  }

  private sweep(now: number): void {
    for (const item of this.queue.remove(({ message }) => message.deadline <= now))
      settle(item, this.expired(item.message.topic));
    for (const item of this.inFlight)
      if (item.settled !== undefined && item.message.deadline <= now) settle(item, this.expired(item.message.topic));
    if (this.inFlight.length > 0 && this.session !== undefined && now - this.sentAt > SEND_DEADLINE_MS)
      this.lose(new Error(`no acknowledgement within ${SEND_DEADLINE_MS / 1_000} seconds`));
  }

  private async drainAndClose(drainMs: number): Promise<void> {
    this.accepting = false;
    if (this.queue.length + this.inFlight.length > 0) {
      const drained = new Promise<void>((resolve) => (this.onDrained = resolve));
      await settledWithin(drainMs, drained);
    }
    this.close();
    await this.connecting;
  }

  private close(): void {
    this.stopping.abort();
    clearTimeout(this.unavailableTimer);
    clearTimeout(this.sweepTimer);
    this.session?.discard();
    this.opening?.discard();
    this.session = undefined;
    for (const item of [...this.inFlight, ...this.queue.remove(() => true)]) settle(item, stopped());
    this.inFlight = [];
    this.markStopped();
  }

  private emit(event: ProducerEvent): void {
    this.options.onEvent?.(event);
  }
}

const stopped = (): ServiceError => new ServiceError('shutting_down', 'The producer has been stopped.');

const settle = (item: QueuedMessage, error?: ServiceError): void => {
  const { settled } = item;
  item.settled = undefined;
  settled?.(error);
};

/** Makes a producer that is not yet connected. One producer keeps one connection and one produce in flight. */
export const createProducer = (
  settings: BrokerSettings,
  log: BrokerLog,
  options: InternalProducerOptions = {},
): Producer & { startConnecting(): void } => new BatchingProducer(settings, log, options);
