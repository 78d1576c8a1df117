import { type UsageBatch } from '@decision/persistence';
import { type DecisionLogWriter } from './decision-log';
import { type SolvedInput } from './solved-input';

/** Counts what was evaluated, by workspace and month, and stores the counts now and then. */
export interface UsageCounter extends DecisionLogWriter {
  /** Stores what was counted; what cannot be stored now is kept for the next time, what never can is dropped. Never rejects. */
  flush(): Promise<void>;
  /** Stores what is left and stops. Idempotent. */
  stop(): Promise<void>;
}

interface UsageCounterOptions {
  /** Adds a batch to the counters of a workspace; the same batch twice counts once. */
  readonly store: (workspaceId: string, batch: UsageBatch) => Promise<void>;
  readonly newId: () => string;
  /** Epoch ms. */
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
  /** Whether a failure can never be mended by trying again, for instance because there is no such workspace. */
  readonly isPermanent: (error: unknown) => boolean;
  /** Called with executions that can never be stored and are given up. */
  readonly onDropped: (executions: number, error: unknown) => void;
  /** How often counts are stored, ms. Default 5,000: so much is lost at most when the process is killed. */
  readonly flushEveryMs?: number;
}

/** Executions of one workspace in one month. A batch that was sent keeps its id and number until it is known to be stored. */
interface Count {
  readonly workspaceId: string;
  readonly month: string;
  executions: number;
  sent: UsageBatch | undefined;
}

const FLUSH_EVERY_MS = 5_000;

/** Inputs that were no input were not evaluated. */
const NOT_EVALUATED: ReadonlySet<string> = new Set(['invalid_json', 'input_not_object', 'number_out_of_range']);

export const createUsageCounter = (options: UsageCounterOptions): UsageCounter => {
  const { store, newId, now, onFailure, isPermanent, onDropped, flushEveryMs = FLUSH_EVERY_MS } = options;
  // One entry for each workspace that was solved for since the last flush.
  const counts = new Map<string, Count>();
  let flushing: Promise<void> | undefined;

  const storeOne = async (name: string, count: Count): Promise<void> => {
    if (count.sent === undefined) {
      count.sent = { id: newId(), month: count.month, executions: count.executions };
      count.executions = 0;
    }
    const { sent } = count;
    try {
      await store(count.workspaceId, sent);
    } catch (error) {
      if (!isPermanent(error)) {
        onFailure(error);
        return;
      }
      onDropped(sent.executions, error);
    }
    count.sent = undefined;
    if (count.executions === 0) counts.delete(name);
  };
  const storeAll = async (): Promise<void> => {
    for (const [name, count] of [...counts]) await storeOne(name, count);
  };
  const flush = (): Promise<void> =>
    (flushing ??= storeAll().finally(() => {
      flushing = undefined;
    }));

  const timer = setInterval(() => void flush(), flushEveryMs).unref();
  return {
    write: ({ workspaceId }, items) => {
      const executions = items.filter(wasEvaluated).length;
      if (executions === 0) return;
      const month = `${new Date(now()).toISOString().slice(0, 7)}-01`;
      const name = `${month} ${workspaceId}`;
      const count = counts.get(name) ?? { workspaceId, month, executions: 0, sent: undefined };
      count.executions += executions;
      counts.set(name, count);
    },
    flush,
    stop: async () => {
      clearInterval(timer);
      // The second one takes what was counted while the first was on its way.
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
