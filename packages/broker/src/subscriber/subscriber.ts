import { setTimeout as sleep } from 'node:timers/promises';
import { type ConsumerGroupKey, consumerGroupName, headerText, type TopicKey, topicName } from '@decision/contracts';
import { type BackOffBounds, backOffMs, settledWithin } from '@decision/waiting';
import type { KafkaMessage } from 'kafkajs';
import { brokerErrorText } from '../connection/broker-error';
import { GroupConsumer } from '../consumer/group-consumer';
import type { ConsumerEvent, PartitionDelivery } from '../consumer/group-consumer-options';
import { isRejoinSignal } from '../consumer/rejoin-signals';
import { BackgroundCommits } from '../responder/background-commits';
import { Room } from '../responder/room';
import { GoneMessages } from './gone-messages';
import { TopicProgress } from './topic-progress';
import { type BrokerLog, type BrokerSettings, DEFAULT_RETRY } from '../settings';

/** A message that a subscriber hands over. */
export interface SubscribedMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Epoch ms, according to its producer. */
  readonly writtenAt: number;
  readonly value: Buffer | null;
  /** Text of a header, if the message has it. */
  readonly header: (name: string) => string | undefined;
}

/** Events of a subscriber, for metrics. */
type SubscriberEvent =
  | ConsumerEvent
  /** Messages have been handled; the time is in ms. */
  | { readonly type: 'handled'; readonly messages: number; readonly bytes: number; readonly tookMs: number }
  /** Handling failed and will be retried. */
  | { readonly type: 'handling_failed'; readonly attempt: number }
  | { readonly type: 'commit_failed'; readonly reason: string }
  /** The topic had deleted these messages before this group read them. */
  | { readonly type: 'messages_gone'; readonly messages: number };

type BatchHandler = (messages: readonly SubscribedMessage[]) => Promise<void>;

/** Holds messages until they are stored durably. */
export interface MessageHolder {
  /** Accepts a message; `finish` is called once, when it need not be delivered again. Messages of a partition arrive by ascending offset. */
  readonly accept: (message: SubscribedMessage, finish: () => void) => void;
  /** Others read these partitions now: their new owner receives the messages held of them. */
  readonly lost: (partitions: readonly number[]) => void;
  /** Whether it can finish nothing before more messages arrive: then they are fetched although it holds more than the bounds. Default: never. */
  readonly needsMore?: () => boolean;
}

export interface SubscriberOptions {
  readonly topic: TopicKey;
  readonly group: ConsumerGroupKey;
  /** Part of the group; each part reads the whole topic. Default: the group has no parts. */
  readonly groupPart?: string;
  /** Name of this process among the members of the group. */
  readonly memberName: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** Most messages fetched and not handled. Fetching resumes below half of it. */
  readonly maxQueued: number;
  /** Most bytes of such messages; a single larger one is accepted nevertheless. */
  readonly maxQueuedBytes: number;
  /** Most messages, and bytes, handled at once; a single larger message is handled alone. */
  readonly maxBatch: number;
  readonly maxBatchBytes: number;
  readonly retry?: BackOffBounds;
  /**
   * Handles messages; their offsets are committed once it resolves. Rejections are retried with the same messages, with back-off, without limit:
   * it must also resolve for messages that can never be handled. The same message may be delivered again, here or in another process. A holder
   * instead receives messages as they arrive: it makes its own batches and retries.
   */
  readonly handle: BatchHandler | MessageHolder;
  readonly onEvent?: (event: SubscriberEvent) => void;
}

export interface SubscriberStatus {
  /** Why it is not in its group, a sentence; undefined when it is. */
  readonly reason: string | undefined;
  readonly partitions: number;
  /** Messages, and bytes, fetched and not handled. */
  readonly queued: number;
  readonly queuedBytes: number;
  /** Write time of the oldest of them, epoch ms; undefined if there are none. */
  readonly oldestAt: number | undefined;
}

