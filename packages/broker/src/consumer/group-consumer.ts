import type { KafkaMessage } from 'kafkajs';
import { type Claim, NO_CLAIM } from '../assigner/member-claim';
import { type BackOff, backOffMs } from '../connection/back-off';
import { brokerErrorText } from '../connection/broker-error';
import type { BrokerLog, BrokerSettings } from '../settings';
import { type AssignmentChange, assignmentChange } from './assignment-change';
import {
  type ConsumerSession,
  createConsumerSession,
  type Delivery,
  FETCH_WAIT_MS,
  rejoinError,
} from './consumer-session';
import { isRejoinSignalFor } from './rejoin-signal';

/** What a consumer tells about itself, for metrics. */
export type ConsumerEvent =
  /** The group has rebalanced; the numbers are of partitions. */
  | { readonly type: 'rebalanced'; readonly owned: number; readonly gained: number; readonly lost: number }
  | { readonly type: 'consumer_lost'; readonly reason: string };

/** Messages of one partition. Rejoin signals are among them: whoever reads them passes over these. */
export interface PartitionDelivery {
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** To be called for each message, in order, when it has been taken over; what was not is fetched again. */
  readonly took: (message: KafkaMessage) => void;
  /** To be called while waiting inside a delivery. Rejects when the group is rebalancing: let that pass through. */
  readonly heartbeat: () => Promise<void>;
  readonly isRunning: () => boolean;
}

export interface GroupConsumerHooks {
  /** What this member owns has changed. */
  onAssigned(change: AssignmentChange): void;
  /** The group is about to rebalance: the last moment to commit what others would otherwise do again. */
  onRebalancing?(): void;
  onMessages(delivery: PartitionDelivery): Promise<void> | void;
  /** More partitions are ready, or fewer. */
  onReadiness?(): void;
  /** The session has been gone for `goneAfterMs`. */
  onGone(reason: string): void;
  /** Writes a rejoin signal to each of so many partitions. */
  signal(partitions: number): void;
  onEvent(event: ConsumerEvent): void;
}

export interface GroupConsumerOptions {
  readonly settings: BrokerSettings;
  readonly log: BrokerLog;
  /** Names on the cluster. */
  readonly groupId: string;
  readonly topic: string;
  /** Name of this member, one per process. */
  readonly self: string;
  /**
   * Where a partition that this member did not own before is begun: at what the group has committed (or the oldest message), or
   * at the end it has when it is assigned.
   */
  readonly begin: 'committed' | 'end';
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** How long the session may be away before the member counts as gone, ms. */
  readonly goneAfterMs: number;
  readonly retry: BackOff;
  readonly hooks: GroupConsumerHooks;
}

/** How long the rest of the group waits for a member that died, ms beyond its heartbeat interval. */
const REBALANCE_MARGIN_MS = 6_000;
/** Silence beyond what is normal after which the broker counts as lost, and how often that is looked at, ms. */
const SILENCE_MS = 15_000;
const WATCH_MS = 1_000;
/** When a member that is still joining asks the others to hurry, ms after it began. */
const SIGNAL_WHILE_JOINING_MS = [100, 1_000, 4_000] as const;
const SIGNAL_AFTER_NOTICING_MS = 50;
/** Signals this soon after a join were meant for that join, ms. */
const SIGNAL_DEAF_MS = 1_000;

/**
 * A member of a consumer group that lives until it is stopped, through any number of sessions.
 *
 * Invariants. A partition it keeps through a rebalance continues where it was. With `begin: 'end'` a partition is ready only when
 * its position is known as a number and a fetch has been answered since the join, so that nothing written after it was called
 * ready is missed. A session that ends, crashes or falls silent is replaced, with back-off, for ever.
 */
