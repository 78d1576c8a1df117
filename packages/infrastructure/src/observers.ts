import {
  type Producer,
  type ProducerEvent,
  type Requester,
  type RequesterEvent,
  type Responder,
  type ResponderEvent,
} from '@decision/broker';
import { type Cache, type CacheEvent } from '@decision/cache';
import { ServiceError } from '@decision/contracts';
import { type Database } from '@decision/persistence';
import { createEventCounter, type Metrics } from '@decision/service-kit';

const PRODUCE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** The events among which those of a producer are. */
type ObservedEvent = ProducerEvent | RequesterEvent | ResponderEvent;

/** Measures what the producer of a source, for instance `requester`, sends: `decision_<source>_produce_seconds` and the counters beside it. */
const createProducerObserver = (metrics: Metrics, source: string): ((event: ObservedEvent) => void) => {
  const seconds = metrics.histogram({
    name: `decision_${source}_produce_seconds`,
    help: 'Time from the sending of a batch to its acknowledgement by the broker.',
    buckets: PRODUCE_BUCKETS,
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

/** A member of a consumer group as its status tells of it. */
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
    help: `Partitions that the ${source} of this process owns and reads.`,
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

/** The same requester, whose requests are timed and counted by outcome, and whose status is exported as gauges. */
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
      // Counted apart from those that failed, of which there are few.
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
  const ended = (beganAt: number, outcome: string): void => {
    seconds.observe((performance.now() - beganAt) / 1_000);
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
      requester.submit(envelope, payload, (error, answer) => {
        ended(beganAt, error === undefined ? 'answered' : error.code);
        settled(error, answer);
      });
    },
    request: (envelope, payload, key) => {
      const beganAt = performance.now();
      const answer = requester.request(envelope, payload, key);
      answer.then(
        () => ended(beganAt, 'answered'),
        (error: unknown) => ended(beganAt, error instanceof ServiceError ? error.code : 'internal_error'),
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
      // Counted apart from the others, which are few.
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

/** Exports the status of a responder as gauges. */
export const exportResponder = (metrics: Metrics, responder: Pick<Responder, 'status'>): void => {
  exportMembership(metrics, 'responder', () => responder.status());
  metrics.gauge({
    name: 'decision_responder_queued_requests',
    help: 'Requests that have been fetched and not finished: waiting, being handled, or with an answer that is not stored yet.',
    collect() {
      this.set(responder.status().queued);
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

const LOAD_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Counts and measures the events of the cache. Names are those of read-throughs, never keys. */
export const createCacheObserver = (metrics: Metrics): ((event: CacheEvent) => void) => {
  const count = createEventCounter(metrics, 'cache');
  const observeRead = createReadObserver(metrics);
  const observeFault = createFaultObserver(metrics);
  return (event) => {
    count(event);
    observeRead(event);
    observeFault(event);
  };
};

const createReadObserver = (metrics: Metrics): ((event: CacheEvent) => void) => {
  const reads = metrics.counter({
    name: 'decision_cache_reads_total',
    help: 'Reads by what is read and where it was found: in this process (local), in the shared cache, or in neither (miss).',
    labelNames: ['name', 'result'],
  });
  const loads = metrics.histogram({
    name: 'decision_cache_load_seconds',
    help: 'Time of the loads that followed a miss or refreshed an entry, by what is read and outcome.',
    labelNames: ['name', 'outcome'],
    buckets: LOAD_BUCKETS_SECONDS,
  });
  return (event) => {
    if (event.type === 'hit') reads.inc({ name: event.name, result: event.layer });
    else if (event.type === 'miss') reads.inc({ name: event.name, result: 'miss' });
    else if (event.type === 'load') loads.observe({ name: event.name, outcome: event.outcome }, event.ms / 1_000);
  };
};

const createFaultObserver = (metrics: Metrics): ((event: CacheEvent) => void) => {
  const commands = metrics.counter({
    name: 'decision_cache_failed_commands_total',
    help: 'Commands to the shared cache that failed, by command and reason.',
    labelNames: ['command', 'reason'],
  });
  const notShared = metrics.counter({
    name: 'decision_cache_not_shared_total',
    help: 'Loaded values that stayed out of the shared cache, by what was read and reason.',
    labelNames: ['name', 'reason'],
  });
  const invalidations = metrics.counter({
    name: 'decision_cache_invalidations_total',
    help: 'Messages about committed changes, by direction and kind of what changed.',
    labelNames: ['direction', 'kind'],
  });
  const dropped = metrics.counter({
    name: 'decision_cache_dropped_erasures_total',
    help: 'Deletes that were still to be sent to the shared cache and were given up.',
  });
  const circuit = metrics.gauge({
    name: 'decision_cache_circuit_open',
    help: 'Whether the shared cache is left alone for a while because it does not answer in time: 1 or 0.',
  });
  return (event) => {
    if (event.type === 'command_failed') commands.inc({ command: event.command, reason: event.reason });
    else if (event.type === 'not_shared') notShared.inc({ name: event.name, reason: event.reason });
    else if (event.type === 'invalidation') invalidations.inc({ direction: event.direction, kind: event.kind });
    else if (event.type === 'erasures_dropped') dropped.inc(event.count);
    else if (event.type === 'circuit') circuit.set(event.state === 'open' ? 1 : 0);
  };
};

/** Times how long work waits for a connection to the database. */
export const createAcquisitionObserver = (metrics: Metrics): ((waitedMs: number) => void) => {
  const seconds = metrics.histogram({
    name: 'decision_database_wait_seconds',
    help: 'Time that work has waited for a connection to the database, the opening of a new one included.',
    buckets: LOAD_BUCKETS_SECONDS,
  });
  return (waitedMs) => seconds.observe(waitedMs / 1_000);
};

/** Exports what the connections of the database pool do as a gauge. */
export const exportPool = (metrics: Metrics, database: Pick<Database, 'poolStatus'>): void => {
  metrics.gauge({
    name: 'decision_database_connections',
    help: 'Connections to the database: open in total, and idle; and work that waits for one.',
    labelNames: ['state'],
    collect() {
      const { total, idle, waiting } = database.poolStatus();
      this.set({ state: 'total' }, total);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
};

/** Exports which connections of the cache are up as a gauge. */
export const exportConnections = (metrics: Metrics, cache: Pick<Cache, 'status'>): void => {
  metrics.gauge({
    name: 'decision_cache_connected',
    help: 'Whether a connection to the shared cache is up, 1 or 0: the one for commands, or the one that hears of changes.',
    labelNames: ['connection'],
    collect() {
      const { connected, channel } = cache.status();
      this.set({ connection: 'commands' }, connected ? 1 : 0);
      this.set({ connection: 'subscriber' }, channel.ready ? 1 : 0);
    },
  });
};
