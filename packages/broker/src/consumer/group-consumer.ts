import { fixedLimits, ServiceError } from '@decision/contracts';
import { backOffMs } from '@decision/waiting';
import type { KafkaMessage } from 'kafkajs';
import { type Claim, NO_CLAIM } from './sticky-assigner';
import { brokerErrorText } from '../connection/broker-error';
import { type ConsumerSession, createConsumerSession, type Delivery, FETCH_WAIT_MS } from './consumer-session';
import type { GroupConsumerOptions } from './group-consumer-options';
import { assignmentChange, OwnedPartitions } from './owned-partitions';
import { RejoinSignals } from './rejoin-signals';
import { SilenceWatch } from './silence-watch';
import { unreadableReason } from '../wire/fetched-records';
import { Timers } from './timers';

/** How long the rest of the group waits for a dead member, ms beyond its heartbeat interval. */
const REBALANCE_MARGIN_MS = 6_000;

/**
 * A member of a consumer group that lives until it is stopped, through any number of sessions. {@link OwnedPartitions} tracks its partitions and
 * positions. A session that ends, crashes or falls silent is replaced, with back-off, for ever.
 */
export class GroupConsumer {
  private session: ConsumerSession | undefined;
  private claim: Claim = NO_CLAIM;
  /** Partitions that the group has assigned to this member, read or not. */
  private assigned: readonly number[] = [];
  private readonly timers = new Timers();
  private readonly owned: OwnedPartitions;
  private readonly rejoinSignals: RejoinSignals;
  private readonly silence: SilenceWatch;
  private joining = true;
  private formerMemberId: string | undefined;
  private failures = 0;
  private why: string | undefined = 'it has not been started';
  private partitions: number | undefined;
  private stopped = false;
  private goneTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: GroupConsumerOptions) {
    const { begin, chooseReads, log, retry, hooks, groupId, self } = options;
    const { timers } = this;
    this.owned = new OwnedPartitions({
      ...{ begin, chooseReads, log, retry, timers },
      onReadiness: () => hooks.onReadiness?.(),
    });
    this.rejoinSignals = new RejoinSignals({ groupId, self, timers, signal: () => this.signalAll() });
    this.silence = new SilenceWatch({
      normalSilenceMs: () => this.normalSilenceMs(),
      onSilent: (reason) => this.fellSilent(reason),
    });
  }

  /** Starts; runs until {@link stop}. */
  start(): void {
    if (this.silence.isRunning() || this.stopped) return;
    this.silence.start();
    this.openSession();
  }

  /** Partitions whose messages arrive, with a position from which no message will be missed. */
  readyPartitions(): ReadonlySet<number> {
    return this.owned.ready();
  }

  /** Number of partitions that the group has assigned to this member, read or not. */
  assignedCount(): number {
    return this.assigned.length;
  }

  /** Number of the topic's partitions, if known. */
  partitionCount(): number | undefined {
    return this.partitions;
  }

  /** Why the member is not in its group, as a clause; undefined when it is. */
  reason(): string | undefined {
    return this.why;
  }

  /** Epoch ms at which the broker last answered; 0 if never. */
  lastHeardAt(): number {
    return this.silence.lastHeardAt();
  }

  isOwned(partition: number): boolean {
    return this.session !== undefined && this.owned.has(partition);
  }

  /** Commits offsets of the partitions that this member owns; ignores others. Rejects with the library's error. */
  async commit(offsets: ReadonlyMap<number, number>): Promise<void> {
    const own = new Map([...offsets].filter(([partition]) => this.isOwned(partition)));
    if (own.size > 0) await this.session?.commit(own);
  }

  /** Offsets after the last message of partitions. Rejects with the library's error, and if there is no session. */
  async endOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    return this.requireSession().endOffsets(partitions);
  }

  /**
   * Offsets from which a member without a position of its own reads partitions: the group's committed offsets, otherwise those of the oldest
   * messages. Rejects as {@link endOffsets} does.
   */
  async startOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const committed = await this.committedOffsets(partitions);
    return new Map([...committed, ...(await this.oldestWithout(committed, partitions))]);
  }

  /** Offsets that the group has committed for partitions. Rejects as {@link endOffsets} does. */
  async committedOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    return this.requireSession().committedOffsets(partitions);
  }

  /**
   * The offsets at which the group starts to read the partitions without a committed offset; with `begin: 'committed'` those of the oldest
   * messages. Rejects as {@link endOffsets} does.
   */
  async uncommittedStarts(partitions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    return this.oldestWithout(await this.committedOffsets(partitions), partitions);
  }

  /** Offsets of the oldest messages of the partitions without a committed offset. */
  private async oldestWithout(
    committed: ReadonlyMap<number, number>,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, number>> {
    const without = partitions.filter((partition) => !committed.has(partition));
    return without.length === 0 ? new Map() : this.requireSession().oldestOffsets(without);
  }

  /** Stops fetching, but stays in the group. */
  pause(): void {
    this.session?.pause();
  }

  /** Leaves the group. Idempotent. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    this.silence.stop();
    clearTimeout(this.goneTimer);
    this.timers.clear();
    this.owned.sessionEnded();
    const { session } = this;
    this.session = undefined;
    this.why = 'it has been stopped';
    await session?.stop();
    if (session?.memberId() !== undefined) this.signalOthers();
  }

  private requireSession(): ConsumerSession {
    if (this.session === undefined) throw new ServiceError('broker_unavailable', 'The consumer is not in its group.');
    return this.session;
  }

  private openSession(): void {
    const session = this.createSession();
    this.session = session;
    this.joining = true;
    this.silence.restart();
    this.rejoinSignals.opened(() => session === this.session);
    session.run().catch((error: unknown) => {
      session.discard();
      this.sessionEnded(session, error);
    });
  }

  private rebalanceTimeoutMs(): number {
    return Math.min(this.options.heartbeatIntervalMs + REBALANCE_MARGIN_MS, this.options.sessionTimeoutMs);
  }

  private createSession(): ConsumerSession {
    const { settings, log, groupId, topic, sessionTimeoutMs, heartbeatIntervalMs, begin } = this.options;
    const { metadataRefreshMs = fixedLimits.metadataRefreshMs } = this.options;
    const session: ConsumerSession = createConsumerSession({
      settings,
      log,
      groupId,
      topic,
      sessionTimeoutMs,
      heartbeatIntervalMs,
      rebalanceTimeoutMs: this.rebalanceTimeoutMs(),
      metadataRefreshMs,
      fromBeginning: begin === 'committed',
      formerMemberId: this.formerMemberId,
      hooks: {
        claim: () => this.claim,
        onJoined: (assigned) => {
          if (session === this.session) this.joined(session, assigned);
        },
        onRebalancing: () => {
          if (session === this.session) this.rebalancing();
        },
        onHeard: (fetch) => {
          if (session === this.session) this.heard(fetch);
        },
        onBatch: (delivery) => this.deliver(session, delivery),
        onEnded: (reason) => {
          this.sessionEnded(session, reason);
        },
      },
    });
    return session;
  }

  private joined(session: ConsumerSession, assigned: readonly number[]): void {
    this.failures = 0;
    this.why = undefined;
    this.joining = false;
    this.partitions = session.partitionCount();
    this.formerMemberId = session.memberId();
    clearTimeout(this.goneTimer);
    this.goneTimer = undefined;
    this.timers.clear();
    this.rejoinSignals.joined();
    const { gained, lost } = assignmentChange(this.assigned, assigned);
    this.assigned = assigned;
    const { hooks } = this.options;
    const change = this.owned.assign(assigned, session);
    // The partitions that are read come first: when one of them moves, the requests that it would answer are sent again.
    this.claim = { owned: [...change.owned, ...assigned.filter((one) => !this.owned.has(one))], since: Date.now() };
    hooks.onEvent({ type: 'rebalanced', owned: assigned.length, gained: gained.length, lost: lost.length });
    hooks.onAssigned(change);
    hooks.onReadiness?.();
  }

  private heard(fetch: boolean): void {
    this.silence.heard();
    if (fetch && !this.joining) this.owned.fetchAnswered();
  }

  private rebalancing(): void {
    this.joining = true;
    this.silence.restart();
    this.options.hooks.onRebalancing?.();
    this.rejoinSignals.rebalancing(() => this.signalOthers());
  }

  /** Tells the other members to rejoin. A member that owns every partition has nobody to signal. */
  private signalOthers(): void {
    if (this.partitions !== undefined && this.assigned.length < this.partitions)
      this.options.hooks.signal(this.partitions);
  }

  /** Tells every other member to rejoin, even before this one has joined for the first time. */
  private signalAll(): void {
    const partitions = this.session === undefined ? 0 : countPartitions(this.session);
    if (partitions > 0) this.options.hooks.signal(partitions);
  }

  private async deliver(session: ConsumerSession, delivery: Delivery): Promise<void> {
    const { messages, partition } = delivery;
    this.tellUnreadable(delivery);
    let lastTaken: KafkaMessage | undefined;
    try {
      await this.options.hooks.onMessages({
        partition,
        messages,
        heartbeat: () => delivery.heartbeat(),
        isRunning: () => delivery.isRunning() && !this.stopped,
        took: (message) => {
          lastTaken = message;
        },
      });
    } finally {
      if (lastTaken !== undefined && session === this.session) {
        this.owned.took(partition, Number(lastTaken.offset));
        delivery.resolve(lastTaken.offset);
      }
    }
    this.rejoinSignals.throwIfSignalled(messages);
  }

  private tellUnreadable({ messages, partition }: Delivery): void {
    const { topic, log, hooks } = this.options;
    for (const message of messages) {
      const reason = unreadableReason(message);
      if (reason === undefined) continue;
      log.error(
        { topic, partition, offset: message.offset, reason },
        'A batch of messages is passed over: it cannot be read',
      );
      hooks.onEvent({ type: 'batch_unreadable', reason });
    }
  }

  private sessionEnded(session: ConsumerSession, error: unknown): void {
    if (session !== this.session || this.stopped) return;
    const reason = brokerErrorText(error);
    this.session = undefined;
    this.owned.sessionEnded();
    this.failures += 1;
    this.why = reason;
    this.timers.clear();
    if (this.failures === 1) this.sessionLost(reason);
    this.timers.later(backOffMs(this.failures, this.options.retry), () => {
      if (!this.stopped) this.openSession();
    });
  }

  private sessionLost(reason: string): void {
    const { groupId } = this.options;
    this.options.hooks.onEvent({ type: 'consumer_lost', reason });
    this.options.log.warn({ reason, groupId }, 'The consumer is not in its group and keeps trying to join');
    if (this.options.begin === 'committed') this.forget();
    this.goneTimer ??= setTimeout(() => {
      this.forget();
      this.options.hooks.onGone(reason);
    }, this.options.goneAfterMs);
  }

  /** Gives up the owned partitions. The claim remains: this member would like the same partitions again. */
  private forget(): void {
    this.assigned = [];
    const change = this.owned.forget();
    if (change.lost.length > 0) this.options.hooks.onAssigned(change);
    this.options.hooks.onReadiness?.();
  }

  private fellSilent(reason: Error): void {
    const { session } = this;
    if (session === undefined) return;
    session.discard();
    this.sessionEnded(session, reason);
  }

  private normalSilenceMs(): number {
    if (this.joining) return this.rebalanceTimeoutMs();
    return this.owned.size > 0 ? FETCH_WAIT_MS : this.options.heartbeatIntervalMs;
  }
}

/** Number of the topic's partitions if the session knows it, else 0. */
const countPartitions = (session: ConsumerSession): number => {
  try {
    return session.partitionCount();
  } catch {
    return 0;
  }
};
