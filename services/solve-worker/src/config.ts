import { limits } from '@decision/contracts';
import {
  brokerSettings,
  type Config,
  cacheSettings,
  databaseSettings,
  decisionSettings,
  httpSettings,
  limit,
  wholeNumber,
} from '@decision/service-kit';

/** Everything that the environment may say to this service. */
export const settings = {
  ...httpSettings(3003),
  ...databaseSettings,
  ...cacheSettings,
  ...brokerSettings,
  ...decisionSettings,
  sessionTimeoutMs: limit(limits.workerSessionTimeoutMs),
  heartbeatIntervalMs: limit(limits.workerHeartbeatIntervalMs),
  partitionConcurrency: limit(limits.workerPartitionConcurrency),
  maxCompiledRows: wholeNumber('WORKER_MAX_COMPILED_ROWS', {
    default: 2_000_000,
    min: 1_000,
    max: 1_000_000_000,
    meaning:
      'Rows of all compiled rules that a worker keeps in memory together; the least recently used rules are dropped beyond it.',
  }),
};

export type WorkerConfig = Config<typeof settings>;
