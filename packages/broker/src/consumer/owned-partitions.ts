import { type BackOffBounds, backOffMs } from '@decision/waiting';
import { brokerErrorText } from '../connection/broker-error';
import type { BrokerLog } from '../settings';
import type { ConsumerSession } from './consumer-session';
import type { Timers } from './timers';

interface OwnedPartitionsOptions {
  /** Start of consumption of a newly assigned partition; see GroupConsumerOptions. */
  readonly begin: 'committed' | 'end';
  /** See GroupConsumerOptions. Default: all. */
  readonly chooseReads?: ChooseReads | undefined;
  readonly log: BrokerLog;
  readonly retry: BackOffBounds;
  /** Cleared by their owner when the session ends or the group rebalances. */
  readonly timers: Timers;
  /** The number of ready partitions has changed. */
  readonly onReadiness: () => void;
}

/** Methods of a session that are used here. */
type Positioning = Pick<ConsumerSession, 'seek' | 'endOffsets' | 'readOnly'>;

/** Chooses what to read of the assigned partitions, given those of them that were read before. */
export type ChooseReads = (assigned: readonly number[], current: ReadonlySet<number>) => readonly number[];

/**
 * The partitions that one member owns and reads: the offset at which each continues, and which are ready. A partition that is kept through a
 * rebalance continues at its position. With `begin: 'end'` a partition is ready only when its position is a known number and a fetch has been
 * answered since the join.
 */
export class OwnedPartitions {
  private owned: ReadonlySet<number> = new Set();
  private readonly positions = new Map<number, number>();
  private readySet: ReadonlySet<number> = new Set();
  private generation = 0;
  private fetched = false;

  constructor(private readonly options: OwnedPartitionsOptions) {}

  get size(): number {
    return this.owned.size;
  }

  has(partition: number): boolean {
    return this.owned.has(partition);
  }

  /** Partitions whose messages arrive, with a position from which no message will be missed. */
  ready(): ReadonlySet<number> {
    return this.readySet;
  }

  /**
   * The group has assigned these partitions to this member: chooses those that are read, seeks those with a position, and looks up the end of
   * others if needed. Answers how the partitions that are read have changed.
   */
  assign(assigned: readonly number[], session: Positioning): AssignmentChange {
    const reads = this.choose(assigned, session);
    const change = assignmentChange(this.owned, reads);
    this.generation += 1;
    this.fetched = false;
    this.owned = new Set(reads);
    for (const partition of change.lost) this.positions.delete(partition);
    this.readySet = new Set([...this.readySet].filter((partition) => this.owned.has(partition)));
    const unknown = this.seekKnown(reads, session);
    if (this.options.begin === 'end' && unknown.length > 0) void this.beginAtEnd(session, unknown, this.generation, 1);
    return change;
  }

  /** Cancels pending work for the session. */
  sessionEnded(): void {
    this.generation += 1;
  }

  /** Drops all ownership: other members may own these partitions now, and may have read further. */
  forget(): AssignmentChange {
    const change = assignmentChange(this.owned, []);
    this.positions.clear();
    this.readySet = new Set();
    this.owned = new Set();
    return change;
  }

  /** Messages of a partition have been accepted up to this offset. */
  took(partition: number, offset: number): void {
    this.positions.set(partition, offset + 1);
  }

  /** A fetch has been answered since the join. */
  fetchAnswered(): void {
    if (this.fetched) return;
    this.fetched = true;
    this.promote();
  }

  private choose(assigned: readonly number[], session: Positioning): readonly number[] {
    const { chooseReads } = this.options;
    if (chooseReads === undefined) return assigned;
    const reads = chooseReads(assigned, new Set(assigned.filter((partition) => this.owned.has(partition))));
    session.readOnly(reads);
    return reads;
  }

  private seekKnown(assigned: readonly number[], session: Positioning): number[] {
    const unknown: number[] = [];
    for (const partition of assigned) {
      const position = this.positions.get(partition);
      if (position === undefined) unknown.push(partition);
      else session.seek(partition, position);
    }
    return unknown;
  }

  private async beginAtEnd(
    session: Positioning,
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
      const { log, retry, timers } = this.options;
      log.debug({ reason: brokerErrorText(error) }, 'The ends of new partitions are not known yet');
      if (generation !== this.generation) return;
      timers.later(backOffMs(attempt, retry), () => {
        if (generation === this.generation) void this.beginAtEnd(session, partitions, generation, attempt + 1);
      });
    }
  }

  /** Marks partitions as ready that meet the conditions. */
  private promote(): void {
    if (!this.fetched) return;
    const isReady = (partition: number): boolean => this.options.begin === 'committed' || this.positions.has(partition);
    this.readySet = new Set([...this.owned].filter(isReady));
    this.options.onReadiness();
  }
}

/** How a rebalance, or the loss of a session, changed what a member owns. */
export interface AssignmentChange {
  readonly owned: readonly number[];
  readonly gained: readonly number[];
  readonly lost: readonly number[];
}

/** Compares two assignments. */
export const assignmentChange = (before: Iterable<number>, after: readonly number[]): AssignmentChange => {
  const previous = new Set(before);
  const owned = new Set(after);
  return {
    owned: after,
    gained: after.filter((partition) => !previous.has(partition)),
    lost: [...previous].filter((partition) => !owned.has(partition)),
  };
};
