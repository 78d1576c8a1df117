import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Admin } from 'kafkajs';
import { type RunningCluster, startBrokerCluster, waitUntil } from '@decision/local-stack';
import { type Broker, createBroker } from '../src';
import { silentLog } from './harness';
import { plainClient } from './stored-messages';

const DOWNLOADS = resolve(__dirname, '../../../.local/downloads');

/** Starts three brokers for one test file, in a directory of their own. */
export const startOwnCluster = async (): Promise<RunningCluster> => {
  const directory = await mkdtemp(join(tmpdir(), 'broker-cluster-'));
  const cluster = await startBrokerCluster({ directory, downloads: DOWNLOADS, durable: false });
  return {
    ...cluster,
    stop: async () => {
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** A client of the cluster with a topic prefix of its own. */
export const clusterClient = ({ addresses }: RunningCluster, label: string): Broker =>
  createBroker({ brokers: addresses, clientId: label, topicPrefix: `${label}-${process.hrtime.bigint()}.` }, silentLog);

/** Replicas of one partition: broker ids, the preferred leader first. */
export interface Placement {
  readonly partition: number;
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly inSync: readonly number[];
}

/** Administration of a topic that bypasses the code under test. */
export interface TopicOnlooker {
  placements(): Promise<readonly Placement[]>;
  /** Moves a partition off its leader, so that its other broker leads it. Resolves when done. */
  moveLeader(partition: number, to: readonly number[]): Promise<void>;
  /** Moves many partitions in one request, without waiting. */
  beginMoves(moves: readonly Pick<Placement, 'partition' | 'replicas'>[]): Promise<void>;
  /** Resolves when every partition has the given number of in-sync copies. */
  inSync(copies: number): Promise<void>;
  close(): Promise<void>;
}

export const watchTopic = async (broker: Broker, topic: string): Promise<TopicOnlooker> => {
  const admin: Admin = plainClient(broker).admin();
  await admin.connect();
  const placements = async (): Promise<Placement[]> => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return (topics[0]?.partitions ?? []).map(({ partitionId, leader, replicas, isr }) => ({
      partition: partitionId,
      leader,
      replicas,
      inSync: isr,
    }));
  };
  const beginMoves: TopicOnlooker['beginMoves'] = async (moves) => {
    const partitionAssignment = moves.map(({ partition, replicas }) => ({ partition, replicas: [...replicas] }));
    await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment }] });
  };
  return {
    placements,
    beginMoves,
    inSync: (copies) =>
      waitUntil(async () => {
        const found = await placements().catch(() => []); // a broker that has just restarted
        return found.length > 0 && found.every(({ inSync }) => inSync.length === copies);
      }, `${copies} copies are in sync`),
    moveLeader: async (partition, to) => {
      await beginMoves([{ partition, replicas: to }]);
      await waitUntil(async () => {
        const found = (await placements()).find((one) => one.partition === partition);
        return found?.leader === to[0] && found?.replicas.length === to.length;
      }, `partition ${partition} is led by ${to[0]}`);
    },
    close: () => admin.disconnect(),
  };
};
