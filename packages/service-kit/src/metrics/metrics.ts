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
import { createRequestMetrics, type RequestMetrics } from './request-metrics';

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
