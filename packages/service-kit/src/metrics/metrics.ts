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
import { type BoundHistogram, type BoundSeries, createBoundHistogram } from './bound-histogram';

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
  /** A histogram for measurements of every request. */
  boundHistogram(definition: Parameters<typeof createBoundHistogram>[1]): BoundHistogram;
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
    boundHistogram: (definition) => createBoundHistogram(registry, definition),
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
};

/** How requests are counted and timed. */
interface RequestMetrics {
  /** A request has arrived. */
  began(): void;
  /** A request has been answered or aborted. */
  ended(request: EndedRequest): void;
  /** A request that could not be parsed was refused with this status. */
  refused(status: number): void;
}

interface EndedRequest {
  readonly method: string | undefined;
  /** Template of its route, never its path; undefined if no route matches. */
  readonly route: string | undefined;
  /** Undefined if the client went away before the answer was complete. */
  readonly status: number | undefined;
  readonly seconds: number;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);
const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const createRequestMetrics = (registry: Registry): RequestMetrics => {
  const durations = createBoundHistogram(registry, {
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer, by method, route template and status class.',
    buckets: BUCKETS_SECONDS,
  });
  const seriesOf = bindOnce(({ method, route, status }) => durations.bind({ method, route, status }));
  let count = 0;
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that have arrived and are not yet answered.',
    registers: [registry],
    collect() {
      this.set(count);
    },
  });
  return {
    began: () => {
      count += 1;
    },
    ended: ({ method, route = 'unmatched', status, seconds }) => {
      count -= 1;
      seriesOf(nameMethod(method), route, statusClass(status)).observe(seconds);
    },
    refused: (status) => seriesOf('other', 'unreadable', statusClass(status)).observe(0),
  };
};

interface RequestLabels {
  readonly method: string;
  readonly route: string;
  readonly status: string;
}

/** The series of labels, each bound at its first use. */
const bindOnce = (bind: (labels: RequestLabels) => BoundSeries) => {
  const bound = new Map<string, Map<string, Map<string, BoundSeries>>>();
  const within = <V>(map: Map<string, V>, key: string, make: () => V): V => {
    const known = map.get(key) ?? make();
    map.set(key, known);
    return known;
  };
  return (method: string, route: string, status: string): BoundSeries => {
    const known = bound.get(route)?.get(method)?.get(status);
    if (known !== undefined) return known;
    const methods = within(bound, route, () => new Map<string, Map<string, BoundSeries>>());
    const statuses = within(methods, method, () => new Map<string, BoundSeries>());
    return within(statuses, status, () => bind({ method, route, status }));
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

/** Counts the events of a package, by type: `decision_<source>_events_total{type}`. */
export const createEventCounter = (metrics: Metrics, source: string): ((event: CountedEvent) => void) => {
  // Some are as frequent as requests, so labels are hashed only at the export.
  const counts = new Map<string, number>();
  metrics.counter({
    name: `decision_${source}_events_total`,
    help: `Events of the ${source} of this process, by type.`,
    labelNames: ['type'],
    collect() {
      for (const [type, count] of counts) this.inc({ type }, count);
      counts.clear();
    },
  });
  return ({ type }) => void counts.set(type, (counts.get(type) ?? 0) + 1);
};
