import { limits, optionalLimits } from '@decision/contracts';
import {
  brokerSettings,
  type Config,
  cacheSettings,
  databaseSettings,
  httpSettings,
  limit,
  optional,
  wholeNumber,
} from '@decision/service-kit';

/** Everything that the environment may say to this service. */
export const settings = {
  ...httpSettings(3002),
  ...databaseSettings,
  ...cacheSettings,
  ...brokerSettings,
  itemMaxBytes: limit(limits.itemMaxBytes),
  bulkMaxItems: optional(wholeNumber(optionalLimits.bulkMaxItems.env, optionalLimits.bulkMaxItems)),
  largeBodyThresholdBytes: limit(limits.largeBodyThresholdBytes),
  largeBodyMaxConcurrent: limit(limits.largeBodyMaxConcurrent),
  admissionTargetMs: limit(limits.admissionTargetMs),
  maxInFlightRequests: limit(limits.maxInFlightRequests),
  maxInFlightBytes: limit(limits.maxInFlightBytes),
  rpcTimeoutMs: limit(limits.rpcTimeoutMs),
  maxWorkers: limit(limits.maxWorkers),
};

export type GatewayConfig = Config<typeof settings>;
