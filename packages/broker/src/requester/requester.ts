import { randomUUID } from 'node:crypto';
import {
  type ConsumerGroupKey,
  consumerGroupName,
  consumerGroups,
  decodeSolutionFailure,
  decodeSolutionResponse,
  encodeSolutionRequest,
  headerText,
  type ReceivedHeaders,
  ServiceError,
  topicName,
} from '@decision/contracts';
import { settledWithin } from '@decision/waiting';
import type { KafkaMessage } from 'kafkajs';
import type { AssignmentChange } from '../consumer/owned-partitions';
import { GroupConsumer } from '../consumer/group-consumer';
import type { PartitionDelivery } from '../consumer/group-consumer-options';
import { rejoinSignal } from '../consumer/rejoin-signals';
import { largestMessageBytes } from '../producer/producer';
import { createProducer } from '../producer/batching-producer';
import { tracedRequest } from '../request-spans';
import { type BrokerLog, type BrokerSettings, DEFAULT_RETRY } from '../settings';
import { tooFewPartitions } from '../topics/topic-check';
import { type PendingRequest, PendingRequests } from './pending-requests';
import { chooseReplyPartitions, ReplyPartitions, replyTiming } from './reply-partitions';
import type {
  RefusalCode,
  RequestEnvelope,
  Requester,
  RequesterOptions,
  RequesterStatus,
  RequestOptions,
  RequestSettled,
} from './requester-options';

/** Why requests are refused at the moment. */
interface Refusal {
  readonly code: RefusalCode;
  readonly reason: string;
}

const NO_ANSWER = Buffer.alloc(0);
const DEFAULT_MAX_PENDING = 20_000;
const DEFAULT_MAX_PENDING_BYTES = 256 * 1024 * 1024;
const DEFAULT_DRAIN_MS = 10_000;
/** How long the broker may be away before requests are answered 503; with the time to notice it this stays under a second, ms. */
const UNAVAILABLE_AFTER_MS = 750;
/** Bytes of headers of a request, at most. */
const HEADER_BYTES = 8 * 1024;
/** Time to send rejoin signals after the drain, ms. */
const STOP_DRAIN_MS = 1_000;
/** How long a rejoin signal is useful, ms. */
const SIGNAL_LIFE_MS = 2_000;

class BrokerRequester implements Requester {
  /** Largest payload of a request, bytes. */
  private readonly largestPayload: number;
  private readonly self: string;
  private readonly topic: string;
  private readonly groupId: string;
  private readonly producer: ReturnType<typeof createProducer>;
  private readonly consumer: GroupConsumer;
  private readonly pending: PendingRequests;
  private readonly replyPartitions = new ReplyPartitions();
  private counter = 0;
  private accepting = true;
  private stopped: Promise<void> | undefined;

  constructor(
    settings: BrokerSettings,
    log: BrokerLog,
    private readonly options: RequesterOptions,
  ) {
    this.self = `${requesterPrefix(options.group)}${options.requesterId ?? randomUUID()}`;
    this.largestPayload = largestMessageBytes(settings, 'solution') - HEADER_BYTES;
    this.topic = topicName(settings.topicPrefix, 'solutionResponse');
    this.groupId = consumerGroupName(settings.topicPrefix, options.group);
    this.pending = new PendingRequests((request) => {
      this.expired(request);
    });
    this.producer = createProducer(settings, log, {
      topics: ['solution', 'solutionResponse'],
      maxQueuedMessages: this.maxPending * 2,
      maxQueuedBytes: this.maxPendingBytes * 2,
      unavailableAfterMs: UNAVAILABLE_AFTER_MS,
      retry: options.retry,
      onEvent: options.onEvent,
      onAvailability: (available, reason) => {
        if (!available) this.brokerGone(reason);
      },
    });
    this.consumer = this.createConsumer(settings, log);
  }

  start(): Promise<void> {
    if (this.accepting) {
      this.producer.startConnecting();
      this.consumer.start();
    }
    return Promise.resolve();
  }

  status(): RequesterStatus {
    const refusal = this.notReady();
    return {
      ready: refusal === undefined,
      partitions: this.consumer.readyPartitions().size === 0 ? 0 : this.consumer.assignedCount(),
      expectedPartitions: this.options.expectedPartitions,
      reason: refusal?.reason,
      code: refusal?.code,
      pending: this.pending.size,
    };
  }

  queued(): { readonly messages: number; readonly bytes: number } {
    return this.producer.queued();
  }

