import { type Subscriber, type SubscriberOptions } from '@decision/broker';
import { type DeliveryObserver } from '@decision/decision-sinks';
import { type Logger, type Metrics } from '@decision/service-kit';

const SEND_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Failures of one sink within this time share a log line, ms. */
const WARN_EVERY_MS = 60_000;
/** Interval of the log line about decisions sent to a sink, ms; it is written with the next decision. */
const REPORT_EVERY_MS = 3_600_000;
/** Outcomes of a decision; `lost`: messages that the topic deleted before they were sent. */
const OUTCOMES = ['sent', 'dead_lettered', 'filtered', 'unreadable', 'lost'] as const;

/** Reports about one sink. */
export interface SinkObserver extends DeliveryObserver {
  /** Decisions that are not sent to the sink, and messages that cannot be read. */
  passedOver(counts: { readonly filtered: number; readonly unreadable: number }): void;
  readonly onEvent: NonNullable<SubscriberOptions['onEvent']>;
  /** Exports its pending messages. */
  follow(subscriber: Subscriber): void;
}

/** Counts and times deliveries to sinks. */
export const createSinkMetrics = (
  metrics: Metrics,
  logger: Logger,
  now: () => number,
): ((sink: string) => SinkObserver) => {
  const followed = new Map<string, Subscriber>();
  const records = metrics.counter({
    name: 'decision_sink_records_total',
    help: 'Decisions by outcome: sent, dead_lettered, filtered, and messages that were unreadable or lost.',
    labelNames: ['sink', 'outcome'],
  });
  const failures = metrics.counter({
    name: 'decision_sink_failures_total',
    help: 'Attempts that failed: the sink was unavailable, refused everything, or dead_letters could not be written.',
    labelNames: ['sink', 'cause'],
  });
  const seconds = metrics.histogram({
    name: 'decision_sink_send_seconds',
    help: 'Time of requests that a sink took decisions from.',
    buckets: SEND_BUCKETS,
    labelNames: ['sink'],
  });
  const events = metrics.counter({
    name: 'decision_sink_events_total',
    help: 'Events of the consumers of sinks, by type.',
    labelNames: ['sink', 'type'],
  });
  exportFollowed(metrics, followed, now);
  return (sink) => {
    for (const outcome of OUTCOMES) records.inc({ sink, outcome }, 0);
    let warnedAt = -Infinity;
    let reportedAt = now();
    const totals = { sent: 0, dead_lettered: 0, filtered: 0, unreadable: 0, lost: 0 };
    const count = (outcome: (typeof OUTCOMES)[number], amount: number): void => {
      records.inc({ sink, outcome }, amount);
      totals[outcome] += amount;
      if (now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = now();
      logger.info({ sink, ...totals }, 'A sink was sent decisions since the last such line.');
      for (const name of OUTCOMES) totals[name] = 0;
    };
    return {
      sent: (amount, tookMs) => {
        count('sent', amount);
        seconds.observe({ sink }, tookMs / 1_000);
      },
      buried: (amount) => {
        count('dead_lettered', amount);
        logger.warn({ sink, records: amount }, 'Decisions that a sink did not take were written to its dead letters.');
      },
      failed: (cause, reason) => {
        failures.inc({ sink, cause });
        if (now() - warnedAt < WARN_EVERY_MS) return;
        warnedAt = now();
        logger.warn(
          { sink, cause, reason },
          'A sink was not sent decisions; they wait on the topic and are tried again.',
        );
      },
      passedOver: ({ filtered, unreadable }) => {
        count('filtered', filtered);
        count('unreadable', unreadable);
      },
      onEvent: (event) => {
        events.inc({ sink, type: event.type });
        if (event.type !== 'messages_gone') return;
        count('lost', event.messages);
        logger.error(
          { sink, messages: event.messages },
          'The topic gave messages up before a sink was sent them: it was away for too long.',
        );
      },
      follow: (subscriber) => void followed.set(sink, subscriber),
    };
  };
};

const exportFollowed = (metrics: Metrics, followed: ReadonlyMap<string, Subscriber>, now: () => number): void => {
  metrics.gauge({
    name: 'decision_sink_queued_bytes',
    help: 'Bytes of messages that were fetched for a sink and not sent.',
    labelNames: ['sink'],
    collect() {
      for (const [sink, subscriber] of followed) this.set({ sink }, subscriber.status().queuedBytes);
    },
  });
  metrics.gauge({
    name: 'decision_sink_oldest_seconds',
    help: 'Age of the oldest of these messages; 0 if there is none.',
    labelNames: ['sink'],
    collect() {
      for (const [sink, subscriber] of followed) {
        const { oldestAt } = subscriber.status();
        this.set({ sink }, oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt) / 1_000);
      }
    },
  });
  metrics.gauge({
    name: 'decision_sink_lag_messages',
    help: 'Messages of each partition that a sink has not been sent; absent while the broker does not answer.',
    labelNames: ['sink', 'partition'],
    async collect() {
      this.reset();
      for (const [sink, subscriber] of followed) {
        const lag = await subscriber.lag().catch(() => new Map<number, number>());
        for (const [partition, messages] of lag) this.set({ sink, partition: String(partition) }, messages);
      }
    },
  });
};
