import { setTimeout as sleep } from 'node:timers/promises';
import {
  consumerGroupName,
  decodeSolutionRequest,
  encodeSolutionFailure,
  encodeSolutionResponse,
  type ErrorCode,
  type ReceivedHeaders,
  ServiceError,
  type SolutionRequestEnvelope,
  topicName,
} from '@decision/contracts';
import { settledWithin } from '@decision/waiting';
import type { KafkaMessage } from 'kafkajs';
import { brokerErrorText } from '../connection/broker-error';
import { GroupConsumer } from '../consumer/group-consumer';
import type { PartitionDelivery } from '../consumer/group-consumer-options';
import { isRejoinSignal, rejoinSignal } from '../consumer/rejoin-signals';
import { createProducer } from '../producer/batching-producer';
import { tracedHandling } from '../request-spans';
import { type BrokerLog, type BrokerSettings, DEFAULT_RETRY } from '../settings';
import { BackgroundCommits } from './background-commits';
import { Lanes } from './lanes';
import { readReplyAddress, type ReplyAddress } from './reply-address';
import type { Responder, ResponderEvent, ResponderOptions, ResponderStatus } from './responder-options';
import { Room } from './room';
import { StartPositions } from './start-positions';
import { Turn } from './turn';

interface Job {
  readonly message: KafkaMessage;
  readonly bytes: number;
  readonly acceptedAt: number;
  /** Time from its acceptance to its answer, ms; undefined before the answer, and if it was not handled. */
  workedMs?: number;
  readonly finish: () => void;
}

const MIB = 1024 * 1024;
const DEFAULT_PARTITION_CONCURRENCY = 4;
const DEFAULT_MAX_QUEUED = 1_000;
const DEFAULT_MAX_QUEUED_BYTES = 128 * MIB;
const MAX_REPLY_BYTES = 128 * MIB;
const DEFAULT_DRAIN_MS = 10_000;
/** How often a delivery that waits for room checks the heartbeat, ms. */
const WAIT_MS = 500;
/** Deadline for sending the answer to a request whose own deadline is unreadable, ms. */
const MALFORMED_REPLY_LIFE_MS = 10_000;
const STOP_COMMIT_MS = 2_000;
const STOP_DRAIN_MS = 1_000;
const SIGNAL_LIFE_MS = 2_000;

class BrokerResponder implements Responder {
  private readonly groupId: string;
  private readonly topic: string;
  private readonly producer: ReturnType<typeof createProducer>;
  private readonly consumer: GroupConsumer;
  private readonly commits: BackgroundCommits;
  private readonly starts: StartPositions;
  private readonly requests: Room;
  private readonly replies = new Room({ items: Infinity, bytes: MAX_REPLY_BYTES });
  private readonly lanes: Lanes<Job>;
  private owned: readonly number[] = [];
  private draining = false;
  private stopped: Promise<void> | undefined;

  constructor(
    settings: BrokerSettings,
    private readonly log: BrokerLog,
    private readonly options: ResponderOptions,
  ) {
    this.topic = topicName(settings.topicPrefix, 'solution');
    this.groupId = consumerGroupName(settings.topicPrefix, options.group);
    this.requests = new Room({
      items: options.maxQueued ?? DEFAULT_MAX_QUEUED,
      bytes: options.maxQueuedBytes ?? DEFAULT_MAX_QUEUED_BYTES,
    });
    this.lanes = new Lanes({
      concurrency: options.partitionConcurrency ?? DEFAULT_PARTITION_CONCURRENCY,
      run: (job) => this.answer(job),
      gate: () => (this.replies.isFull() ? this.replies.hasRoom() : undefined),
    });
    // The rooms bound the queues, so the producer itself refuses nothing.
    this.producer = createProducer(settings, log, {
      topics: ['solutionResponse', 'solution'],
      maxQueuedMessages: Infinity,
      maxQueuedBytes: Infinity,
      retry: options.retry,
      onEvent: options.onEvent,
    });
    this.consumer = this.createConsumer(settings);
    const commitFailed = (error: unknown): void =>
      options.onEvent?.({ type: 'commit_failed', reason: brokerErrorText(error) });
    this.commits = new BackgroundCommits((offsets) => this.consumer.commit(offsets), commitFailed);
    this.starts = new StartPositions({
      commits: this.commits,
      find: (partitions) => this.consumer.uncommittedStarts(partitions),
      retry: options.retry ?? DEFAULT_RETRY,
      onFailed: commitFailed,
    });
  }

