import { hostname } from 'node:os';
import { openTracing } from '@decision/tracing';
import { type tracingSettings } from '../config/service-settings';
import { type Config, parsePairs } from '../config/setting';
import { type Logger } from '../logging/logger';
import { type Metrics } from '../metrics/metrics';
import { readPemFile } from './start-refusal';
import { type Stopper } from './stopper';

interface TracesOpening {
  readonly name: string;
  readonly config: Config<typeof tracingSettings>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** Starts recording traces if the configuration names a destination. Rejects with `StartRefusal` for a file that cannot be read. */
export const openTraces = async ({ name, config, logger, metrics, stopper }: TracesOpening): Promise<void> => {
  const { tracesEndpoint: endpoint, tracesCertificate: file } = config;
  if (endpoint === undefined) return;
  const spans = metrics.counter({
    name: 'decision_trace_spans_total',
    help: 'Spans that were sent to the collector of traces, by outcome: exported, or failed, and so lost.',
    labelNames: ['outcome'],
  });
  const tracing = await openTracing(
    {
      ...{ service: name, endpoint, sampleRatio: config.tracesSampleRatio },
      headers: parsePairs(config.tracesHeaders?.reveal() ?? ''),
      attributes: { 'service.instance.id': hostname(), ...parsePairs(config.tracesAttributes ?? '') },
      authorities: file === undefined ? undefined : readPemFile('OTEL_EXPORTER_OTLP_CERTIFICATE', file),
    },
    {
      onExport: (count, outcome) => spans.inc({ outcome }, count),
      onCollector: (fault) => {
        if (fault === undefined) logger.info('The collector of traces takes spans again.');
        else logger.warn({ reason: fault }, 'The collector of traces takes no spans; they are lost until it does.');
      },
    },
  );
  stopper.add('traces', () => tracing.close());
};
