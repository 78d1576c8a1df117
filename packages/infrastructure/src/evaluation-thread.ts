import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { answerEvaluations, createStoredFlows, createStoredRules } from '@decision/execution';
import { requireDatabase } from '@decision/persistence';
import {
  cacheSettings,
  createLogger,
  createMetrics,
  createStopper,
  databaseSettings,
  evaluationSettings,
  processSettings,
  readConfig,
} from '@decision/service-kit';
import { type ThreadStart } from './open-evaluation-threads';
import { openUsableStores } from './open-stores';

/*
 * The entry of one evaluation thread. It reads the configuration of its process, loads and compiles rules itself, and answers the jobs that its
 * process sends. It ends with `terminate`, which closes its connections.
 */

/** Lower than the message handlers, even in the same process: 0 is usual, 19 the lowest. */
const PRIORITY = 10;
/** Rules are loaded one at a time. */
const POOL_MAX = 2;
/** The process of the thread has reached the database before, so an outage is unlikely to last. */
const DATABASE_WITHIN_MS = 30_000;

const run = async (): Promise<void> => {
  if (parentPort === null) throw new TypeError('This is the entry of a thread, and not of a process.');
  // On Linux this sets the priority of the calling thread alone.
  if (process.platform === 'linux') setPriority(PRIORITY);
  const settings = { ...processSettings, ...databaseSettings, ...cacheSettings, ...evaluationSettings };
  const config = readConfig(settings, process.env);
  const logger = createLogger({ service: 'evaluation-thread', level: config.logLevel });
  const { name } = workerData as ThreadStart; // set by startEvaluationThread
  await requireDatabase(config.databaseUrl.reveal(), { deadlineMs: DATABASE_WITHIN_MS });
  const { database, cache } = await openUsableStores({
    name,
    config: { ...config, databasePoolMax: POOL_MAX },
    logger,
    metrics: createMetrics('evaluation-thread'),
    stopper: createStopper(),
  });
  const library = createStoredRules(database, cache, {
    maxBytes: config.evaluationThreadBytes,
    onStale: (error) =>
      logger.warn({ err: error }, 'Values could not be read again; rules go on with those they have.'),
  });
  const flows = createStoredFlows(database, cache, library, { maxBytes: config.evaluationThreadBytes });
  answerEvaluations(parentPort, { rules: library, flows });
};

// An error ends the thread; its process starts another one.
void run();
