import { limits, optionalLimits } from '@decision/contracts';
import {
  admissionSettings,
  brokerSettings,
  cacheSettings,
  type Config,
  databaseSettings,
  decisionSettings,
  httpSettings,
  inputSettings,
  limit,
  optional,
  sessionSettings,
  wholeNumber,
} from '@decision/service-kit';

/** All environment variables of this service. */
export const settings = {
  ...httpSettings(3002),
  ...databaseSettings,
  ...sessionSettings,
  ...cacheSettings,
  ...brokerSettings,
  ...decisionSettings,
  ...inputSettings,
  bulkMaxItems: optional(wholeNumber(optionalLimits.bulkMaxItems.env, optionalLimits.bulkMaxItems)),
  ...admissionSettings,
  admissionTargetMs: limit(limits.admissionTargetMs),
  flowAdmissionTargetMs: limit(limits.flowAdmissionTargetMs),
  flowMaxInFlightRequests: limit(limits.flowMaxInFlightRequests),
  flowMaxInFlightBytes: limit(limits.flowMaxInFlightBytes),
  rpcTimeoutMs: limit(limits.rpcTimeoutMs),
  maxWorkers: limit(limits.maxWorkers),
  workerFloorMs: limit(limits.workerFloorMs),
};

export type GatewayConfig = Config<typeof settings>;
