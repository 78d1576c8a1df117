import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Broker, createSubscriber, type SubscribedMessage } from '@decision/broker';
import { readMessage } from '@decision/decision-logs';
import {
  createDeadLetters,
  createDelivery,
  openTarget,
  passes,
  type SinkSettings,
  toSinkRecord,
} from '@decision/decision-sinks';
import { decisionIdOf } from '@decision/persistence';
import { type Logger, type Metrics, type Stopper } from '@decision/service-kit';
import { settledWithin } from '@decision/waiting';
import { type CollectorConfig } from '../config';
import { createSinkMetrics, type SinkObserver } from './sink-metrics';

interface StartSinksOptions {
  readonly sinks: readonly SinkSettings[];
  readonly broker: Broker;
  readonly config: Pick<
    CollectorConfig,
    'sessionTimeoutMs' | 'heartbeatIntervalMs' | 'sinkBufferBytes' | 'sinkDeadLetterDir' | 'sinkDeadLetterBytes'
  >;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** State of a sink. */
export interface SinkStatus {
  readonly name: string;
  /** Whether it reads the topic. */
  readonly ready: boolean;
  /** Whether the last attempt failed. */
  readonly failing: boolean;
  /** Messages that were fetched and not sent. */
  readonly queued: number;
}

interface Sinks {
  status(): readonly SinkStatus[];
}

/** Maximum messages that wait for a sink, in batches. */
const QUEUED_BATCHES = 10;
/** Pause before messages are handled again, ms; attempts to send them have their own pauses. */
const RETRY = { initialMs: 1_000, maxMs: 5_000 };
/** How long a running request may take when the service stops, ms: its decisions are sent again later. */
const DRAIN_MS = 2_000;

/**
 * Starts the sinks: each reads the topic in its own group, so that none delays another, or a store
 * (docs/adr/0054-sinks-are-consumer-groups.md). They are stopped with the service.
 */
export const startSinks = ({ sinks, ...options }: StartSinksOptions): Sinks => {
  const observerOf = createSinkMetrics(options.metrics, options.logger, Date.now);
  const running = sinks.map((sink) => startSink(sink, observerOf(sink.name), options));
  if (sinks.length > 0)
    options.stopper.add('sinks', async (drainMs) => {
      await Promise.all(running.map(({ stop }) => stop(Math.min(drainMs, DRAIN_MS))));
    });
  return { status: () => running.map(({ status }) => status()) };
};

const startSink = (
  sink: SinkSettings,
  observer: SinkObserver,
  { broker, config, stopper: _, ...options }: Omit<StartSinksOptions, 'sinks'>,
) => {
  const ending = new AbortController();
  const target = openTarget(sink, broker);
  const deadLetters = createDeadLetters({
    ...{ folder: config.sinkDeadLetterDir ?? '.', sink: sink.name, maxBytes: config.sinkDeadLetterBytes },
  });
  const delivery = createDelivery({ sink, target, deadLetters, observer, now: Date.now });
  const subscriber = createSubscriber(broker, {
    ...{ topic: 'logs', group: 'collectors', groupPart: sink.name },
    memberName: `${hostname()}-${randomUUID().slice(0, 8)}`,
    sessionTimeoutMs: config.sessionTimeoutMs,
    heartbeatIntervalMs: config.heartbeatIntervalMs,
    ...{ maxQueued: QUEUED_BATCHES * sink.batch.records, maxQueuedBytes: config.sinkBufferBytes },
    // Messages handled at once make about one request, with a yield between two.
    ...{ maxBatch: sink.batch.records, maxBatchBytes: sink.batch.bytes, retry: RETRY },
    onEvent: observer.onEvent,
    handle: (messages) => delivery.deliver(recordsOf(messages, sink, observer), ending.signal),
  });
  observer.follow(subscriber);
  subscriber.start();
  options.logger.info({ sink: sink.name, kind: sink.target.kind }, 'A sink is sent decisions.');
  return {
    status: (): SinkStatus => {
      const { reason, queued } = subscriber.status();
      return { name: sink.name, ready: reason === undefined, failing: delivery.isFailing(), queued };
    },
    stop: async (drainMs: number): Promise<void> => {
      // Do not wait for a sink that does not answer.
      const stopped = subscriber.stop({ drainMs: delivery.isFailing() ? 0 : drainMs });
      await settledWithin(stopped, delivery.isFailing() ? 0 : drainMs);
      ending.abort();
      await stopped;
      await target.stop();
    },
  };
};

const recordsOf = (messages: readonly SubscribedMessage[], sink: SinkSettings, observer: SinkObserver) => {
  let [filtered, unreadable] = [0, 0];
  const wanted = messages.flatMap((message) => {
    const { records, reason } = readMessage(message.value, message.header('form') === 'list');
    // A producer also reports its count: such a message contains no decision.
    if (records.length === 0 && reason !== undefined) unreadable += 1;
    const passing = records.filter((record) => passes(sink.filter, record));
    filtered += records.length - passing.length;
    const { writtenAt } = message;
    return passing.map((record) => toSinkRecord(record, { fields: sink.fields, decisionIdOf, writtenAt }));
  });
  observer.passedOver({ filtered, unreadable });
  return wanted;
};
