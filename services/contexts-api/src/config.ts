import { limits } from '@decision/contracts';
import {
  admissionSettings,
  brokerSettings,
  cacheSettings,
  connectorSettings,
  databaseSettings,
  decisionSettings,
  evaluationSettings,
  flowSettings,
  httpSettings,
  inputSettings,
  limit,
  sessionSettings,
} from '@decision/service-kit';

/** All settings of this service from the environment. */
export const settings = {
  ...httpSettings(3004),
  ...databaseSettings,
  ...sessionSettings,
  ...cacheSettings,
  ...brokerSettings,
  ...decisionSettings,
  ...admissionSettings,
  admissionTargetMs: limit(limits.contextAdmissionTargetMs),
  ...evaluationSettings,
  ...flowSettings,
  ...connectorSettings,
  rpcTimeoutMs: limit(limits.rpcTimeoutMs),
  maxWorkers: limit(limits.maxWorkers),
  batchChunk: limit(limits.contextBatchChunk),
  ...inputSettings,
  leaseMs: limit(limits.contextLeaseMs),
  maxWaiting: limit(limits.contextMaxWaiting),
  upkeepPeriodMs: limit(limits.contextUpkeepMs),
};