export class GroupConsumer {
  private session: ConsumerSession | undefined;
  private claim: Claim = NO_CLAIM;
  private owned: ReadonlySet<number> = new Set();
  private readonly positions = new Map<number, number>();
  private ready: ReadonlySet<number> = new Set();
  private generation = 0;
  private fetched = false;
  private joining = true;
  private joinedAt = 0;
  private signalled = false;
  private heardAt = 0;
  private quietSince = 0;
  private watchedAt = 0;
  private formerMemberId: string | undefined;
  private failures = 0;
  private why: string | undefined = 'it has not been started';
  private partitions: number | undefined;
  private stopped = false;
  private readonly timers = new Set<NodeJS.Timeout>();
  private watch: NodeJS.Timeout | undefined;
  private goneTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: GroupConsumerOptions) {}

  /** Begins, and goes on until {@link stop}. */
  start(): void {
    if (this.watch !== undefined || this.stopped) return;
    this.watchedAt = Date.now();
    this.watch = setInterval(() => {
      this.checkSilence(Date.now());
    }, WATCH_MS);
    this.openSession();
  }

  /** Partitions whose messages arrive and from whose position nothing will be missed. */
  readyPartitions(): ReadonlySet<number> {
    return this.ready;
  }

  /** Partitions that the topic has, where that is known. */
  partitionCount(): number | undefined {
    return this.partitions;
  }

  /** Why the member is not in its group, as a clause; undefined when it is. */
  reason(): string | undefined {
    return this.why;
  }

  /** Epoch ms at which the broker last answered; 0 if never. */
  lastHeardAt(): number {
    return this.heardAt;
  }

  isOwned(partition: number): boolean {
    return this.session !== undefined && this.owned.has(partition);
  }

  /** Commits offsets of partitions that this member owns; others are left out. Rejects with what the library threw. */
  async commit(offsets: ReadonlyMap<number, number>): Promise<void> {
    const own = new Map([...offsets].filter(([partition]) => this.isOwned(partition)));
    if (own.size > 0) await this.session?.commit(own);
  }

  /** Fetches nothing more, but stays in the group. */
  pause(): void {
    this.session?.pause();
  }

  /** Leaves the group. Idempotent. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    clearInterval(this.watch);
    clearTimeout(this.goneTimer);
    this.clearTimers();
    const { session } = this;
    this.session = undefined;
    this.why = 'it has been stopped';
    await session?.stop();
    if (session?.memberId() !== undefined) this.signalOthers();
  }

  private openSession(): void {
    const session = this.createSession();
    this.session = session;
    this.joining = true;
    this.quietSince = Date.now();
    this.hurryOthers(session);
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
    const session: ConsumerSession = createConsumerSession({
      settings,
      log,
      groupId,
      topic,
      sessionTimeoutMs,
      heartbeatIntervalMs,
      rebalanceTimeoutMs: this.rebalanceTimeoutMs(),
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
    const now = Date.now();
    const change = assignmentChange(this.owned, assigned);
    this.generation += 1;
    this.failures = 0;
    this.why = undefined;
    this.joining = false;
    this.joinedAt = now;
    this.signalled = false;
    this.fetched = false;
    this.owned = new Set(assigned);
    this.claim = { owned: assigned, since: now };
    this.partitions = session.partitionCount();
    this.formerMemberId = session.memberId();
    clearTimeout(this.goneTimer);
    this.goneTimer = undefined;
    this.clearTimers();
    this.restorePositions(session, change);
    const { hooks } = this.options;
    hooks.onEvent({
      type: 'rebalanced',
      owned: assigned.length,
      gained: change.gained.length,
      lost: change.lost.length,
    });
    hooks.onAssigned(change);
    hooks.onReadiness?.();
  }

  /** Continues kept partitions where they were, and finds the end of new ones where that is where they begin. */
  private restorePositions(session: ConsumerSession, { owned, lost }: AssignmentChange): void {
    for (const partition of lost) this.positions.delete(partition);
    this.ready = new Set([...this.ready].filter((partition) => this.owned.has(partition)));
    const unknown: number[] = [];
    for (const partition of owned) {
      const position = this.positions.get(partition);
      if (position === undefined) unknown.push(partition);
      else session.seek(partition, position);
    }
    if (this.options.begin === 'end' && unknown.length > 0) void this.beginAtEnd(session, unknown, this.generation, 1);
  }

  private async beginAtEnd(
    session: ConsumerSession,
    partitions: readonly number[],
    generation: number,
    attempt: number,
  ): Promise<void> {
    try {
      const ends = await session.endOffsets(partitions);
      if (generation !== this.generation) return;
      for (const [partition, end] of ends) {
        this.positions.set(partition, end);
        session.seek(partition, end);
      }
      this.promote();
    } catch (error) {
      this.options.log.debug({ reason: brokerErrorText(error) }, 'The ends of new partitions are not known yet');
      this.later(backOffMs(attempt, this.options.retry, Math.random()), () => {
        if (generation === this.generation) void this.beginAtEnd(session, partitions, generation, attempt + 1);
      });
    }
  }

  /** Calls those partitions ready that are. */
  private promote(): void {
    if (!this.fetched) return;
    const isReady = (partition: number): boolean => this.options.begin === 'committed' || this.positions.has(partition);
    this.ready = new Set([...this.owned].filter(isReady));
    this.options.hooks.onReadiness?.();
  }

  private heard(fetch: boolean): void {
    this.heardAt = Date.now();
    this.quietSince = this.heardAt;
    if (!fetch || this.fetched || this.joining) return;
    this.fetched = true;
    this.promote();
  }

  private rebalancing(): void {
    this.joining = true;
    this.quietSince = Date.now();
    this.options.hooks.onRebalancing?.();
    if (this.signalled) return;
    this.later(SIGNAL_AFTER_NOTICING_MS, () => {
      if (this.joining) this.signalOthers();
    });
  }

  /** Asks the other members to rejoin. Whoever owns every partition has no others to ask. */
  private signalOthers(): void {
    if (this.partitions !== undefined && this.owned.size < this.partitions) this.options.hooks.signal(this.partitions);
  }

  private hurryOthers(session: ConsumerSession): void {
    for (const delay of SIGNAL_WHILE_JOINING_MS) {
      this.later(delay, () => {
        if (!this.joining || session !== this.session) return;
        const partitions = countPartitions(session);
        if (partitions > 0) this.options.hooks.signal(partitions);
      });
    }
  }

  private async deliver(session: ConsumerSession, delivery: Delivery): Promise<void> {
    const { messages, partition } = delivery;
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
        this.positions.set(partition, Number(lastTaken.offset) + 1);
        delivery.resolve(lastTaken.offset);
      }
    }
    this.obeySignal(messages);
  }

  /** Throws the error that makes this member rejoin, if it should. */
  private obeySignal(messages: readonly KafkaMessage[]): void {
    const { groupId, self } = this.options;
    if (this.signalled || Date.now() - this.joinedAt < SIGNAL_DEAF_MS) return;
    if (!messages.some(({ headers }) => headers !== undefined && isRejoinSignalFor(headers, groupId, self))) return;
    this.signalled = true;
    throw rejoinError();
  }

  private sessionEnded(session: ConsumerSession, error: unknown): void {
    if (session !== this.session || this.stopped) return;
    const reason = brokerErrorText(error);
    this.session = undefined;
    this.generation += 1;
    this.failures += 1;
    this.why = reason;
    this.clearTimers();
    if (this.failures === 1) this.sessionLost(reason);
    this.later(backOffMs(this.failures, this.options.retry, Math.random()), () => {
      this.openSession();
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

  /** Others may own, and have moved on in, what this member owned. Its claim stays: it would like the same partitions again. */
  private forget(): void {
    const change = assignmentChange(this.owned, []);
    this.positions.clear();
    this.ready = new Set();
    this.owned = new Set();
    if (change.lost.length > 0) this.options.hooks.onAssigned(change);
    this.options.hooks.onReadiness?.();
  }

  private checkSilence(now: number): void {
    // After a pause of this very process (a long computation, a sleeping machine) the broker's answers are still unread.
    const overslept = now - this.watchedAt > 3 * WATCH_MS;
    this.watchedAt = now;
    const { session } = this;
    if (overslept) this.quietSince = now;
    if (session === undefined || now - this.quietSince <= this.normalSilenceMs() + SILENCE_MS) return;
    const seconds = Math.round((now - this.quietSince) / 1_000);
    session.discard();
    this.sessionEnded(session, new Error(`the broker has not answered for ${seconds} seconds`));
  }

  private normalSilenceMs(): number {
    if (this.joining) return this.rebalanceTimeoutMs();
    return this.owned.size > 0 ? FETCH_WAIT_MS : this.options.heartbeatIntervalMs;
  }

  private later(delayMs: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (!this.stopped) work();
    }, delayMs);
    this.timers.add(timer);
  }

  private clearTimers(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }
}

/** The topic's partitions where the session knows them, else 0. */
const countPartitions = (session: ConsumerSession): number => {
  try {
    return session.partitionCount();
  } catch {
    return 0;
  }
};
