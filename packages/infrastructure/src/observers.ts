import {
  type Producer,
  type ProducerEvent,
  type Requester,
  type RequesterEvent,
  type Responder,
  type ResponderEvent,
} from '@decision/broker';
import { ServiceError } from '@decision/contracts';
import { type Compilation } from '@decision/execution';
import { createEventCounter, type Metrics } from '@decision/service-kit';
import { LATE, resultWithin } from '@decision/waiting';

const PRODUCE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
/** A producer sends at most 500 at once. */
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** The events that include those of a producer. */
type ObservedEvent = ProducerEvent | RequesterEvent | ResponderEvent;

/** Measures the messages of the producer of a source, for instance `requester`: `decision_<source>_produce_seconds` and the counters beside it. */
const createProducerObserver = (metrics: Metrics, source: string): ((event: ObservedEvent) => void) => {
  const seconds = metrics.histogram({
    name: `decision_${source}_produce_seconds`,
    help: 'Time from the sending of a batch to its acknowledgement by the broker.',
    buckets: PRODUCE_BUCKETS,
  });
  const batches = metrics.histogram({
    name: `decision_${source}_batch_messages`,
    help: 'Messages of a batch that the broker has acknowledged.',
    buckets: BATCH_BUCKETS,
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
      batches.observe(event.messages);
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

/** Exports the waiting messages of a producer as gauges. */
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

/** The status of a member of a consumer group. */
interface Membership {
  readonly ready: boolean;
  readonly partitions: number;
}

/** Exports whether a member of a consumer group is ready, and how many partitions it owns, as gauges. */
const exportMembership = (metrics: Metrics, source: string, status: () => Membership): void => {
  metrics.gauge({
    name: `decision_${source}_ready`,
    help: `Whether the ${source} of this process can work: 1 or 0.`,
    collect() {
      this.set(status().ready ? 1 : 0);
    },
  });
  metrics.gauge({
    name: `decision_${source}_owned_partitions`,
    help: `Partitions that the ${source} of this process owns.`,
    collect() {
      this.set(status().partitions);
    },
  });
};

/** The deadline of the longest requests is five minutes. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counts and measures the events of a requester. */
export const createRequesterObserver = (metrics: Metrics): ((event: RequesterEvent) => void) => {
  const count = createEventCounter(metrics, 'requester');
  const observeProducer = createProducerObserver(metrics, 'requester');
  const resent = metrics.counter({
    name: 'decision_requester_resent_requests_total',
    help: 'Requests that were sent again because the partition of their answers had moved to another member.',
  });
  return (event) => {
    count(event);
    if (event.type === 'requests_resent') resent.inc(event.count);
    else observeProducer(event);
  };
};

/** The same requester, with requests timed and counted by outcome, and its status exported as gauges. */
export const measureRequester = (metrics: Metrics, requester: Requester): Requester => {
  const seconds = metrics
    .boundHistogram({
      name: 'decision_requester_request_seconds',
      help: 'Time from the submission of a request for the workers to its answer, or to the error that ended it.',
      buckets: REQUEST_BUCKETS,
    })
    .bind();
  let answered = 0;
  const requests = metrics.counter({
    name: 'decision_requester_requests_total',
    help: 'Requests for the workers that have ended, by outcome: answered, or the code of the error.',
    labelNames: ['outcome'],
    collect() {
      // Counted apart from failed requests, of which there are few.
      if (answered > 0) this.inc({ outcome: 'answered' }, answered);
      answered = 0;
    },
  });
  exportMembership(metrics, 'requester', () => requester.status());
  exportQueue(metrics, 'requester', requester);
  metrics.gauge({
    name: 'decision_requester_pending_requests',
    help: 'Requests that await the answer of a worker.',
    collect() {
      this.set(requester.status().pending);
    },
  });
  const inBroker = metrics
    .boundHistogram({
      name: 'decision_requester_broker_seconds',
      help: 'Time of a request that a worker answered without what the worker measured, from its fetching to its answer: queues, broker and fetching.',
      buckets: REQUEST_BUCKETS,
    })
    .bind();
  const ended = (beganAt: number, workedMs: number | undefined, outcome: string): void => {
    const tookMs = performance.now() - beganAt;
    seconds.observe(tookMs / 1_000);
    // Two processes have two clocks: the difference is never below 0.
    if (workedMs !== undefined) inBroker.observe(Math.max(0, tookMs - workedMs) / 1_000);
    if (outcome === 'answered') answered += 1;
    else requests.inc({ outcome });
  };
  return {
    start: () => requester.start(),
    status: () => requester.status(),
    queued: () => requester.queued(),
    stop: (options) => requester.stop(options),
    submit: (envelope, payload, settled) => {
      const beganAt = performance.now();
      requester.submit(envelope, payload, (error, answer, workedMs) => {
        ended(beganAt, workedMs, error === undefined ? 'answered' : error.code);
        settled(error, answer, workedMs);
      });
    },
    request: (envelope, payload, options) => {
      const beganAt = performance.now();
      let workedMs: number | undefined;
      const onWorked = (ms: number): void => {
        workedMs = ms;
        options?.onWorked?.(ms);
      };
      const answer = requester.request(envelope, payload, { ...options, onWorked });
      answer.then(
        () => ended(beganAt, workedMs, 'answered'),
        (error: unknown) => ended(beganAt, workedMs, error instanceof ServiceError ? error.code : 'internal_error'),
      );
      return answer;
    },
  };
};

const HANDLING_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60,
];

/** Counts and measures the events of a responder. */
export const createResponderObserver = (metrics: Metrics): ((event: ResponderEvent) => void) => {
  const count = createEventCounter(metrics, 'responder');
  const observeProducer = createProducerObserver(metrics, 'responder');
  const waits = metrics
    .boundHistogram({
      name: 'decision_responder_wait_seconds',
      help: 'Time that an answered request had waited in this process, from its fetching to the beginning of its handling.',
      buckets: HANDLING_BUCKETS,
    })
    .bind();
  const handling = metrics
    .boundHistogram({
      name: 'decision_responder_handling_seconds',
      help: 'Time that the handling of an answered request took.',
      buckets: HANDLING_BUCKETS,
    })
    .bind();
  let answered = 0;
  const requests = metrics.counter({
    name: 'decision_responder_requests_total',
    help: 'Requests that this process has taken, by outcome: answered, expired, malformed, or the code of the error that was answered.',
    labelNames: ['outcome'],
    collect() {
      // Counted apart from the other outcomes, which are rare.
      if (answered > 0) this.inc({ outcome: 'answered' }, answered);
      answered = 0;
    },
  });
  const lost = metrics.counter({
    name: 'decision_responder_lost_replies_total',
    help: 'Answers that could not be sent, by the code of the error.',
    labelNames: ['code'],
  });
  return (event) => {
    count(event);
    if (event.type === 'answered') {
      waits.observe(event.waitedMs / 1_000);
      handling.observe(event.handledMs / 1_000);
      if (event.errorCode === undefined) answered += 1;
      else requests.inc({ outcome: event.errorCode });
    } else if (event.type === 'request_expired') requests.inc({ outcome: 'expired' });
    else if (event.type === 'request_malformed') requests.inc({ outcome: 'malformed' });
    else if (event.type === 'reply_lost') lost.inc({ code: event.code });
    else observeProducer(event);
  };
};

/** How long a scrape waits for the broker, ms: an unavailable broker must not cost the other metrics. */
const LAG_WAIT_MS = 1_000;

/** Exports the status of a responder as gauges. */
export const exportResponder = (metrics: Metrics, responder: Pick<Responder, 'status' | 'lag'>): void => {
  exportMembership(metrics, 'responder', () => responder.status());
  metrics.gauge({
    name: 'decision_responder_queued_requests',
    help: 'Requests that have been fetched and not finished: waiting, being handled, or with an answer that is not stored yet.',
    collect() {
      this.set(responder.status().queued);
    },
  });
  metrics.gauge({
    name: 'decision_responder_lag_messages',
    help: 'Messages of the partitions of this process that were written and are not finished, fetched or not; absent while the broker does not answer.',
    async collect() {
      const lag = await resultWithin(responder.lag(), LAG_WAIT_MS).catch((): typeof LATE => LATE);
      if (lag === LATE) this.remove();
      else this.set(lag);
    },
  });
  metrics.gauge({
    name: 'decision_responder_last_heartbeat_timestamp_seconds',
    help: 'When the broker last answered the consumer of this process, Unix time; 0 if never.',
    collect() {
      this.set(responder.status().lastHeartbeatAt / 1_000);
    },
  });
};

const COMPILE_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Counts and times the rules and flows that the process compiles for its main thread. */
export const createCompileObserver = (metrics: Metrics): ((compilation: Compilation) => void) => {
  const compiled = metrics.counter({
    name: 'decision_compiled_total',
    help: 'Rules and flows that were compiled, since they were not held in compiled form.',
    labelNames: ['asset'],
  });
  const seconds = metrics.histogram({
    name: 'decision_compile_seconds',
    help: 'Time of a compilation, in which the process does nothing else; of a flow without its rules.',
    labelNames: ['asset'],
    buckets: COMPILE_BUCKETS,
  });
  return ({ asset, tookMs }) => {
    compiled.inc({ asset });
    seconds.observe({ asset }, tookMs / 1_000);
  };
};
