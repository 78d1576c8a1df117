import { type Metrics } from '@decision/service-kit';
import { Admission } from './admission';
import { type GatewayConfig } from './config';

/** The admission of this process, as it is configured, with its state in metrics. */
export const openAdmission = (
  config: Pick<GatewayConfig, 'admissionTargetMs' | 'maxInFlightRequests' | 'maxInFlightBytes'>,
  metrics: Metrics,
): Admission => {
  const limit = metrics.gauge({
    name: 'decision_admission_limit',
    help: 'Requests in flight beyond which solving is answered 429, as measured latency has it.',
  });
  const meanMs = metrics.gauge({
    name: 'decision_admission_mean_answer_ms',
    help: 'Mean time that a worker took to answer one input, in the last window of the admission.',
  });
  const limits = {
    targetMs: config.admissionTargetMs,
    maxRequests: config.maxInFlightRequests,
    maxBytes: config.maxInFlightBytes,
  };
  return new Admission(
    limits,
    () => performance.now(),
    (window) => {
      limit.set(window.limit);
      meanMs.set(window.meanMs);
    },
  );
};
