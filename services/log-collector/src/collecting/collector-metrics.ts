import { type Logger, type Metrics } from '@decision/service-kit';
import { type Collected } from './store-messages';

const STORE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
/** Interval of the log line about collected decisions, ms. */
const REPORT_EVERY_MS = 3_600_000;
/** Failures of this time share a log line, ms. */
const WARN_EVERY_MS = 10_000;

/** Reports the work of the collector. */
interface CollectorObserver {
  /** Messages have been stored or set apart, within `ms`. */
  collected(outcome: Collected, tookMs: number): void;
  /** An attempt to store failed; it will be repeated. */
  failed(error: unknown): void;
  /** Logs the work since the last time, at most once per hour. */
  report(): void;
}

/** Counts and times the work of the collector, and logs it. */
export const createCollectorObserver = (metrics: Metrics, logger: Logger, now: () => number): CollectorObserver => {
  const records = metrics.counter({
    name: 'decision_collector_records_total',
    help: 'Decisions read from the topic: stored, repeated (already stored), or expired (their day is no longer kept).',
    labelNames: ['outcome'],
  });
  for (const outcome of ['stored', 'repeated', 'expired']) records.inc({ outcome }, 0);
  const setApart = metrics.counter({
    name: 'decision_collector_set_apart_total',
    help: 'Messages that were set apart in the quarantine, by reason.',
    labelNames: ['reason'],
  });
  const seconds = metrics.histogram({
    name: 'decision_collector_store_seconds',
    help: 'Time to store the messages of one batch.',
    buckets: STORE_BUCKETS,
  });
  const totals = { stored: 0, repeated: 0, expired: 0, set_apart: 0 };
  let reportedAt = now();
  let warnedAt = -Infinity;
  return {
    collected: (outcome, tookMs) => {
      seconds.observe(tookMs / 1_000);
      for (const name of ['stored', 'repeated', 'expired'] as const) {
        records.inc({ outcome: name }, outcome[name]);
        totals[name] += outcome[name];
      }
      totals.set_apart += outcome.setApart.length;
      for (const reason of outcome.setApart) setApart.inc({ reason });
    },
    failed: (error) => {
      if (now() - warnedAt < WARN_EVERY_MS) return;
      warnedAt = now();
      logger.warn({ err: error }, 'Decisions could not be stored; they are kept on the topic and tried again.');
    },
    report: () => {
      if (now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = now();
      logger.info({ ...totals }, 'Decisions were collected since the last such line.');
      for (const name of ['stored', 'repeated', 'expired', 'set_apart'] as const) totals[name] = 0;
    },
  };
};
