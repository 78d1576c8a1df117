import { type Metric, type Registry } from 'prom-client';

interface BoundHistogramDefinition {
  readonly name: string;
  readonly help: string;
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

type Labels = Readonly<Record<string, string>>;

/** One series of a histogram. */
export interface BoundSeries {
  observe(value: number): void;
}

/** A histogram whose series are bound to their labels once, for measurements of every request: an observation hashes no labels. */
export interface BoundHistogram {
  /** The series with these labels, of which there must be few. */
  bind(labels?: Labels): BoundSeries;
}

class Series implements BoundSeries {
  /** Observations by the first bucket that they fit into; the last element counts those beyond all buckets. */
  readonly counts: number[];
  sum = 0;

  constructor(
    readonly labels: Labels,
    private readonly buckets: readonly number[],
  ) {
    this.counts = Array.from({ length: buckets.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.buckets.length && value > (this.buckets[at] ?? Infinity)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
  }
}

/** Makes a histogram and registers it. It is exported like one of the library. */
export const createBoundHistogram = (
  registry: Registry,
  { name, help, buckets }: BoundHistogramDefinition,
): BoundHistogram => {
  const all: Series[] = [];
  const valuesOf = ({ labels, counts, sum }: Series) => {
    let total = 0;
    const cumulated = counts.map((count) => (total += count));
    return [
      ...cumulated.map((value, at) => ({
        metricName: `${name}_bucket`,
        labels: { ...labels, le: buckets[at] ?? '+Inf' },
        value,
      })),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  };
  const metric = {
    ...{ name, help, type: 'histogram', aggregator: 'sum' },
    get: () => Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: all.flatMap(valuesOf) }),
    reset: () => all.splice(0),
  };
  // The registry uses nothing else of a metric.
  registry.registerMetric(metric as unknown as Metric);
  return {
    bind: (labels = {}) => {
      const series = new Series(labels, buckets);
      all.push(series);
      return series;
    },
  };
};
