import { Gauge, Histogram, type Registry } from 'prom-client';

/** How requests are counted and timed. */
export interface RequestMetrics {
  /** A request has arrived. */
  began(): void;
  /** A request that began has been answered or given up. */
  ended(request: EndedRequest): void;
  /** A request that could not even be read was refused with this status. */
  refused(status: number): void;
}

interface EndedRequest {
  readonly method: string | undefined;
  /** Template of its route, never its path; undefined where no route is served there. */
  readonly route: string | undefined;
  /** Undefined where the client went away before the answer was complete. */
  readonly status: number | undefined;
  readonly seconds: number;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);
const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

type Labels = { readonly method: string; readonly route: string; readonly status: string };

export const createRequestMetrics = (registry: Registry): RequestMetrics => {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer, by method, route template and status class.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that have arrived and are not yet answered.',
    registers: [registry],
  });
  const record = (labels: Labels, seconds: number): void => durations.observe(labels, seconds);
  return {
    began: () => inFlight.inc(),
    ended: ({ method, route = 'unmatched', status, seconds }) => {
      inFlight.dec();
      record({ method: nameMethod(method), route, status: statusClass(status) }, seconds);
    },
    refused: (status) => record({ method: 'other', route: 'unreadable', status: statusClass(status) }, 0),
  };
};

const nameMethod = (method: string | undefined): string =>
  method !== undefined && METHODS.has(method) ? method : 'other';

const statusClass = (status: number | undefined): string =>
  status === undefined ? 'client_gone' : (STATUS_CLASSES[Math.floor(status / 100)] ?? 'other');
