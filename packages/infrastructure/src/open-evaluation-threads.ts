import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type ServiceName } from '@decision/contracts';
import { createEvaluationThreads, type EvaluationThreads } from '@decision/execution';
import { type Config, type evaluationSettings, type Metrics } from '@decision/service-kit';
import { type ThreadEvent } from '@decision/waiting';
import { type Opening } from './opening';

type EvaluationConfig = Config<typeof evaluationSettings>;

/** The heap of one thread, MB: an evaluation that exceeds it ends the thread instead of the process. */
const HEAP_MB = 2_048;
/** Number of threads if the configuration has none. */
const MOST_BY_DEFAULT = 4;
/** The loader of a thread that is started from sources, as in tests; built code needs none. */
const SOURCE_LOADER = ['--require', '@decision/tooling/run-sources', '--conditions=source'];

/** Start data of a thread. */
export interface ThreadStart {
  /** The service that owns the thread: its application name at the database. */
  readonly name: ServiceName;
}

/**
 * Starts one evaluation thread, with its own connections to the database and the cache. It reads the given environment, by default that of
 * its process.
 */
export const startEvaluationThread = (start: ThreadStart, environment?: Readonly<Record<string, string>>): Worker => {
  const extension = extname(__filename);
  return new Worker(join(__dirname, `evaluation-thread${extension}`), {
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    ...(environment === undefined ? {} : { env: environment }),
    ...(extension === '.ts' ? { execArgv: SOURCE_LOADER } : {}),
  });
};

/** One core is left to the thread that handles messages. */
const usualThreads = (): number => Math.min(MOST_BY_DEFAULT, Math.max(1, availableParallelism() - 1));

/** Threads for long evaluations; undefined if the configuration has none. A thread starts with the first evaluation that needs it. */
export const openEvaluationThreads = (
  { name, config, metrics, stopper }: Pick<Opening<EvaluationConfig>, 'name' | 'config' | 'metrics' | 'stopper'>,
  start = startEvaluationThread,
): EvaluationThreads | undefined => {
  const size = config.evaluationThreads ?? usualThreads();
  if (size === 0) return undefined;
  const threads = createEvaluationThreads({
    start: () => start({ name }),
    size,
    maxWaiting: config.evaluationMaxWaiting,
    maxRunMs: config.evaluationMaxMs,
    onEvent: measureThreads(metrics),
  });
  metrics.gauge({
    name: 'decision_evaluation_threads_waiting',
    help: 'Jobs that wait for a thread: long evaluations, and parts of lists.',
    collect() {
      this.set(threads.status().waiting);
    },
  });
  metrics.gauge({
    name: 'decision_evaluation_threads_compiled_bytes',
    help: 'Memory of the compiled rules that all evaluation threads keep, as they estimate it.',
    collect() {
      this.set(threads.status().keptBytes);
    },
  });
  stopper.add('evaluation threads', (drainMs) => threads.stop(drainMs));
  return threads;
};

const measureThreads = (metrics: Metrics): ((event: ThreadEvent) => void) => {
  const events = metrics.counter({
    name: 'decision_evaluation_threads_events_total',
    help: 'Outcomes of jobs in threads (one evaluation, or many of a list), and events of threads, by type.',
    labelNames: ['type'],
  });
  const seconds = metrics.histogram({
    name: 'decision_long_evaluation_seconds',
    help: 'Time of jobs of threads, which are one evaluation or many of a list, loading and compiling the rule included.',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 15],
  });
  return ({ type, ms }) => {
    events.inc({ type });
    if (ms !== undefined) seconds.observe(ms / 1_000);
  };
};
