import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Broker, createSubscriber, type SubscriberStatus } from '@decision/broker';
import { type Database } from '@decision/persistence';
import { createEventCounter, type Logger, type Metrics, type Stopper } from '@decision/service-kit';
import { pause } from '@decision/waiting';
import { followProgress } from '../collected-to';
import { type CollectorConfig } from '../config';
import { exportConsumer } from '../consumer-gauges';
import { createCollectorObserver } from './collector-metrics';
import { createLogDays, type LogDays } from './days';
import { storeMessages } from './store-messages';

interface CollectingOptions {
  readonly database: Database;
  /** Undefined: nothing is collected, but the table is still maintained. */
  readonly broker: Broker | undefined;
  readonly config: Pick<
    CollectorConfig,
    'sessionTimeoutMs' | 'heartbeatIntervalMs' | 'retentionDays' | 'collectorBufferBytes' | 'collectorUpkeepMs'
  >;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** The collecting side of the service. */
interface Collecting {
  /** Joins the group, and starts upkeep of the table. */
  start(): void;
  /** Undefined without a broker. */
  status(): SubscriberStatus | undefined;
  /**
   * Moment up to which all messages of the topic have been stored by any collector, epoch ms; undefined until known. Without a broker
   * others collect, and it is now.
   */
  collectedTo(): number | undefined;
}

const MIB = 1_048_576;
const MOST_QUEUED = 20_000;
const BATCH = { messages: 1_000, bytes: 8 * MIB } as const;
const RETRY = { initialMs: 100, maxMs: 5_000 };
/** Maximum pause before failed upkeep is retried, ms. */
const UPKEEP_RETRY_MS = 15_000;

/** Makes the consumer of `logs` and the upkeep of the table; both are stopped with the service. */
export const startCollecting = ({
  database,
  broker,
  config,
  logger,
  metrics,
  stopper,
}: CollectingOptions): Collecting => {
  const days = createLogDays({ database, retentionDays: config.retentionDays, now: Date.now });
  const observer = createCollectorObserver(metrics, logger, Date.now);
  broker?.watchTopics([{ topic: 'logs' }]);
  const subscriber =
    broker &&
    createSubscriber(broker, {
      ...{ topic: 'logs', group: 'collectors', memberName: `${hostname()}-${randomUUID().slice(0, 8)}` },
      sessionTimeoutMs: config.sessionTimeoutMs,
      heartbeatIntervalMs: config.heartbeatIntervalMs,
      ...{ maxQueued: MOST_QUEUED, maxQueuedBytes: config.collectorBufferBytes },
      ...{ maxBatch: BATCH.messages, maxBatchBytes: BATCH.bytes, retry: RETRY },
      onEvent: createEventCounter(metrics, 'collector'),
      handle: async (messages) => {
        const begunAt = performance.now();
        try {
          observer.collected(await storeMessages({ database, days }, messages), performance.now() - begunAt);
        } catch (error) {
          observer.failed(error);
          throw error;
        }
      },
    });
  if (subscriber !== undefined)
    exportConsumer(metrics, {
      ...{
        prefix: 'decision_collector',
        done: 'stored',
        subscriber,
        waiting: () => subscriber.status(),
        now: Date.now,
      },
    });
  const ending = new AbortController();
  let upkeep = Promise.resolve();
  stopper.add('upkeep', () => {
    ending.abort();
    return upkeep;
  });
  const collectedTo = subscriber === undefined ? Date.now : followProgress(subscriber, 'collected', stopper);
  if (subscriber !== undefined) stopper.add('collector', (drainMs) => subscriber.stop({ drainMs }));
  return {
    start: () => {
      subscriber?.start();
      upkeep = keepUp({
        days,
        periodMs: config.collectorUpkeepMs,
        logger,
        signal: ending.signal,
        onRound: () => observer.report(),
      });
    },
    status: () => subscriber?.status(),
    collectedTo,
  };
};

interface KeepUpOptions {
  readonly days: LogDays;
  readonly periodMs: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onRound: () => void;
}

/** Maintains the table until the signal aborts. Never rejects. */
const keepUp = async ({ days, periodMs, logger, signal, onRound }: KeepUpOptions): Promise<void> => {
  while (!signal.aborted) {
    let nextMs = periodMs;
    try {
      const { dropped } = await days.upkeep();
      if (dropped.length > 0)
        logger.info({ days: dropped }, 'Days of the log table that are no longer kept were dropped.');
    } catch (error) {
      nextMs = Math.min(periodMs, UPKEEP_RETRY_MS);
      logger.warn({ err: error }, 'Upkeep of the log table failed; it is tried again.');
    }
    onRound();
    await pause(nextMs, signal);
  }
};