/** Reads a topic as a member of a group, every message at least once. */
export interface Subscriber {
  /** Starts, and returns at once: it retries an unreachable broker without limit. Idempotent. */
  start(): void;
  status(): SubscriberStatus;
  /** Messages of each owned partition that have been written and not handled. Rejects if the broker cannot be reached. */
  lag(): Promise<ReadonlyMap<number, number>>;
  /**
   * The moment, epoch ms, up to which all messages written to the topic have been handled by any member of the group; undefined until it is
   * known. It changes only with calls: call it every few seconds. Rejects if the broker cannot be reached.
   */
  lookHandledUpTo(): Promise<number | undefined>;
  /** Stops fetching, handles its messages for at most `drainMs` (default 5,000), commits, and leaves the group. Idempotent. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

interface Taken {
  readonly message: SubscribedMessage;
  readonly bytes: number;
  readonly finish: () => void;
}

/** Bytes of a message besides its value. */
const MESSAGE_BYTES = 256;
/** How often a delivery that waits for room checks the heartbeat, ms. */
const WAIT_MS = 500;
const DEFAULT_DRAIN_MS = 5_000;
const STOP_COMMIT_MS = 2_000;

class GroupSubscriber implements Subscriber {
  private readonly topic: string;
  private readonly consumer: GroupConsumer;
  private readonly commits: BackgroundCommits;
  private readonly room: Room;
  /** Offset after the last handled message of each owned partition. */
  private readonly handled = new Map<number, number>();
  private readonly gone: GoneMessages;
  private readonly progress: TopicProgress;
  private queue: Taken[] = [];
  private owned: readonly number[] = [];
  private handling: Promise<void> | undefined;
  private draining = false;
  private readonly cut = new AbortController();
  private stopped: Promise<void> | undefined;

  constructor(
    settings: BrokerSettings,
    log: BrokerLog,
    private readonly options: SubscriberOptions,
  ) {
    const { group, groupPart, memberName, sessionTimeoutMs, heartbeatIntervalMs, retry = DEFAULT_RETRY } = options;
    this.topic = topicName(settings.topicPrefix, options.topic);
    this.room = new Room({ items: options.maxQueued, bytes: options.maxQueuedBytes });
    this.consumer = new GroupConsumer({
      ...{
        settings,
        log,
        groupId: consumerGroupName(settings.topicPrefix, group, groupPart),
        topic: this.topic,
        self: memberName,
      },
      ...{ begin: 'committed', sessionTimeoutMs, heartbeatIntervalMs, goneAfterMs: sessionTimeoutMs, retry },
      hooks: {
        onAssigned: ({ owned, gained, lost }) => {
          this.owned = owned;
          for (const partition of lost) this.handled.delete(partition);
          this.commits.end(lost);
          this.commits.begin(gained);
          this.gone.assigned(gained, lost);
          if (lost.length > 0 && typeof options.handle !== 'function') options.handle.lost(lost);
        },
        onRebalancing: () => void this.commits.flush(),
        onMessages: (delivery) => this.take(delivery),
        onGone: () => undefined,
        // Others read the topic too, so only records are written to it. Members notice at their next heartbeat.
        signal: () => undefined,
        onEvent: (event) => options.onEvent?.(event),
      },
    });
    this.gone = new GoneMessages(
      (partitions) => this.consumer.committedOffsets(partitions),
      (messages) => options.onEvent?.({ type: 'messages_gone', messages }),
    );
    this.progress = new TopicProgress(async () => {
      const partitions = [...Array(this.consumer.partitionCount() ?? 0).keys()];
      const ends = await this.consumer.endOffsets(partitions);
      return { ends, committed: await this.consumer.committedOffsets(partitions) };
    }, Date.now);
    this.commits = new BackgroundCommits(
      (offsets) => this.consumer.commit(offsets),
      (error) => options.onEvent?.({ type: 'commit_failed', reason: brokerErrorText(error) }),
    );
  }

  start(): void {
    if (!this.draining) this.consumer.start();
  }

  status(): SubscriberStatus {
    const why = this.consumer.reason();
    return {
      reason: why === undefined ? undefined : `The consumer of "${this.topic}" is not in its group: ${why}.`,
      partitions: this.owned.length,
      queued: this.room.items,
      queuedBytes: this.room.bytes,
      oldestAt: this.queue.reduce<number | undefined>(
        (oldest, { message }) => (oldest === undefined ? message.writtenAt : Math.min(oldest, message.writtenAt)),
        undefined,
      ),
    };
  }

  async lag(): Promise<ReadonlyMap<number, number>> {
    const ends = await this.consumer.endOffsets(this.owned);
    return new Map(
      [...ends].flatMap(([partition, end]) => {
        const handled = this.handled.get(partition);
        return handled === undefined ? [] : [[partition, Math.max(0, end - handled)] as const];
      }),
    );
  }

