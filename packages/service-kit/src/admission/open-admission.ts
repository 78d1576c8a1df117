import { type Metrics } from '../metrics/metrics';
import { Admission } from './admission';
import { LargeBodies } from './large-bodies';
import { RequestPlaces } from './request-place';

/** Settings of {@link admissionSettings}, and the target of the service. */
interface AdmissionConfig {
  /** See {@link Admission}, ms. */
  readonly admissionTargetMs: number;
  readonly maxInFlightRequests: number;
  readonly maxInFlightBytes: number;
  readonly largeBodyThresholdBytes: number;
  readonly largeBodyMaxConcurrent: number;
}

/** The admission of this process, as it is configured, with its state in metrics. */
export const openAdmission = (config: AdmissionConfig, metrics: Metrics): RequestPlaces => {
  const limit = metrics.gauge({
    name: 'decision_admission_limit',
    help: 'Requests in flight beyond which requests are answered 429, as measured latency has it.',
  });
  const meanMs = metrics.gauge({
    name: 'decision_admission_mean_answer_ms',
    help: 'Mean time to the answer of one input or one instance, in the last window of the admission.',
  });
  const admission = new Admission(
    { targetMs: config.admissionTargetMs, maxRequests: config.maxInFlightRequests, maxBytes: config.maxInFlightBytes },
    () => performance.now(),
    (window) => {
      limit.set(window.limit);
      meanMs.set(window.meanMs);
    },
  );
  const { largeBodyThresholdBytes: thresholdBytes, largeBodyMaxConcurrent: maxConcurrent } = config;
  return new RequestPlaces(admission, new LargeBodies({ thresholdBytes, maxConcurrent }));
};
