import { type UsageBatch } from '@decision/persistence';
import { type DecisionLogWriter } from './decision-log';
import { type SolvedInput } from './solved-input';

/** Counts evaluations by workspace and month, and stores the counts periodically (docs/adr/0016-workers-count-usage.md). */
export interface UsageCounter extends DecisionLogWriter {
  /** Stores the counts; those that cannot be stored now are kept, and those that never can be are dropped. Never rejects. */
  flush(): Promise<void>;
  /** Stores the rest and stops. Idempotent. */
  stop(): Promise<void>;
}

interface UsageCounterOptions {
  /** Adds a batch to the counters of a workspace; the same batch twice counts once. */
  readonly store: (workspaceId: string, batch: UsageBatch) => Promise<void>;
  readonly newId: () => string;
  /** Epoch ms. */
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
  /** Whether a failure is permanent, for instance because there is no such workspace. */
  readonly isPermanent: (error: unknown) => boolean;
  /** Called with the number of executions that can never be stored. */
  readonly onDropped: (executions: number, error: unknown) => void;
  /** Interval of storing, ms. Default 5,000: a killed process loses at most this much. */
  readonly flushEveryMs?: number;
}

/** Executions of one workspace in one month. A sent batch keeps its id and number until it is known to be stored. */
interface Count {
  executions: number;
  sent: UsageBatch | undefined;
}

/** A month of UTC, in which something was counted. */
interface Month {
  /** Its first day, for instance `2026-01-01`. */
  readonly name: string;
  /** Epoch ms: its first, and the first of the next month. */
  readonly begin: number;
  readonly end: number;
  /** By workspace: one entry for each with executions since the last flush. */
  readonly counts: Map<string, Count>;
}

const monthAt = (time: number): Month => {
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: `${date.toISOString().slice(0, 7)}-01`,
    begin: Date.UTC(year, month),
    end: Date.UTC(year, month + 1),
    counts: new Map(),
  };
};

const FLUSH_EVERY_MS = 5_000;

/** Invalid inputs were not evaluated. */
const NOT_EVALUATED: ReadonlySet<string> = new Set(['invalid_json', 'input_not_object', 'number_out_of_range']);

export const createUsageCounter = (options: UsageCounterOptions): UsageCounter => {
  const { store, newId, now, onFailure, isPermanent, onDropped, flushEveryMs = FLUSH_EVERY_MS } = options;
  // Months with unstored counts, by start. There are more than two only while nothing can be stored.
  const months = new Map<number, Month>();
  let current = monthAt(now());
  let flushing: Promise<void> | undefined;

  /** A clock that is set back may return to a month that still has counts. */
  const monthOf = (time: number): Month => {
    if (time < current.begin || time >= current.end) {
      const month = monthAt(time);
      current = months.get(month.begin) ?? month;
    }
    return current;
  };
  const countOf = (month: Month, workspaceId: string): Count => {
    const known = month.counts.get(workspaceId);
    if (known !== undefined) return known;
    const count = { executions: 0, sent: undefined };
    month.counts.set(workspaceId, count);
    months.set(month.begin, month);
    return count;
  };
  const storeOne = async ({ name, counts }: Month, workspaceId: string, count: Count): Promise<void> => {
    if (count.sent === undefined) {
      count.sent = { id: newId(), month: name, executions: count.executions };
      count.executions = 0;
    }
    const { sent } = count;
    try {
      await store(workspaceId, sent);
    } catch (error) {
      if (!isPermanent(error)) {
        onFailure(error);
        return;
      }
      onDropped(sent.executions, error);
    }
    count.sent = undefined;
    if (count.executions === 0) counts.delete(workspaceId);
  };
  const storeAll = async (): Promise<void> => {
    for (const month of [...months.values()]) {
      for (const [workspaceId, count] of [...month.counts]) await storeOne(month, workspaceId, count);
      if (month.counts.size === 0) months.delete(month.begin);
    }
  };
  const flush = (): Promise<void> =>
    (flushing ??= storeAll().finally(() => {
      flushing = undefined;
    }));

  const timer = setInterval(() => void flush(), flushEveryMs).unref();
  return {
    write: ({ workspaceId }, items) => {
      let executions = 0;
      for (const item of items) if (wasEvaluated(item)) executions += 1;
      if (executions > 0) countOf(monthOf(now()), workspaceId).executions += executions;
    },
    flush,
    stop: async () => {
      clearInterval(timer);
      // The second one takes counts that arrived while the first was being stored.
      await flush();
      await flush();
    },
  };
};

const wasEvaluated = ({ error }: SolvedInput): boolean => error === undefined || !NOT_EVALUATED.has(error.code);

/** Writes each decision to several writers. */
export const combineWriters = (writers: readonly (DecisionLogWriter | undefined)[]): DecisionLogWriter => ({
  write: (envelope, items) => {
    for (const writer of writers) writer?.write(envelope, items);
  },
});
