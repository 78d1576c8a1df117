import { type Producer, type ProducerEvent, type RequesterEvent, type ResponderEvent } from '@decision/broker';
import { createEventCounter, type Metrics } from '@decision/service-kit';

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** The events among which those of a producer are. */
type ObservedEvent = ProducerEvent | RequesterEvent | ResponderEvent;

/** Measures what the producer of a source, for instance `requester`, sends: `decision_<source>_produce_seconds` and the counters beside it. */
export const createProducerObserver = (metrics: Metrics, source: string): ((event: ObservedEvent) => void) => {
  const seconds = metrics.histogram({
    name: `decision_${source}_produce_seconds`,
    help: 'Time from the sending of a batch to its acknowledgement by the broker.',
    buckets: BUCKETS_SECONDS,
  });
  const messages = metrics.counter({
    name: `decision_${source}_produced_messages_total`,
    help: 'Messages that the broker has acknowledged.',
  });
  const bytes = metrics.counter({
    name: `decision_${source}_produced_bytes_total`,
    help: 'Bytes of these messages before compression.',
  });
  const repeated = metrics.counter({
    name: `decision_${source}_repeated_messages_total`,
    help: 'Messages that were sent once more after a failure and may be stored twice.',
  });
  const failed = metrics.counter({
    name: `decision_${source}_failed_messages_total`,
    help: 'Messages that were given up, by topic and cause: their deadline had passed, or the broker refused them.',
    labelNames: ['topic', 'cause'],
  });
  return (event) => {
    if (event.type === 'sent') {
      seconds.observe(event.durationMs / 1_000);
      messages.inc(event.messages);
      bytes.inc(event.bytes);
    } else if (event.type === 'messages_repeated') repeated.inc(event.messages);
    else if (event.type === 'message_expired') failed.inc({ topic: event.topic, cause: 'expired' });
    else if (event.type === 'message_refused') failed.inc({ topic: event.topic, cause: 'refused' });
  };
};

/** Counts and measures the events of the producer of the decision log. */
export const createDecisionLogObserver = (metrics: Metrics): ((event: ProducerEvent) => void) => {
  const count = createEventCounter(metrics, 'decision_log');
  const observe = createProducerObserver(metrics, 'decision_log');
  return (event) => {
    count(event);
    observe(event);
  };
};

/** Exports what waits in a producer as gauges. */
export const exportQueue = (metrics: Metrics, source: string, producer: Pick<Producer, 'queued'>): void => {
  metrics.gauge({
    name: `decision_${source}_queued_messages`,
    help: 'Messages that wait for the broker or for its acknowledgement.',
    collect() {
      this.set(producer.queued().messages);
    },
  });
  metrics.gauge({
    name: `decision_${source}_queued_bytes`,
    help: 'Bytes of these messages.',
    collect() {
      this.set(producer.queued().bytes);
    },
  });
};
