import { limits } from '@decision/contracts';
import { brokerSettings, type Config, databaseSettings, httpSettings, limit, wholeNumber } from '@decision/service-kit';

/** Everything that the environment may say to this service. */
export const settings = {
  ...httpSettings(3005),
  ...databaseSettings,
  ...brokerSettings,
  sessionTimeoutMs: limit(limits.workerSessionTimeoutMs),
  heartbeatIntervalMs: limit(limits.workerHeartbeatIntervalMs),
  retentionDays: wholeNumber('LOG_TABLE_RETENTION_DAYS', {
    default: 30,
    min: 1,
    max: 3_650,
    meaning: 'How many days the log table keeps decisions, today included; older days are dropped whole.',
  }),
  collectorBufferBytes: wholeNumber('COLLECTOR_BUFFER_BYTES', {
    default: 134_217_728,
    min: 1_048_576,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Messages that may be fetched and not yet stored; beyond it nothing more is fetched. A single larger one is taken all the same.',
  }),
  collectorUpkeepMs: wholeNumber('COLLECTOR_UPKEEP_MS', {
    default: 600_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'How often partitions of the log table are made ahead and dropped.',
  }),
};

export type CollectorConfig = Config<typeof settings>;