  lookHandledUpTo(): Promise<number | undefined> {
    return this.progress.look();
  }

  stop({ drainMs = DEFAULT_DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    this.stopped ??= this.drainAndClose(drainMs);
    return this.stopped;
  }

  /** Accepts messages as room allows; waits, with heartbeats, while there is none. */
  private async take({ partition, messages, took, heartbeat, isRunning }: PartitionDelivery): Promise<void> {
    for (const message of messages) {
      while (this.hasNoRoom() && isRunning() && !this.draining) {
        await Promise.race([this.room.hasRoom(), sleep(WAIT_MS)]);
        await heartbeat();
      }
      if (!isRunning() || this.draining) return;
      took(message);
      this.accept(partition, message);
    }
  }

  private hasNoRoom(): boolean {
    const { handle } = this.options;
    return this.room.isFull() && (typeof handle === 'function' || handle.needsMore?.() !== true);
  }

  private accept(partition: number, message: KafkaMessage): void {
    const offset = Number(message.offset);
    const finished = this.commits.accept(partition, offset);
    this.gone.arrived(partition, offset);
    if (isRejoinSignal(message.headers ?? {})) {
      finished();
      return;
    }
    const bytes = (message.value?.length ?? 0) + MESSAGE_BYTES;
    this.room.enter(bytes);
    const { headers = {}, value, timestamp } = message;
    const taken: Taken = {
      message: {
        ...{ topic: this.topic, partition, offset, writtenAt: Number(timestamp), value },
        header: (name) => headerText(headers, name),
      },
      bytes,
      finish: () => {
        finished();
        this.room.leave(bytes);
        if (this.owned.includes(partition)) this.handled.set(partition, offset + 1);
      },
    };
    const { handle } = this.options;
    if (typeof handle !== 'function') {
      handle.accept(taken.message, taken.finish);
      return;
    }
    this.queue.push(taken);
    this.handling ??= this.handleQueue(handle);
  }

  private async handleQueue(handle: BatchHandler): Promise<void> {
    // The rest of the delivery first: messages that arrived together are handled together.
    await sleep(0);
    while (this.queue.length > 0 && !this.cut.signal.aborted) {
      const batch = this.nextBatch();
      if (!(await this.handleBatch(batch, handle))) break;
      this.queue.splice(0, batch.length);
      for (const { finish } of batch) finish();
    }
    // In the same turn in which the queue was found empty: a later message starts handling again.
    this.handling = undefined;
  }

  private nextBatch(): readonly Taken[] {
    const { maxBatch, maxBatchBytes } = this.options;
    let bytes = 0;
    let count = 0;
    for (const taken of this.queue) {
      bytes += taken.bytes;
      if (count === maxBatch || (count > 0 && bytes > maxBatchBytes)) break;
      count += 1;
    }
    return this.queue.slice(0, count);
  }

  /** Answers whether the batch was handled; false if the subscriber was stopped before. */
  private async handleBatch(batch: readonly Taken[], handle: BatchHandler): Promise<boolean> {
    const { onEvent, retry = DEFAULT_RETRY } = this.options;
    const messages = batch.map(({ message }) => message);
    const bytes = batch.reduce((sum, taken) => sum + taken.bytes, 0);
    for (let attempt = 1; ; attempt += 1) {
      const begunAt = performance.now();
      try {
        await handle(messages);
        onEvent?.({ type: 'handled', messages: batch.length, bytes, tookMs: performance.now() - begunAt });
        return true;
      } catch {
        // The handler reports its own failures; here they are counted.
        onEvent?.({ type: 'handling_failed', attempt });
      }
      await sleep(backOffMs(attempt, retry), undefined, { signal: this.cut.signal }).catch(() => undefined);
      if (this.cut.signal.aborted) return false;
    }
  }

  private async drainAndClose(drainMs: number): Promise<void> {
    this.draining = true;
    this.consumer.pause();
    if (this.handling !== undefined) await settledWithin(this.handling, drainMs);
    this.cut.abort();
    await settledWithin(this.commits.flush(), STOP_COMMIT_MS);
    this.commits.close();
    await this.consumer.stop();
  }
}

/** Makes a subscriber that has not been started. */
export const createSubscriber = (settings: BrokerSettings, log: BrokerLog, options: SubscriberOptions): Subscriber =>
  new GroupSubscriber(settings, log, options);
