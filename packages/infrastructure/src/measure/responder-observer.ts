import { type Responder, type ResponderEvent } from '@decision/broker';
import { createEventCounter, type Metrics } from '@decision/service-kit';
import { exportMembership } from './membership-gauges';
import { createProducerObserver } from './producer-observer';

const BUCKETS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60,
];

/** Counts and measures the events of a responder. */
export const createResponderObserver = (metrics: Metrics): ((event: ResponderEvent) => void) => {
  const count = createEventCounter(metrics, 'responder');
  const observeProducer = createProducerObserver(metrics, 'responder');
  const waits = metrics.histogram({
    name: 'decision_responder_wait_seconds',
    help: 'Time that an answered request had waited in this process, from its fetching to the beginning of its handling.',
    buckets: BUCKETS_SECONDS,
  });
  const handling = metrics.histogram({
    name: 'decision_responder_handling_seconds',
    help: 'Time that the handling of an answered request took.',
    buckets: BUCKETS_SECONDS,
  });
  const requests = metrics.counter({
    name: 'decision_responder_requests_total',
    help: 'Requests that this process has taken, by outcome: answered, expired, malformed, or the code of the error that was answered.',
    labelNames: ['outcome'],
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
      requests.inc({ outcome: event.errorCode ?? 'answered' });
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
