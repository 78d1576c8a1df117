import { setTimeout as sleep } from 'node:timers/promises';
import { settledWithin } from '@decision/waiting';
import type { Cluster, Consumer, ConsumerConfig, KafkaMessage, RequestEvent } from 'kafkajs';
import { type Claim, stickyAssigner } from './sticky-assigner';
import { createKafkaClient } from '../connection/kafka-client';
import { type BrokerLog, type BrokerSettings, clientName } from '../settings';
import { brokerErrorType } from '../connection/broker-error';
import { type Coordinator, findCoordinator } from '../connection/kafkajs-internals';

const MIB = 1024 * 1024;

/** How long a fetch waits for the first message, ms. It may delay the reading of a heartbeat's answer, and stopping, by as much. */
export const FETCH_WAIT_MS = 500;

/** Bytes of one fetch, compressed; a single larger batch is fetched nevertheless. */
const FETCH_BYTES = 16 * MIB;
const FETCH_BYTES_PER_PARTITION = 4 * MIB;

/** Leaving the group and closing, ms. */
const CLOSE_DEADLINE_MS = 3_000;

/** Callbacks of a session. `onJoined` runs before the first fetch of a generation: the fetch follows seeks made in it. */
interface ConsumerSessionHooks {
  claim(): Claim;
  onJoined(assigned: readonly number[]): void;
  onRebalancing(): void;
  /** The broker has answered; `fetch` is true if it answered a fetch. */
  onHeard(fetch: boolean): void;
  /** Some messages of one partition. A rejection ends the batch: messages that were not resolved are fetched again. */
  onBatch(delivery: Delivery): Promise<void>;
  /** The session is over, and none of its work continues. Called at most once, not after `stop` or `discard`. */
  onEnded(reason: Error): void;
}

/** Messages of one partition, and callbacks about them. */
export interface Delivery {
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** All messages up to this offset have been accepted. */
  readonly resolve: (offset: string) => void;
  /** Tells the group that this member is alive, if a heartbeat is due. Rejects when the group is rebalancing. */
  readonly heartbeat: () => Promise<void>;
  /** False once the session is stopping. */
  readonly isRunning: () => boolean;
}

interface ConsumerSessionOptions {
  readonly settings: BrokerSettings;
  readonly log: BrokerLog;
  readonly groupId: string;
  readonly topic: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly rebalanceTimeoutMs: number;
  /** How often topic metadata is refreshed, ms. */
  readonly metadataRefreshMs: number;
  /** Whether consumption of a partition without a committed offset starts at its oldest message, otherwise at its end. */
  readonly fromBeginning: boolean;
  /** Member id of the previous session, if it did not leave: then the group need not wait for it. */
  readonly formerMemberId: string | undefined;
  readonly hooks: ConsumerSessionHooks;
}

/** One life of a group member. It is discarded, not repaired. */
export interface ConsumerSession {
  /** Connects and joins; resolves when joined. Rejects when it cannot even subscribe. Unbounded: discard a session that hangs. */
  run(): Promise<void>;
  /** Continues a partition at an offset, starting with the next fetch. */
  seek(partition: number, offset: number): void;
  /** The offset that the next message of each partition will get. */
  endOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Offset of the oldest message still stored in each partition. */
  oldestOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Offsets that the group has committed; partitions without one are left out. */
  committedOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Commits, for each partition, the offset of the first unfinished message. */
  commit(offsets: ReadonlyMap<number, number>): Promise<void>;
  /** Fetches only these of the assigned partitions, starting with the next fetch; each call replaces the choice. */
  readOnly(partitions: readonly number[]): void;
  /** Stops fetching, but stays in the group. */
  pause(): void;
  partitionCount(): number;
  memberId(): string | undefined;
  /** Leaves the group and closes; at most three seconds. */
  stop(): Promise<void>;
  /** Closes without notifying anyone. */
  discard(): void;
}

/** The library's configuration of a session, without its assigner. */
export const consumerConfig = (
  options: Pick<
    ConsumerSessionOptions,
    'groupId' | 'sessionTimeoutMs' | 'heartbeatIntervalMs' | 'rebalanceTimeoutMs' | 'metadataRefreshMs'
  >,
): ConsumerConfig => ({
  groupId: options.groupId,
  sessionTimeout: options.sessionTimeoutMs,
  heartbeatInterval: options.heartbeatIntervalMs,
  rebalanceTimeout: options.rebalanceTimeoutMs,
  metadataMaxAge: options.metadataRefreshMs,
  allowAutoTopicCreation: false,
  minBytes: 1,
  maxBytes: FETCH_BYTES,
  maxBytesPerPartition: FETCH_BYTES_PER_PARTITION,
  maxWaitTimeInMs: FETCH_WAIT_MS,
  readUncommitted: true,
  retry: { retries: 5, initialRetryTime: 50, maxRetryTime: 1_000, restartOnFailure: () => Promise.resolve(false) },
});