  request(envelope: RequestEnvelope, payload: Buffer, { key, onWorked }: RequestOptions = {}): Promise<Buffer> {
    return tracedRequest(
      envelope,
      (traced) =>
        new Promise((resolve, reject) => {
          this.begin(traced, payload, key, (error, answer, workedMs) => {
            if (workedMs !== undefined) onWorked?.(workedMs);
            if (error === undefined) resolve(answer);
            else reject(error);
          });
        }),
    );
  }

  submit(envelope: RequestEnvelope, payload: Buffer, settled: RequestSettled): void {
    this.begin(envelope, payload, undefined, settled);
  }

  private begin(envelope: RequestEnvelope, payload: Buffer, key: string | undefined, settled: RequestSettled): void {
    const refusal = this.refusal(envelope, payload);
    if (refusal !== undefined) {
      settled(refusal, NO_ANSWER);
      return;
    }
    this.counter += 1;
    const request: PendingRequest = {
      correlationId: this.counter.toString(36),
      envelope,
      payload,
      key,
      replyPartition: this.replyPartitions.next(),
      settled,
    };
    this.pending.add(request);
    this.send(request);
  }

  stop({ drainMs = DEFAULT_DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    this.stopped ??= this.drainAndClose(drainMs);
    return this.stopped;
  }

  private get maxPending(): number {
    return this.options.maxPending ?? DEFAULT_MAX_PENDING;
  }

  private get maxPendingBytes(): number {
    return this.options.maxPendingBytes ?? DEFAULT_MAX_PENDING_BYTES;
  }

  private createConsumer(settings: BrokerSettings, log: BrokerLog): GroupConsumer {
    const { options } = this;
    return new GroupConsumer({
      settings,
      log,
      groupId: this.groupId,
      topic: this.topic,
      self: this.self,
      begin: 'end',
      chooseReads: chooseReplyPartitions(options.group === 'gatewayReplies' ? 'ascending' : 'descending'),
      ...replyTiming(options),
      goneAfterMs: UNAVAILABLE_AFTER_MS,
      retry: options.retry ?? DEFAULT_RETRY,
      hooks: {
        onAssigned: (change) => this.reassigned(change),
        onReadiness: () => this.readinessChanged(),
        onMessages: (delivery) => this.receive(delivery),
        onGone: (reason) => this.brokerGone(reason),
        signal: (partitions) => this.signal(partitions),
        onEvent: (event) => options.onEvent?.(event),
      },
    });
  }

  private notReady(): Refusal | undefined {
    if (!this.accepting) return { code: 'shutting_down', reason: 'The service is stopping.' };
    const found = this.consumer.partitionCount();
    const { expectedPartitions } = this.options;
    // Refused at once: no answer could arrive (decision 27).
    if (found !== undefined && found < expectedPartitions)
      return { code: 'too_few_reply_partitions', reason: tooFewPartitions(this.topic, found, expectedPartitions) };
    const reason = this.whyUnavailable();
    return reason === undefined ? undefined : { code: 'broker_unavailable', reason };
  }

  private whyUnavailable(): string | undefined {
    if (this.consumer.readyPartitions().size === 0) {
      const why = this.consumer.reason();
      if (why !== undefined) return `The consumer of "${this.topic}" is not in its group: ${why}.`;
      return `The consumer of "${this.topic}" has joined its group but owns no partition that is ready.`;
    }
    if (this.producer.isAvailable()) return undefined;
    return `The message broker cannot be reached: ${this.producer.reason() ?? 'the connection was lost'}.`;
  }

  private refusal({ deadline }: RequestEnvelope, payload: Buffer): ServiceError | undefined {
    const refusal = this.notReady();
    if (refusal?.code === 'shutting_down') return new ServiceError(refusal.code, refusal.reason);
    const limit = this.largestPayload;
    if (payload.length > limit) {
      const sentence = `The request has ${payload.length} bytes; the message broker carries at most ${limit}.`;
      return new ServiceError('payload_too_large', sentence, { limit_bytes: limit });
    }
    if (refusal !== undefined) return new ServiceError(refusal.code, refusal.reason);
    if (deadline <= Date.now()) return deadlineExceeded();
    const isFull = this.pending.size >= this.maxPending || this.pending.bytes + payload.length > this.maxPendingBytes;
    if (!isFull) return undefined;
    return new ServiceError('overloaded', 'Too many requests are in flight.', { retry_after_seconds: 1 });
  }

  private send(request: PendingRequest): void {
    const { envelope, payload, key, correlationId, replyPartition } = request;
    if (replyPartition === undefined) return;
    const headers = encodeSolutionRequest({ ...envelope, correlationId, requester: this.self, replyPartition });
    const message = {
      topic: 'solution',
      partition: undefined,
      headers,
      value: payload,
      deadline: envelope.deadline,
    } as const;
    this.producer.submit(key === undefined ? message : { ...message, key }, (error) => {
      // An expired message needs no handling here: the request expires with it.
      if (error === undefined || error.code === 'deadline_exceeded') return;
      this.pending.take(correlationId)?.settled(error, NO_ANSWER);
    });
  }

  private receive({ messages, took }: PartitionDelivery): void {
    for (const message of messages) {
      this.receiveOne(message);
      took(message);
    }
  }

  private receiveOne({ headers = {}, value }: KafkaMessage): void {
    if (!this.isOurs(headers)) {
      if (headers['correlation-id'] !== undefined && this.isOfGroup(headers))
        this.options.onEvent?.({ type: 'reply_moved' });
      return;
    }
    const correlationId = headerText(headers, 'correlation-id');
    if (correlationId === undefined) {
      this.options.onEvent?.({ type: 'reply_malformed' });
      return;
    }
    const request = this.pending.take(correlationId);
    if (request === undefined) {
      this.options.onEvent?.({ type: this.pending.hasExpired(correlationId) ? 'reply_late' : 'reply_unknown' });
      return;
    }
    const { errorCode, workedMs } = decodeSolutionResponse(headers);
    const bytes = value ?? Buffer.alloc(0);
    request.settled(errorCode === undefined ? undefined : decodeSolutionFailure(errorCode, bytes), bytes, workedMs);
  }

  private isOurs(headers: ReceivedHeaders): boolean {
    return headerText(headers, 'requester') === this.self;
  }

  /** Whether an answer is for a member of this group; other groups read the same topic. */
  private isOfGroup(headers: ReceivedHeaders): boolean {
    return headerText(headers, 'requester')?.startsWith(requesterPrefix(this.options.group)) === true;
  }

  private reassigned({ lost }: AssignmentChange): void {
    if (lost.length === 0) return;
    const gone = new Set(lost);
    for (const request of this.pending.values())
      if (request.replyPartition !== undefined && gone.has(request.replyPartition)) request.replyPartition = undefined;
  }

  private readinessChanged(): void {
    this.replyPartitions.set(this.consumer.readyPartitions());
    this.resendHomeless();
  }

  /** Sends requests again whose answers would arrive on a partition that this process no longer owns. */
  private resendHomeless(): void {
    let count = 0;
    for (const request of this.pending.values()) {
      if (request.replyPartition !== undefined) continue;
      request.replyPartition = this.replyPartitions.next();
      if (request.replyPartition === undefined) return;
      count += 1;
      this.send(request);
    }
    if (count > 0) this.options.onEvent?.({ type: 'requests_resent', count });
  }

  private expired(request: PendingRequest): void {
    this.options.onEvent?.({ type: 'request_expired' });
    request.settled(deadlineExceeded(), NO_ANSWER);
  }

  private brokerGone(reason: string): void {
    const sentence = `The message broker cannot be reached: ${reason === '' ? 'the connection was lost' : reason}.`;
    for (const request of this.pending.takeAll())
      request.settled(new ServiceError('broker_unavailable', sentence), NO_ANSWER);
  }

  private signal(partitions: number): void {
    const headers = rejoinSignal(this.groupId, this.self);
    const deadline = Date.now() + SIGNAL_LIFE_MS;
    for (let partition = 0; partition < partitions; partition += 1) {
      const message = { topic: 'solutionResponse', partition, headers, value: Buffer.alloc(0), deadline } as const;
      this.producer.submit(message, () => undefined);
    }
  }

  private async drainAndClose(drainMs: number): Promise<void> {
    this.accepting = false;
    await settledWithin(this.pending.empty(), drainMs);
    const sentence = 'The service stopped before the answer arrived.';
    for (const request of this.pending.takeAll())
      request.settled(new ServiceError('shutting_down', sentence), NO_ANSWER);
    this.pending.close();
    await this.consumer.stop();
    await this.producer.stop({ drainMs: STOP_DRAIN_MS });
  }
}

/** Prefix of the names of all members of a group, by which each recognises the others' answers. */
const requesterPrefix = (group: ConsumerGroupKey): string => `${consumerGroups[group]}.`;

const deadlineExceeded = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'No worker answered before the deadline of the request.');

/** Makes a requester that has not been started. */
export const createRequester = (settings: BrokerSettings, log: BrokerLog, options: RequesterOptions): Requester =>
  new BrokerRequester(settings, log, options);
