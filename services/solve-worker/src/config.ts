import { limits } from '@decision/contracts';
import {
  brokerSettings,
  type Config,
  cacheSettings,
  connectorSettings,
  databaseSettings,
  decisionSettings,
  evaluationSettings,
  flowSettings,
  httpSettings,
  limit,
  wholeNumber,
} from '@decision/service-kit';

/** All environment variables of this service. */
export const settings = {
  ...httpSettings(3003),
  ...databaseSettings,
  ...cacheSettings,
  ...brokerSettings,
  ...decisionSettings,
  ...evaluationSettings,
  ...flowSettings,
  ...connectorSettings,
  sessionTimeoutMs: limit(limits.workerSessionTimeoutMs),
  heartbeatIntervalMs: limit(limits.workerHeartbeatIntervalMs),
  partitionConcurrency: limit(limits.workerPartitionConcurrency),
  batchChunk: limit(limits.contextBatchChunk),
  leaseMs: limit(limits.contextLeaseMs),
  maxWaiting: limit(limits.contextMaxWaiting),
  maxCompiledBytes: wholeNumber('WORKER_MAX_COMPILED_BYTES', {
    default: 268_435_456,
    min: 1_048_576,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Memory of all compiled rules that a worker keeps together, as they estimate it, and as much again for compiled flows with the rules that they run; the least recently used are dropped beyond it. One rule or flow that is larger alone is kept beside them.',
  }),
};

export type WorkerConfig = Config<typeof settings>;
