import { limits } from '@decision/contracts';
import {
  brokerSettings,
  type Config,
  databaseSettings,
  filePath,
  httpSettings,
  limit,
  oneOf,
  optional,
  sessionSettings,
  url,
  wholeNumber,
} from '@decision/service-kit';

/** All settings of this service. */
export const settings = {
  ...httpSettings(3005),
  ...databaseSettings,
  ...sessionSettings,
  ...brokerSettings,
  sessionTimeoutMs: limit(limits.workerSessionTimeoutMs),
  heartbeatIntervalMs: limit(limits.workerHeartbeatIntervalMs),
  logStore: oneOf('LOG_STORE', ['table', 'archive'], {
    default: 'table',
    meaning:
      'Where questions are answered from: `table` keeps decisions in the database, and in the archive if there is one; `archive` only in the archive.',
  }),
  queryMaxDays: wholeNumber('LOG_QUERY_MAX_DAYS', {
    default: 31,
    min: 1,
    max: 3_660,
    meaning: 'Days that one question to the archive may span, if decisions are kept only in it.',
  }),
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
      'Messages that may be fetched and not yet stored; beyond it nothing more is fetched. A single larger one is still fetched.',
  }),
  collectorUpkeepMs: wholeNumber('COLLECTOR_UPKEEP_MS', {
    default: 600_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'How often partitions of the log table are made ahead and dropped.',
  }),
  sinks: optional(
    filePath('LOG_SINKS', {
      meaning: 'File of JSON that names the systems that decisions are handed on to. Not set: none.',
    }),
  ),
  sinkDeadLetterDir: optional(
    filePath('LOG_SINK_DEAD_LETTER_DIR', {
      meaning:
        'Folder for decisions that a sink does not accept; required with sinks, a separate one for each process.',
    }),
  ),
  sinkDeadLetterBytes: wholeNumber('LOG_SINK_DEAD_LETTER_BYTES', {
    default: 1_073_741_824,
    min: 1_048_576,
    max: 1_099_511_627_776,
    unit: 'bytes',
    meaning: 'Size of the file of dead letters of one sink; beyond it nothing more is sent to the sink.',
  }),
  sinkBufferBytes: wholeNumber('LOG_SINK_BUFFER_BYTES', {
    default: 33_554_432,
    min: 1_048_576,
    max: 17_179_869_184,
    unit: 'bytes',
    meaning:
      'Messages that may be fetched for one sink and not yet sent; beyond it nothing more is fetched. A single larger one is still fetched.',
  }),
  archiveUrl: optional(
    url('ARCHIVE_URL', {
      protocols: ['file', 's3'],
      meaning:
        'Where decisions are kept as Parquet objects, one place for all processes: `file:///path` is a folder, `s3://bucket/prefix?endpoint=http://host:9000&region=us-east-1&path-style=true` a place in an S3 store, where all but the bucket may be left out. Not set: there is no archive.',
    }),
  ),
  archiveRollBytes: wholeNumber('ARCHIVE_ROLL_BYTES', {
    default: 33_554_432,
    min: 65_536,
    max: 1_073_741_824,
    unit: 'bytes',
    meaning: 'Messages of one partition of the topic that are written into the archive together.',
  }),
  archiveRollMs: wholeNumber('ARCHIVE_ROLL_MS', {
    default: 300_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'Time after which messages are written into the archive even if they are fewer.',
  }),
  archiveBufferBytes: wholeNumber('ARCHIVE_BUFFER_BYTES', {
    default: 134_217_728,
    min: 1_048_576,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Messages that may be fetched for the archive and not yet written; from half of it on the largest partition is written early. Messages that are needed to finish what another process began may exceed it.',
  }),
  archiveMemoryBytes: wholeNumber('ARCHIVE_MEMORY_BYTES', {
    default: 536_870_912,
    min: 134_217_728,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Memory of a process that writes objects of the archive or a Parquet export, in addition to the memory of its runtime.',
  }),
  archiveUpkeepMs: wholeNumber('ARCHIVE_UPKEEP_MS', {
    default: 600_000,
    min: 1_000,
    max: 86_400_000,
    unit: 'ms',
    meaning: 'How often small objects of the archive are merged, and expired days are removed.',
  }),
  archiveCompactBytes: wholeNumber('ARCHIVE_COMPACT_BYTES', {
    default: 67_108_864,
    min: 65_536,
    max: 1_073_741_824,
    unit: 'bytes',
    meaning: 'Smaller objects of the archive are merged into objects of at most this size, once their hour has ended.',
  }),
  archiveRetentionDays: optional(
    wholeNumber('ARCHIVE_RETENTION_DAYS', {
      min: 1,
      max: 36_600,
      meaning: 'Days that the archive keeps decisions, today included, unless a hold keeps them. Not set: for ever.',
    }),
  ),
  archiveSigningKey: optional(
    filePath('ARCHIVE_SIGNING_KEY', {
      meaning:
        'File of an Ed25519 private key in PEM, which signs a manifest of each day of the archive. Not set: there are no manifests.',
    }),
  ),
  archiveQueryProcesses: wholeNumber('ARCHIVE_QUERY_PROCESSES', {
    default: 2,
    min: 1,
    max: 32,
    meaning:
      'Processes that read the archive for questions, if decisions are kept only in it; each answers one at a time.',
  }),
  archiveQueryMemoryBytes: wholeNumber('ARCHIVE_QUERY_MEMORY_BYTES', {
    default: 536_870_912,
    min: 134_217_728,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Memory of each of them in addition to the memory of its runtime, and as much disk space for data beyond it.',
  }),
  archiveCacheBytes: wholeNumber('ARCHIVE_CACHE_BYTES', {
    default: 1_073_741_824,
    min: 16_777_216,
    max: 1_099_511_627_776,
    unit: 'bytes',
    meaning:
      'Disk space in the folder for temporary files for parts of S3 objects that questions to the archive read; the least recently used are removed first.',
  }),
  archiveQueryTimeoutMs: wholeNumber('ARCHIVE_QUERY_TIMEOUT_MS', {
    default: 30_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    meaning: 'How long a part of a question to the archive may take; beyond it the answer is 504.',
  }),
};

export type CollectorConfig = Config<typeof settings>;
