import { randomUUID } from 'node:crypto';
import { hostname, tmpdir } from 'node:os';
import { type Broker, createSubscriber } from '@decision/broker';
import { createArchiver, openObjectStore, openParquetWriter } from '@decision/decision-archive';
import { readMessage } from '@decision/decision-logs';
import { decisionIdOf } from '@decision/persistence';
import { type Logger, type Metrics, StartRefusal, type Stopper } from '@decision/service-kit';
import { type CollectorConfig } from '../config';
import { exportConsumer } from '../consumer-gauges';
import { observeArchive } from './archive-metrics';

interface StartArchiveOptions {
  readonly broker: Broker;
  readonly config: Pick<
    CollectorConfig,
    | 'sessionTimeoutMs'
    | 'heartbeatIntervalMs'
    | 'archiveUrl'
    | 'archiveRollBytes'
    | 'archiveRollMs'
    | 'archiveBufferBytes'
    | 'archiveMemoryBytes'
  >;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** How the archive is. */
export interface ArchiveStatus {
  /** Why it does not read the topic, a sentence; undefined where it does. */
  readonly reason: string | undefined;
  /** Whether the last attempt to write failed. */
  readonly failing: boolean;
  /** Messages that were fetched and not written. */
  readonly queued: number;
}

/** Messages that wait for the archive at most. */
const MAX_QUEUED = 200_000;
const DAY_MS = 86_400_000;
/** Longest time of one object, ms. */
const OBJECT_DEADLINE_MS = 120_000;

/**
 * Starts to write decisions into the archive, which reads the topic in a group of its own; answers undefined where the configuration names no
 * archive. It is stopped with the service. Rejects with `StartRefusal` where the archive cannot be opened.
 */
export const startArchive = async ({
  broker,
  config,
  logger,
  metrics,
  stopper,
}: StartArchiveOptions): Promise<{ status(): ArchiveStatus } | undefined> => {
  const {
    archiveUrl: url,
    archiveRollBytes: rollBytes,
    archiveRollMs: rollMs,
    archiveBufferBytes: bufferBytes,
  } = config;
  if (url === undefined) return undefined;
  if (bufferBytes < 2 * rollBytes)
    throw new StartRefusal(
      `ARCHIVE_BUFFER_BYTES (${bufferBytes}) holds less than twice ARCHIVE_ROLL_BYTES (${rollBytes}). Raise the one or lower the other.`,
    );
  const store = await openObjectStore(url).catch((error: unknown) => {
    throw new StartRefusal(`ARCHIVE_URL: ${error instanceof Error ? error.message : String(error)}`);
  });
  const writer = await openParquetWriter({
    ...{ folder: tmpdir(), memoryBytes: config.archiveMemoryBytes, deadlineMs: OBJECT_DEADLINE_MS },
  });
  const observer = observeArchive(metrics, logger, Date.now);
  const archiver = createArchiver({
    ...{ store, writer, decisionIdOf, rollBytes, rollMs, bufferBytes },
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
  };
};
