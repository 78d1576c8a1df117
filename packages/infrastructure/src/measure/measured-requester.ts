import { type Requester, type RequesterEvent } from '@decision/broker';
import { ServiceError } from '@decision/contracts';
import { createEventCounter, type Metrics } from '@decision/service-kit';
import { exportMembership } from './membership-gauges';
import { createProducerObserver } from './producer-observer';

/** The deadline of the longest requests is five minutes. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

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
  const seconds = metrics.histogram({
    name: 'decision_requester_request_seconds',
    help: 'Time from the submission of a request for the workers to its answer, or to the error that ended it.',
    buckets: BUCKETS_SECONDS,
  });
  const requests = metrics.counter({
    name: 'decision_requester_requests_total',
    help: 'Requests for the workers that have ended, by outcome: answered, or the code of the error.',
    labelNames: ['outcome'],
  });
  exportMembership(metrics, 'requester', () => requester.status());
  metrics.gauge({
    name: 'decision_requester_pending_requests',
    help: 'Requests that await the answer of a worker.',
    collect() {
      this.set(requester.status().pending);
    },
  });
  const ended = (beganAt: number, outcome: string): void => {
    seconds.observe((performance.now() - beganAt) / 1_000);
    requests.inc({ outcome });
  };
  return {
    start: () => requester.start(),
    status: () => requester.status(),
    stop: (options) => requester.stop(options),
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
