import {
  collectDefaultMetrics,
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';

type Owned = 'registers' | 'aggregator' | 'enableExemplars';

/**
 * The metrics of one process, in a registry of their own. Labels must be bounded: route templates, status classes, coarse reasons;
 * never slugs, keys, users or messages.
 */
export interface Metrics {
  readonly requests: RequestMetrics;
  counter<L extends string = never>(definition: Omit<CounterConfiguration<L>, Owned>): Counter<L>;
  gauge<L extends string = never>(definition: Omit<GaugeConfiguration<L>, Owned>): Gauge<L>;
  histogram<L extends string = never>(definition: Omit<HistogramConfiguration<L>, Owned>): Histogram<L>;
  /** The exposition text and its content type. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Metrics of a service: those of the process and of its HTTP requests, and whatever the service adds. */
export const createMetrics = (service: string): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return {
    requests: createRequestMetrics(registry),
    counter: (definition) => new Counter({ ...definition, registers }),
    gauge: (definition) => new Gauge({ ...definition, registers }),
    histogram: (definition) => new Histogram({ ...definition, registers }),
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
};

/** How requests are counted and timed. */
interface RequestMetrics {
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

const createRequestMetrics = (registry: Registry): RequestMetrics => {
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

/** Something that happened, named by one of a fixed set of types. */
interface CountedEvent {
  readonly type: string;
}

/** Counts what a package tells of itself, by type: `decision_<source>_events_total{type}`. */
export const createEventCounter = (metrics: Metrics, source: string): ((event: CountedEvent) => void) => {
  const counter = metrics.counter({
    name: `decision_${source}_events_total`,
    help: `Events of the ${source} of this process, by type.`,
    labelNames: ['type'],
  });
  return ({ type }) => counter.inc({ type });
};
