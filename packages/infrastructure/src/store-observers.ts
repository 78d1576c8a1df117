import { type Cache, type CacheConnectionName, type CacheEvent } from '@decision/cache';
import { type Database } from '@decision/persistence';
import { createEventCounter, type Metrics } from '@decision/service-kit';

const LOAD_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Counts and measures the events of the cache. Labels are names of read-throughs, never keys. */
export const createCacheObserver = (metrics: Metrics): ((event: CacheEvent) => void) => {
  const count = createEventCounter(metrics, 'cache');
  const observeRead = createReadObserver(metrics);
  const observeFault = createFaultObserver(metrics);
  const observeConnection = createConnectionObserver(metrics);
  return (event) => {
    count(event);
    observeRead(event);
    observeFault(event);
    observeConnection(event);
  };
};

const CONNECTIONS: readonly CacheConnectionName[] = ['commands', 'subscriber'];

/** The first connection of a process is not a reconnection. */
const createConnectionObserver = (metrics: Metrics): ((event: CacheEvent) => void) => {
  const reconnects = metrics.counter({
    name: 'decision_cache_reconnects_total',
    help: 'Connections to the shared cache that were made again after one was lost, by connection.',
    labelNames: ['connection'],
  });
  const known = new Set<CacheConnectionName>();
  for (const connection of CONNECTIONS) reconnects.inc({ connection }, 0);
  return (event) => {
    if (event.type !== 'connection' || event.state !== 'connected') return;
    if (known.has(event.connection)) reconnects.inc({ connection: event.connection });
    known.add(event.connection);
  };
};

const createReadObserver = (metrics: Metrics): ((event: CacheEvent) => void) => {
  const reads = metrics.counter({
    name: 'decision_cache_reads_total',
    help: 'Reads by what is read and where it was found: in this process (local), in the shared cache, or in neither (miss).',
    labelNames: ['name', 'result'],
  });
  const loads = metrics.histogram({
    name: 'decision_cache_load_seconds',
    help: 'Time of the loads that followed a miss or refreshed an entry, by what is read and outcome.',
    labelNames: ['name', 'outcome'],
    buckets: LOAD_BUCKETS_SECONDS,
  });
  return (event) => {
    if (event.type === 'hit') reads.inc({ name: event.name, result: event.layer });
    else if (event.type === 'miss') reads.inc({ name: event.name, result: 'miss' });
    else if (event.type === 'load') loads.observe({ name: event.name, outcome: event.outcome }, event.ms / 1_000);
  };
};

const createFaultObserver = (metrics: Metrics): ((event: CacheEvent) => void) => {
  const commands = metrics.counter({
    name: 'decision_cache_failed_commands_total',
    help: 'Commands to the shared cache that failed, by command and reason.',
    labelNames: ['command', 'reason'],
  });
  const notShared = metrics.counter({
    name: 'decision_cache_not_shared_total',
    help: 'Loaded values that stayed out of the shared cache, by what was read and reason.',
    labelNames: ['name', 'reason'],
  });
  const invalidations = metrics.counter({
    name: 'decision_cache_invalidations_total',
    help: 'Messages about committed changes, by direction and kind of what changed.',
    labelNames: ['direction', 'kind'],
  });
  const dropped = metrics.counter({
    name: 'decision_cache_dropped_erasures_total',
    help: 'Deletes that were still to be sent to the shared cache and were given up.',
  });
  const circuit = metrics.gauge({
    name: 'decision_cache_circuit_open',
    help: 'Whether the shared cache is left alone for a while because it does not answer in time: 1 or 0.',
  });
  return (event) => {
    if (event.type === 'command_failed') commands.inc({ command: event.command, reason: event.reason });
    else if (event.type === 'not_shared') notShared.inc({ name: event.name, reason: event.reason });
    else if (event.type === 'invalidation') invalidations.inc({ direction: event.direction, kind: event.kind });
    else if (event.type === 'erasures_dropped') dropped.inc(event.count);
    else if (event.type === 'circuit') circuit.set(event.state === 'open' ? 1 : 0);
  };
};

/** Exports the connected state of each cache connection as a gauge. */
export const exportConnections = (metrics: Metrics, cache: Pick<Cache, 'status'>): void => {
  metrics.gauge({
    name: 'decision_cache_connected',
    help: 'Whether a connection to the shared cache is up, 1 or 0: the one for commands, or the one that hears of changes.',
    labelNames: ['connection'],
    collect() {
      const { connected, channel } = cache.status();
      this.set({ connection: 'commands' }, connected ? 1 : 0);
      this.set({ connection: 'subscriber' }, channel.ready ? 1 : 0);
    },
  });
};

/** Times the wait for a connection to the database. */
export const createAcquisitionObserver = (metrics: Metrics): ((waitedMs: number) => void) => {
  const seconds = metrics.histogram({
    name: 'decision_database_wait_seconds',
    help: 'Time that work has waited for a connection to the database, the opening of a new one included.',
    buckets: LOAD_BUCKETS_SECONDS,
  });
  return (waitedMs) => seconds.observe(waitedMs / 1_000);
};

/** Exports the states of connections of the database pool as a gauge. */
export const exportPool = (metrics: Metrics, database: Pick<Database, 'poolStatus'>): void => {
  metrics.gauge({
    name: 'decision_database_connections',
    help: 'Connections to the database: open in total, and idle; and work that waits for one.',
    labelNames: ['state'],
    collect() {
      const { total, idle, waiting } = database.poolStatus();
      this.set({ state: 'total' }, total);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
};
