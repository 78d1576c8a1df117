import { ServiceError, type TopicKey, topicName } from '@decision/contracts';
import { settledWithin, withDeadline } from '@decision/waiting';
import { brokerErrorText, brokerErrorType } from '../connection/broker-error';
import { type BrokerLog, type BrokerSettings, DEFAULT_RETRY } from '../settings';
import { Availability } from './availability';
import {
  type InternalProducerOptions,
  largestMessageBytes,
  messageBytes,
  type OutgoingMessage,
  type Producer,
  type ProducerEvent,
  type ProducerState,
  type Settled,
} from './producer';
import {
  createProducerSession,
  isMessageFault,
  isOutage,
  type SendOutcome,
  UntrustedSessionError,
} from './producer-session';
import { bytesOf, type QueuedMessage, SendQueue } from './send-queue';
import { SessionKeeper } from './session-keeper';

const MIB = 1024 * 1024;
const DEFAULT_MAX_QUEUED_MESSAGES = 20_000;
const DEFAULT_MAX_QUEUED_BYTES = 256 * MIB;
const CONNECT_WAIT_MS = 10_000;
const DEFAULT_DRAIN_MS = 5_000;

/** Grouping by partition is quadratic inside the library, and a larger batch gains nothing. */
const BATCH_LIMITS = { messages: 500, bytes: 16 * MIB } as const;
const DEFAULT_SEND_DEADLINE_MS = 15_000;
/** How often the deadlines of waiting messages are checked, ms. */
const SWEEP_MS = 50;
/** A message is given up after this many failed sends, see {@link isHopeless}; from the third on it is sent in a batch of its own. */
const MAX_FAILURES = 5;
const ALONE_FROM_FAILURES = 2;

/**
 * Sends at once if idle, otherwise queues; when the acknowledgement arrives, sends the whole queue as one produce request.
 *
 * Modes. `connecting`: no session, attempts with back-off. `connected`: a session, at most one batch in flight. A failed send, a silent broker
 * and a lost connection all discard the session, put the batch back in front of the queue, and lead to `connecting`. `stopped` is final.
 */
