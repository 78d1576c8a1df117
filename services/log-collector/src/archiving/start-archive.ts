import { randomUUID } from 'node:crypto';
import { hostname, tmpdir } from 'node:os';
import { type Broker, createSubscriber, type SubscriberStatus } from '@decision/broker';
import { createArchiver, openEngine } from '@decision/decision-archive';
import { readMessage } from '@decision/decision-logs';
import { decisionIdOf } from '@decision/persistence';
import { type Logger, type Metrics, StartRefusal, type Stopper } from '@decision/service-kit';
import { followProgress } from '../collected-to';
import { type CollectorConfig } from '../config';
import { exportConsumer } from '../consumer-gauges';
import { observeArchive } from './archive-metrics';
import { type OpenedArchive } from './open-archive';

interface StartArchiveOptions {
  readonly broker: Broker;
  readonly config: Pick<
    CollectorConfig,
    | 'sessionTimeoutMs'
    | 'heartbeatIntervalMs'
    | 'archiveRollBytes'
    | 'archiveRollMs'
    | 'archiveBufferBytes'
    | 'archiveMemoryBytes'
  >;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** State of the archive. */
export interface ArchiveStatus {
  /** Why it does not read the topic, a sentence; undefined if it does. */
  readonly reason: string | undefined;
  /** Whether the last attempt to write failed. */
  readonly failing: boolean;
  /** Messages that were fetched and not written. */
  readonly queued: number;
}

/** An archive that is being written. */
export interface Archive {
  status(): ArchiveStatus;
  subscriberStatus(): SubscriberStatus;
  /** Moment up to which all decisions are in it, epoch ms; undefined: unknown. */
  archivedTo(): number | undefined;
}

/** Maximum messages that wait for the archive; small ones take many times their bytes in memory. */
const MAX_QUEUED = 60_000;
const DAY_MS = 86_400_000;
/** Longest time of one object, ms. */
const OBJECT_DEADLINE_MS = 120_000;

/**
 * Starts writing decisions to the archive, which reads the topic in its own group; it is stopped with the service. Rejects with
 * `StartRefusal` for contradictory settings.
 */
export const startArchive = async (
  { store, url }: OpenedArchive,
  { broker, config, logger, metrics, stopper }: StartArchiveOptions,
): Promise<Archive> => {
  const { archiveRollBytes: rollBytes, archiveRollMs: rollMs, archiveBufferBytes: bufferBytes } = config;
  if (bufferBytes < 2 * rollBytes)
    throw new StartRefusal(
      `ARCHIVE_BUFFER_BYTES (${bufferBytes}) holds less than twice ARCHIVE_ROLL_BYTES (${rollBytes}). Raise the one or lower the other.`,
    );
  const engine = await openEngine({
    ...{
      parent: tmpdir(),
      readable: [],
      memoryBytes: config.archiveMemoryBytes,
      spillBytes: 8 * config.archiveMemoryBytes,
      threads: 1,
    },
    ...{ deadlineMs: OBJECT_DEADLINE_MS, maxQueued: 1 },
  });
  const observer = observeArchive(metrics, logger, Date.now);
  const archiver = createArchiver({
    ...{ store, engine, decisionIdOf, rollBytes, rollMs, bufferBytes, bufferMessages: MAX_QUEUED },
    recordsOf: ({ value, header }) => {
      const { records, counts, reason } = readMessage(value, header('form') === 'list');
      if (records.length === 0 && reason !== undefined) return undefined;
      if (Date.parse(records[0]?.decidedAt ?? '') > Date.now() + DAY_MS) return undefined;
      return records.map((record) => ({ record, sequence: counts[0]?.sequence ?? null }));
    },
    observer,
  });
  const subscriber = createSubscriber(broker, {
    ...{ topic: 'logs', group: 'collectors', groupPart: 'archive' },
    memberName: `${hostname()}-${randomUUID().slice(0, 8)}`,
    sessionTimeoutMs: config.sessionTimeoutMs,
    heartbeatIntervalMs: config.heartbeatIntervalMs,
    ...{ maxQueued: MAX_QUEUED, maxQueuedBytes: bufferBytes, maxBatch: 1, maxBatchBytes: 1 },
    ...{ handle: archiver, onEvent: observer.onEvent },
  });
  const waiting = () => {
    const { queued, queuedBytes } = subscriber.status();
    return { queued, queuedBytes, oldestAt: archiver.status().oldestAt };
  };
  exportConsumer(metrics, { prefix: 'decision_archive', done: 'archived', subscriber, waiting, now: Date.now });
  subscriber.start();
  logger.info({ url }, 'Decisions are archived.');
  stopper.add('archive', async () => {
    await archiver.stop();
    await subscriber.stop({ drainMs: 0 });
  });
  return {
    status: () => {
      const { reason, queued } = subscriber.status();
      return { reason, failing: archiver.status().failing, queued };
    },
    subscriberStatus: () => subscriber.status(),
    archivedTo: followProgress(subscriber, 'archived', stopper),
  };
};