/** Makes a session that has not started. */
export const createConsumerSession = (options: ConsumerSessionOptions): ConsumerSession => {
  const { settings, log, groupId, topic, hooks } = options;
  const { kafka, sockets } = createKafkaClient(settings, log);
  let cluster: Cluster | undefined;
  let member: string | undefined;
  let over = false;

  const assigner = stickyAssigner({
    claim: () => hooks.claim(),
    cluster: (view) => {
      cluster = view;
    },
  });
  const consumer = kafka.consumer({ ...consumerConfig(options), partitionAssigners: [assigner] });

  const discard = (): void => {
    over = true;
    sockets.close();
    consumer.disconnect().catch(() => undefined);
  };

  const end = (reason: Error): void => {
    if (over) return;
    discard();
    hooks.onEnded(reason);
  };

  listen(consumer, {
    joined: ({ memberId, partitions }) => {
      if (over) return;
      member = memberId;
      hooks.onJoined(partitions[topic] ?? []);
    },
    rebalancing: () => {
      if (!over) hooks.onRebalancing();
    },
    answered: (apiName) => {
      if (!over) hooks.onHeard(apiName === 'Fetch');
    },
    crashed: end,
  });

  const requireCluster = (): Cluster => {
    if (cluster === undefined) throw new TypeError('The client library has not handed over its cluster.');
    return cluster;
  };

  const findOffsets = async (
    partitions: readonly number[],
    fromBeginning: boolean,
  ): Promise<ReadonlyMap<number, number>> => {
    const asked = partitions.map((partition) => ({ partition }));
    const [answer] = await requireCluster().fetchTopicsOffset([{ topic, partitions: asked, fromBeginning }]);
    return new Map(answer?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  };

  /** Spares the group a wait for this session's predecessors. With an instance id these include processes that died while joining. */
  const removePredecessors = async (): Promise<void> => {
    const { formerMemberId } = options;
    if (settings.instanceId !== undefined) await leaveForPredecessors(requireCluster(), groupId, clientName(settings));
    else if (formerMemberId !== undefined) await leaveFor(requireCluster(), groupId, formerMemberId);
  };

  return {
    run: async () => {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: options.fromBeginning });
      await removePredecessors().catch(() => undefined); // the group notices their absence eventually
      sockets.onDrained(() => {
        end(new Error('the connection was closed'));
      });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 1,
        eachBatch: (payload) =>
          hooks.onBatch({
            partition: payload.batch.partition,
            messages: payload.batch.messages,
            resolve: (offset) => {
              payload.resolveOffset(offset);
            },
            heartbeat: () => payload.heartbeat(),
            isRunning: () => payload.isRunning() && !over,
          }),
      });
    },
    seek: (partition, offset) => {
      consumer.seek({ topic, partition, offset: String(offset) });
    },
    endOffsets: (partitions) => findOffsets(partitions, false),
    oldestOffsets: (partitions) => findOffsets(partitions, true),
    committedOffsets: async (partitions) => {
      const asked = [{ topic, partitions: partitions.map((partition) => ({ partition })) }];
      const coordinator = await findCoordinator(requireCluster(), groupId);
      const { responses } = await coordinator.offsetFetch({ groupId, topics: asked });
      const found = responses.flatMap((response) => response.partitions);
      return new Map(
        found.map(({ partition, offset }) => [partition, Number(offset)] as const).filter(([, offset]) => offset >= 0),
      );
    },
    commit: (offsets) =>
      consumer.commitOffsets([...offsets].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }))),
    readOnly: (partitions) => {
      consumer.pause([{ topic }]);
      consumer.resume([{ topic, partitions: [...partitions] }]);
    },
    pause: () => {
      if (member !== undefined && !over) consumer.pause([{ topic }]);
    },
    partitionCount: () => requireCluster().findTopicPartitionMetadata(topic).length,
    memberId: () => member,
    stop: async () => {
      const joined = member !== undefined && !over;
      over = true;
      if (joined) await settledWithin(consumer.disconnect(), CLOSE_DEADLINE_MS);
      discard();
    },
    discard,
  };
};

interface Listeners {
  readonly joined: (generation: { memberId: string; partitions: Readonly<Record<string, number[]>> }) => void;
  readonly rebalancing: () => void;
  readonly answered: (apiName: string) => void;
  readonly crashed: (reason: Error) => void;
}

const listen = (consumer: Consumer, { joined, rebalancing, answered, crashed }: Listeners): void => {
  consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberId, memberAssignment } }) => {
    joined({ memberId, partitions: memberAssignment });
  });
  consumer.on(consumer.events.REBALANCING, rebalancing);
  consumer.on(consumer.events.REQUEST, ({ payload: { apiName } }: RequestEvent) => {
    answered(apiName);
  });
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => {
    crashed(error);
  });
};

/** A coordinator that has just restarted loads its groups first; the request is repeated for three seconds. */
const NOT_YET: ReadonlySet<string | undefined> = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);
const ATTEMPTS = 15;
const PAUSE_MS = 200;

const withCoordinator = async (
  cluster: Cluster,
  groupId: string,
  work: (coordinator: Coordinator) => Promise<void>,
): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work(await findCoordinator(cluster, groupId));
      return;
    } catch (error) {
      if (!NOT_YET.has(brokerErrorType(error)) || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
};

/** Removes a member that can no longer leave its group by itself, so that the others need not wait for it. */
export const leaveFor = async (cluster: Cluster, groupId: string, memberId: string): Promise<void> => {
  await withCoordinator(cluster, groupId, async (coordinator) => {
    await coordinator.leaveGroup({ groupId, memberId });
  });
};

/**
 * Removes every member with this client's name from a group: if no two live processes share the name, these are dead predecessors of this
 * process. Must be called before joining.
 */
export const leaveForPredecessors = async (cluster: Cluster, groupId: string, clientId: string): Promise<void> => {
  await withCoordinator(cluster, groupId, async (coordinator) => {
    const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
    for (const { members } of groups)
      for (const member of members)
        if (member.clientId === clientId) await coordinator.leaveGroup({ groupId, memberId: member.memberId });
  });
};