class BatchingProducer implements Producer {
  private readonly queue = new SendQueue();
  private readonly sessions: SessionKeeper;
  private readonly availability: Availability;
  private inFlight: readonly QueuedMessage[] = [];
  private inFlightBytes = 0;
  private sentAt = 0;
  private accepting = true;
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
    this.sessions = this.createSessions();
    this.availability = new Availability(options.unavailableAfterMs, (available) => {
      if (!available) this.giveUpWaiting();
      options.onAvailability?.(available, this.sessions.reason() ?? '');
    });
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
    await withDeadline(this.firstConnection, CONNECT_WAIT_MS, unreachable);
  }

  /** Starts connecting without waiting. */
  startConnecting(): void {
    this.sessions.start();
  }

  state(): ProducerState {
    if (!this.accepting) return 'stopped';
    return this.sessions.current() === undefined ? 'reconnecting' : 'connected';
  }

  reason(): string | undefined {
    return this.accepting ? this.sessions.reason() : 'stopped';
  }

  queued(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.queue.length + this.inFlight.length, bytes: this.queue.bytes + this.inFlightBytes };
  }

  isAvailable(): boolean {
    return this.accepting && this.availability.isAvailable();
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
    this.queue.push({ message, bytes, settled, failures: 0, outages: 0, alone: false });
    this.scheduleFlush();
    this.armSweep();
  }

  stop({ drainMs = DEFAULT_DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    this.stopped ??= this.drainAndClose(drainMs);
    return this.stopped;
  }

  private createSessions(): SessionKeeper {
    const { settings, log, options } = this;
    return new SessionKeeper({
      log,
      retry: options.retry ?? DEFAULT_RETRY,
      create: (onLost) =>
        createProducerSession({ settings, log, topics: options.topics ?? [], writesTo: options.writesTo, onLost }),
      onOpened: () => {
        this.opened();
      },
      onLost: (reason) => {
        this.lose(reason);
      },
    });
  }

  private opened(): void {
    this.availability.found();
    this.emit({ type: 'producer_connected' });
    this.markConnected();
    this.flush();
  }

  private refusal({ topic, deadline }: OutgoingMessage, bytes: number): ServiceError | undefined {
    if (!this.accepting) return stopped();
    const limit = largestMessageBytes(this.settings, topic);
    if (bytes > limit)
      return new ServiceError(
        'payload_too_large',
        `The message has ${bytes} bytes, the topic "${topicName(this.settings.topicPrefix, topic)}" takes ${limit}.`,
        { limit_bytes: limit },
      );
    if (deadline <= Date.now()) return this.expired(topic);
    if (!this.availability.isAvailable()) return this.brokerUnavailable();
    if (!this.isFullFor(bytes)) return undefined;
    return new ServiceError('overloaded', 'Too many messages wait for the broker.', { retry_after_seconds: 1 });
  }

  private isFullFor(bytes: number): boolean {
    const { maxQueuedMessages = DEFAULT_MAX_QUEUED_MESSAGES, maxQueuedBytes = DEFAULT_MAX_QUEUED_BYTES } = this.options;
    const queued = this.queued();
    return queued.messages >= maxQueuedMessages || queued.bytes + bytes > maxQueuedBytes;
  }

  private expired(topic: TopicKey): ServiceError {
    this.emit({ type: 'message_expired', topic });
    return new ServiceError('deadline_exceeded', 'The message could not be sent before its deadline.');
  }

  private brokerUnavailable(): ServiceError {
    const reason = this.sessions.reason() ?? 'the connection was lost';
    return new ServiceError('broker_unavailable', `The message broker cannot be reached: ${reason}.`);
  }

  private giveUpWaiting(): void {
    for (const item of this.queue.remove(() => true)) settle(item, this.brokerUnavailable());
  }

  /** At the end of this turn of the event loop, so that all messages of the turn become one batch. */
  private scheduleFlush(): void {
    if (this.flushScheduled || this.sessions.current() === undefined || this.inFlight.length > 0) return;
    this.flushScheduled = true;
    setImmediate(() => {
      this.flushScheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    const session = this.sessions.current();
    if (session === undefined || this.inFlight.length > 0 || this.queue.length === 0) return;
    const batch = this.queue.take(BATCH_LIMITS);
    this.inFlight = batch;
    this.inFlightBytes = bytesOf(batch);
    this.sentAt = Date.now();
    session.send(batch.map(({ message }) => message)).then(
      (outcome) => {
        if (session === this.sessions.current()) this.answered(outcome);
      },
      (error: unknown) => {
        if (session === this.sessions.current()) this.lose(error);
      },
    );
  }

  /** Settles the stored messages; those that a broker left out stay in flight until the session has been given up. */
  private answered({ missing, isRepeated }: SendOutcome): void {
    const left = new Set(missing);
    const batch = this.inFlight;
    const stored = left.size === 0 ? batch : batch.filter((_, index) => !left.has(index));
    this.inFlight = left.size === 0 ? [] : batch.filter((_, index) => left.has(index));
    const sentBytes = this.inFlightBytes;
    this.inFlightBytes = bytesOf(this.inFlight);
    if (stored.length > 0)
      this.emit({
        type: 'sent',
        messages: stored.length,
        bytes: sentBytes - this.inFlightBytes,
        durationMs: Date.now() - this.sentAt,
      });
    if (isRepeated) this.emit({ type: 'messages_repeated', messages: stored.length });
    for (const item of stored) settle(item);
    if (left.size > 0 || isRepeated) this.lose(new UntrustedSessionError(left.size));
    else if (this.queue.length > 0) this.flush();
    else this.onDrained?.();
  }

  /** Discards the session, puts its batch back, and reconnects. */
  private lose(error: unknown): void {
    const reason = brokerErrorText(error);
    this.sessions.lose(reason);
    this.emit({ type: 'producer_lost', reason });
    const unacknowledged = this.inFlight.length;
    this.log.warn({ reason, unacknowledged }, 'The producer lost its session and makes a new one');
    if (unacknowledged > 0) this.emit({ type: 'messages_repeated', messages: unacknowledged });
    this.putBackFailed(error);
    this.availability.lost();
    if (this.queue.length === 0) this.onDrained?.();
  }

  private putBackFailed(error: unknown): void {
    const batch = this.inFlight;
    this.inFlight = [];
    this.inFlightBytes = 0;
    const isFault = isMessageFault(error);
    const isAway = isOutage(error);
    const kept = batch.filter((item) => {
      item.failures += 1;
      if (isAway) item.outages += 1;
      if (item.settled === undefined) return false;
      if ((isFault && item.alone) || isHopeless(item)) {
        this.refuse(item, error);
        return false;
      }
      item.alone = isFault || item.failures >= ALONE_FROM_FAILURES;
      return true;
    });
    // Nothing waits for the turn of a message without an order, so it lets the others try first.
    const givesWay = (item: QueuedMessage): boolean => isAway && item.alone && isFree(item);
    this.queue.putBack(kept.filter((item) => !givesWay(item)));
    for (const item of kept.filter(givesWay)) this.queue.push(item);
  }

  private refuse(item: QueuedMessage, error: unknown): void {
    const reason = brokerErrorText(error);
    this.emit({ type: 'message_refused', topic: item.message.topic, reason });
    const code = brokerErrorType(error) === 'MESSAGE_TOO_LARGE' ? 'payload_too_large' : 'broker_unavailable';
    settle(item, new ServiceError(code, `The broker refused a message: ${reason}.`, {}, { cause: error }));
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
    const { sendDeadlineMs = DEFAULT_SEND_DEADLINE_MS } = this.options;
    if (this.inFlight.length > 0 && this.sessions.current() !== undefined && now - this.sentAt > sendDeadlineMs)
      this.lose(new Error(`no acknowledgement within ${sendDeadlineMs / 1_000} seconds`));
  }

  private async drainAndClose(drainMs: number): Promise<void> {
    this.accepting = false;
    if (this.queue.length + this.inFlight.length > 0) {
      const drained = new Promise<void>((resolve) => (this.onDrained = resolve));
      await settledWithin(drained, drainMs);
    }
    this.availability.close();
    clearTimeout(this.sweepTimer);
    const sessions = this.sessions.stop();
    for (const item of [...this.inFlight, ...this.queue.remove(() => true)]) settle(item, stopped());
    this.inFlight = [];
    this.markStopped();
    await sessions;
  }

  private emit(event: ProducerEvent): void {
    this.options.onEvent?.(event);
  }
}

const unreachable = (): ServiceError =>
  new ServiceError(
    'broker_unavailable',
    `The message broker cannot be reached within ${CONNECT_WAIT_MS / 1_000} seconds.`,
  );

const stopped = (): ServiceError => new ServiceError('shutting_down', 'The producer has been stopped.');

/** Whether a message may go to any partition, in any order. */
const isFree = ({ message: { partition, key } }: QueuedMessage): boolean =>
  partition === undefined && key === undefined;

/**
 * Whether a message has failed too often. Outages do not count for one that may go to any partition, which only its deadline ends. One that must
 * go to a certain partition is given up even then: those behind it would wait as long.
 */
const isHopeless = (item: QueuedMessage): boolean => item.failures - (isFree(item) ? item.outages : 0) >= MAX_FAILURES;

const settle = (item: QueuedMessage, error?: ServiceError): void => {
  const { settled } = item;
  item.settled = undefined;
  settled?.(error);
};

/** Makes a producer that is not yet connected. One producer keeps one connection and one produce request in flight. */
export const createProducer = (
  settings: BrokerSettings,
  log: BrokerLog,
  options: InternalProducerOptions = {},
): Producer & { startConnecting(): void } => new BatchingProducer(settings, log, options);
