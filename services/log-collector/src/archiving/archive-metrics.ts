import { type SubscriberOptions } from '@decision/broker';
import { type ArchiverObserver } from '@decision/decision-archive';
import { type Logger, type Metrics } from '@decision/service-kit';

const ROLL_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** Failures within this time share a log line, ms. */
const WARN_EVERY_MS = 60_000;
/** Interval of the log line about archived decisions, ms; it is written with the next objects. */
const REPORT_EVERY_MS = 3_600_000;
/** Outcomes of a decision; `lost`: messages that the topic deleted before they were archived. */
const OUTCOMES = ['archived', 'unreadable', 'lost'] as const;

interface ArchiveObserver extends ArchiverObserver {
  readonly onEvent: NonNullable<SubscriberOptions['onEvent']>;
}

/** Counts and times archiving, and logs it. */
export const observeArchive = (metrics: Metrics, logger: Logger, now: () => number): ArchiveObserver => {
  const records = metrics.counter({
    name: 'decision_archive_records_total',
    help: 'Decisions that were archived, and messages that were unreadable, or lost (the topic gave them up before).',
    labelNames: ['outcome'],
  });
  const objects = metrics.counter({ name: 'decision_archive_objects_total', help: 'Objects that were written.' });
  const bytes = metrics.counter({ name: 'decision_archive_bytes_total', help: 'Bytes of these objects.' });
  const failures = metrics.counter({
    name: 'decision_archive_failures_total',
    help: 'Attempts to write into the archive that failed; they are made again.',
  });
  const seconds = metrics.histogram({
    name: 'decision_archive_roll_seconds',
    help: 'Time from messages to objects in the archive.',
    buckets: ROLL_BUCKETS,
  });
  const totals = { archived: 0, unreadable: 0, lost: 0, objects: 0, bytes: 0 };
  const count = (outcome: (typeof OUTCOMES)[number], amount: number): void => {
    records.inc({ outcome }, amount);
    totals[outcome] += amount;
  };
  for (const outcome of OUTCOMES) count(outcome, 0);
  let warnedAt = -Infinity;
  let reportedAt = now();
  return {
    rolled: (roll) => {
      count('archived', roll.records);
      count('unreadable', roll.unreadable);
      objects.inc(roll.objects);
      bytes.inc(roll.bytes);
      seconds.observe(roll.tookMs / 1_000);
      totals.objects += roll.objects;
      totals.bytes += roll.bytes;
      if (now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = now();
      logger.info({ ...totals }, 'Decisions were archived since the last such line.');
      Object.assign(totals, { archived: 0, unreadable: 0, lost: 0, objects: 0, bytes: 0 });
    },
    failed: (reason) => {
      failures.inc();
      if (now() - warnedAt < WARN_EVERY_MS) return;
      warnedAt = now();
      logger.warn({ reason }, 'Decisions were not archived; they wait on the topic and are tried again.');
    },
    onEvent: (event) => {
      if (event.type !== 'messages_gone') return;
      count('lost', event.messages);
      logger.error(
        { messages: event.messages },
        'The topic gave messages up before they were archived: the archive was away for too long.',
      );
    },
  };
};