  start(): Promise<void> {
    if (!this.draining) {
      this.producer.startConnecting();
      this.consumer.start();
    }
    return Promise.resolve();
  }

  status(): ResponderStatus {
    const reason = this.notReady();
    return {
      ready: reason === undefined,
      partitions: this.owned.length,
      lastHeartbeatAt: this.consumer.lastHeardAt(),
      queued: this.requests.items,
      reason,
    };
  }

  async lag(): Promise<number> {
    const { owned, consumer, commits } = this;
    if (owned.length === 0) return this.requests.items;
    const untouched = owned.filter((partition) => commits.reached(partition) === undefined);
    if (untouched.length > 0)
      for (const [partition, offset] of await consumer.startOffsets(untouched)) commits.startsAt(partition, offset);
    const ends = await consumer.endOffsets(owned);
    let messages = this.requests.items;
    for (const [partition, end] of ends) messages += Math.max(0, end - (commits.reached(partition) ?? end));
    return messages;
  }

  stop({ drainMs = DEFAULT_DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    this.stopped ??= this.drainAndClose(drainMs);
    return this.stopped;
  }

  private createConsumer(settings: BrokerSettings): GroupConsumer {
    const { options, log } = this;
    return new GroupConsumer({
      settings,
      log,
      groupId: this.groupId,
      topic: this.topic,
      self: options.workerId,
      begin: 'committed',
      sessionTimeoutMs: options.sessionTimeoutMs,
      heartbeatIntervalMs: options.heartbeatIntervalMs,
      goneAfterMs: options.sessionTimeoutMs,
      retry: options.retry ?? DEFAULT_RETRY,
      hooks: {
        onAssigned: ({ owned, gained, lost }) => {
          this.owned = owned;
          this.commits.end(lost);
          this.commits.begin(gained);
          this.starts.assigned();
        },
        onRebalancing: () => void this.commitAll(),
        onMessages: (delivery) => this.take(delivery),
        onGone: () => undefined,
        signal: (partitions) => {
          this.signal(partitions);
        },
        onEvent: (event) => options.onEvent?.(event),
      },
    });
  }

  private notReady(): string | undefined {
    if (this.draining) return 'The service is stopping.';
    const why = this.consumer.reason();
    if (why !== undefined) return `The consumer of "${this.topic}" is not in its group: ${why}.`;
    const producing = this.producer.reason();
    return producing === undefined ? undefined : `The message broker cannot be reached: ${producing}.`;
  }

  /** Accepts messages as room allows; waits, with heartbeats, while there is none. */
  private async take({ partition, messages, took, heartbeat, isRunning }: PartitionDelivery): Promise<void> {
    for (const message of messages) {
      while (this.requests.isFull() && isRunning() && !this.draining) {
        await Promise.race([this.requests.hasRoom(), sleep(WAIT_MS)]);
        await heartbeat();
      }
      if (!isRunning() || this.draining) return;
      took(message);
      if (isRejoinSignal(message.headers ?? {})) {
        this.commits.accept(partition, Number(message.offset))();
        continue;
      }
      const bytes = message.value?.length ?? 0;
      this.requests.enter(bytes);
      const finished = this.commits.accept(partition, Number(message.offset));
      const finish = (): void => {
        this.requests.leave(bytes);
        const unfinished = this.options.beforeCommit?.();
        if (unfinished === undefined) finished();
        else void unfinished.then(finished);
      };
      this.lanes.add(partition, { message, bytes, acceptedAt: performance.now(), finish });
    }
  }

  /** Answers one request; returns a promise only if the handler did. */
  private answer(job: Job): Promise<void> | undefined {
    const { headers = {}, value } = job.message;
    const envelope = this.readEnvelope(job, headers);
    if (envelope === undefined) return undefined;
    if (envelope.deadline <= Date.now()) {
      this.emit({ type: 'request_expired' });
      job.finish();
      return undefined;
    }
    const begunAt = performance.now();
    const succeed = (result: Buffer): void => {
      this.answered(job, begunAt, undefined);
      this.reply(job, envelope, result);
    };
    const fail = (error: unknown): void => {
      const failure = this.expectedFailure(envelope, error);
      this.answered(job, begunAt, failure.code);
      this.replyFailure(job, envelope, failure);
    };
    const turn = new Turn();
    try {
      const outcome = tracedHandling(envelope, begunAt - job.acceptedAt, (traced) =>
        this.options.handle(traced, value ?? Buffer.alloc(0), turn.end),
      );
      if (!Buffer.isBuffer(outcome)) return turn.endsWith(outcome.then(succeed, fail));
      succeed(outcome);
    } catch (error) {
      fail(error);
    }
    return undefined;
  }

  private readEnvelope(job: Job, headers: ReceivedHeaders): SolutionRequestEnvelope | undefined {
    try {
      return decodeSolutionRequest(headers);
    } catch (error) {
      const address = readReplyAddress(headers, Date.now() + MALFORMED_REPLY_LIFE_MS);
      this.emit({ type: 'request_malformed', answered: address !== undefined });
      const sentence = error instanceof ServiceError ? error.message : 'The envelope of the request cannot be read.';
      if (address === undefined) job.finish();
      else this.replyFailure(job, address, new ServiceError('internal_error', sentence));
      return undefined;
    }
  }

  private expectedFailure({ requestId, versionId }: SolutionRequestEnvelope, error: unknown): ServiceError {
    if (error instanceof ServiceError) return error;
    this.log.error({ err: error, requestId, versionId }, 'A request failed unexpectedly');
    return new ServiceError('internal_error', 'The request failed because of a fault of the service.');
  }

  private answered(job: Job, begunAt: number, errorCode: ErrorCode | undefined): void {
    const endedAt = performance.now();
    job.workedMs = endedAt - job.acceptedAt;
    this.emit({ type: 'answered', errorCode, waitedMs: begunAt - job.acceptedAt, handledMs: endedAt - begunAt });
  }

  private reply(job: Job, address: ReplyAddress, result: Buffer): void {
    this.produce(job, address, undefined, result, () => {
      const sentence = `The result has ${result.length} bytes, more than a message may have.`;
      this.replyFailure(job, address, new ServiceError('result_too_large', sentence));
    });
  }

  private replyFailure(job: Job, address: ReplyAddress, error: ServiceError): void {
    this.produce(job, address, error.code, encodeSolutionFailure(error), () => {
      this.replyFailure(
        job,
        address,
        new ServiceError(error.code, 'The request failed, with details too large to send.'),
      );
    });
  }

  /** Sends an answer and finishes the job when it is stored or cannot be; `onTooLarge` sends another answer instead. */
  private produce(
    job: Job,
    { correlationId, requester, replyPartition, deadline }: ReplyAddress,
    errorCode: ErrorCode | undefined,
    value: Buffer,
    onTooLarge: () => void,
  ): void {
    const { workerId: worker } = this.options;
    const headers = encodeSolutionResponse({ correlationId, requester, errorCode, worker, workedMs: job.workedMs });
    this.replies.enter(value.length);
    this.producer.submit(
      { topic: 'solutionResponse', partition: replyPartition, headers, value, deadline },
      (error) => {
        this.replies.leave(value.length);
        if (error === undefined) job.finish();
        else if (error.code === 'payload_too_large') onTooLarge();
        else this.replyLost(job, error.code);
      },
    );
  }

  /** Handles an answer that will not be sent. If stopping cut it off, the job stays unfinished: another member answers. */
  private replyLost(job: Job, code: ErrorCode): void {
    this.emit({ type: 'reply_lost', code });
    if (code === 'shutting_down') this.requests.leave(job.bytes);
    else job.finish();
  }

  private signal(partitions: number): void {
    const headers = rejoinSignal(this.groupId, this.options.workerId);
    const deadline = Date.now() + SIGNAL_LIFE_MS;
    for (let partition = 0; partition < partitions; partition += 1) {
      this.producer.submit(
        { topic: 'solution', partition, headers, value: Buffer.alloc(0), deadline },
        () => undefined,
      );
    }
  }

  private async drainAndClose(drainMs: number): Promise<void> {
    this.draining = true;
    this.starts.close();
    this.consumer.pause();
    await settledWithin(this.requests.isEmpty(), drainMs);
    await settledWithin(this.commitAll(), STOP_COMMIT_MS);
    this.commits.close();
    await this.consumer.stop();
    await this.producer.stop({ drainMs: STOP_DRAIN_MS });
  }

  /** Commits finished work, and then the work that is about to finish. */
  private async commitAll(): Promise<void> {
    const unfinished = this.options.beforeCommit?.();
    await this.commits.flush();
    if (unfinished === undefined) return;
    await unfinished;
    await this.commits.flush();
  }

  private emit(event: ResponderEvent): void {
    this.options.onEvent?.(event);
  }
}

/** Makes a responder that has not been started. */
export const createResponder = (settings: BrokerSettings, log: BrokerLog, options: ResponderOptions): Responder =>
  new BrokerResponder(settings, log, options);
