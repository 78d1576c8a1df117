import type { BackOffBounds } from '@decision/waiting';
import type { KafkaMessage } from 'kafkajs';
import type { BrokerLog, BrokerSettings } from '../settings';
import type { AssignmentChange, ChooseReads } from './owned-partitions';

/** Events of a consumer, for metrics. */
export type ConsumerEvent =
  /** The group has rebalanced; the numbers count partitions. */
  | { readonly type: 'rebalanced'; readonly owned: number; readonly gained: number; readonly lost: number }
  | { readonly type: 'consumer_lost'; readonly reason: string }
  /** A batch could not be inflated or read; its messages are lost, later ones are not. */
  | { readonly type: 'batch_unreadable'; readonly reason: string };

/** Messages of one partition. Rejoin signals are among them; readers skip them. */
export interface PartitionDelivery {
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** To be called for each message, in order, when it has been accepted; the others are fetched again. */
  readonly took: (message: KafkaMessage) => void;
  /** To be called while waiting inside a delivery. Rejects when the group is rebalancing: the rejection must be passed on. */
  readonly heartbeat: () => Promise<void>;
  readonly isRunning: () => boolean;
}

interface GroupConsumerHooks {
  /** Called when the partitions of this member have changed. */
  onAssigned(change: AssignmentChange): void;
  /** The group is about to rebalance: the last chance to commit work that others would otherwise repeat. */
  onRebalancing?(): void;
  onMessages(delivery: PartitionDelivery): Promise<void> | void;
  /** The number of ready partitions has changed. */
  onReadiness?(): void;
  /** The session has been gone for `goneAfterMs`. */
  onGone(reason: string): void;
  /** Writes a rejoin signal to each of the given number of partitions. */
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
   * Start of consumption of a newly assigned partition: the committed offset (or the oldest message), or the partition's end at the
   * time of the assignment.
   */
  readonly begin: 'committed' | 'end';
  /**
   * Chooses the partitions that are read out of those that the group has assigned; `current` are the assigned ones that were read before.
   * The others stay with this member, unread. Default: all.
   */
  readonly chooseReads?: ChooseReads;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** How often topic metadata is refreshed, ms. Default 30,000. */
  readonly metadataRefreshMs?: number;
  /** How long the session may be away before the member counts as gone, ms. */
  readonly goneAfterMs: number;
  readonly retry: BackOffBounds;
  readonly hooks: GroupConsumerHooks;
}
