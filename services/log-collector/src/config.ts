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

/** Everything that the environment may say to this service. */
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
      'Where questions are answered from: `table` keeps decisions in the database, and in the archive where there is one; `archive` in the archive alone.',
  }),
  queryMaxDays: wholeNumber('LOG_QUERY_MAX_DAYS', {
    default: 31,
    min: 1,
    max: 3_660,
    meaning: 'Days that one question to the archive may span, where decisions are kept in it alone.',
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
      'Messages that may be fetched and not yet stored; beyond it nothing more is fetched. A single larger one is taken all the same.',
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
      meaning: 'Folder for decisions that a sink does not take; needed where there are sinks, one for each process.',
    }),
  ),
  sinkDeadLetterBytes: wholeNumber('LOG_SINK_DEAD_LETTER_BYTES', {
    default: 1_073_741_824,
    min: 1_048_576,
    max: 1_099_511_627_776,
    unit: 'bytes',
    meaning: 'Size of the file of dead letters of one sink; a sink that would exceed it is sent nothing more.',
  }),
  sinkBufferBytes: wholeNumber('LOG_SINK_BUFFER_BYTES', {
    default: 33_554_432,
    min: 1_048_576,
    max: 17_179_869_184,
    unit: 'bytes',
    meaning:
      'Messages that may be fetched for one sink and not yet sent; beyond it nothing more is fetched. A single larger one is taken all the same.',
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
    meaning: 'Time after which messages are written into the archive though they are fewer.',
  }),
  archiveBufferBytes: wholeNumber('ARCHIVE_BUFFER_BYTES', {
    default: 134_217_728,
    min: 1_048_576,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Messages that may be fetched for the archive and not yet written; from half of it on the largest partition is written before its time. Messages that are needed to finish what another process had begun may come on top.',
  }),
  archiveMemoryBytes: wholeNumber('ARCHIVE_MEMORY_BYTES', {
    default: 536_870_912,
    min: 134_217_728,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Memory of a process that writes objects of the archive, or an export as Parquet, beside that of its runtime.',
  }),
  archiveUpkeepMs: wholeNumber('ARCHIVE_UPKEEP_MS', {
    default: 600_000,
    min: 1_000,
    max: 86_400_000,
    unit: 'ms',
    meaning: 'How often small objects of the archive become one, and days that are no longer kept are removed.',
  }),
  archiveCompactBytes: wholeNumber('ARCHIVE_COMPACT_BYTES', {
    default: 67_108_864,
    min: 65_536,
    max: 1_073_741_824,
    unit: 'bytes',
    meaning: 'Objects of the archive that are smaller become one of this size at most, once their hour has ended.',
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
        'File of an Ed25519 private key in PEM, by which a manifest of each day of the archive is signed. Not set: there are none.',
    }),
  ),
  archiveQueryProcesses: wholeNumber('ARCHIVE_QUERY_PROCESSES', {
    default: 2,
    min: 1,
    max: 32,
    meaning:
      'Processes that read the archive for questions, where decisions are kept in it alone; each answers one at a time.',
  }),
  archiveQueryMemoryBytes: wholeNumber('ARCHIVE_QUERY_MEMORY_BYTES', {
    default: 536_870_912,
    min: 134_217_728,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning: 'Memory of each of them beside that of its runtime, and as much of the disk for what exceeds it.',
  }),
  archiveCacheBytes: wholeNumber('ARCHIVE_CACHE_BYTES', {
    default: 1_073_741_824,
    min: 16_777_216,
    max: 1_099_511_627_776,
    unit: 'bytes',
    meaning:
      'Disk below the folder for temporary files that parts of objects of an S3 store may take, which questions to the archive read; what was not asked for the longest leaves first.',
  }),
  archiveQueryTimeoutMs: wholeNumber('ARCHIVE_QUERY_TIMEOUT_MS', {
    default: 30_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    meaning: 'How long a part of a question to the archive may take; it is answered 504 then.',
  }),
};

export type CollectorConfig = Config<typeof settings>;
