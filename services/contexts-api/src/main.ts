import { randomUUID } from 'node:crypto';
import { openConnectors } from '@decision/connectors';
import {
  BRIEFLY_COMPILED_CELLS,
  combineWriters,
  createFlowRunner,
  createStoredFlows,
  createStoredRules,
  type RequestFault,
} from '@decision/execution';
import {
  createCompileObserver,
  createNotificationStore,
  openAuthenticator,
  openBroker,
  openDecisions,
  openEvaluationThreads,
  openRequester,
  openStores,
} from '@decision/infrastructure';
import {
  createContextDirectory,
  createFailureLogger,
  createLocalSettler,
  createOperationsObserver,
  createSettler,
  openEntities,
} from '@decision/operations';
import { openAdmission, runService } from '@decision/service-kit';
import { createContextsApi } from './app';
import { settings } from './config';
import { createUpkeepObserver, startUpkeep } from './upkeep/upkeep';

/** Memory for rules compiled in this process, for operations that fit into no message, bytes; flows have as much. */
const COMPILED_BYTES = 67_108_864;

/** Time to reach a worker after the start, ms; after it, a process does what it can without workers. */
const STARTED_WITHIN_MS = 15_000;

runService({
  name: 'contexts-api',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const { database, cache } = await openStores({
      ...{ name: 'contexts-api', config, logger, metrics, stopper },
      ...{ isPipelined: true, keepsPlans: true },
    });
    const broker = openBroker({ name: 'contexts-api', config, logger, stopper });
    const requester = broker && openRequester(broker, 'contextReplies', { config, metrics, stopper });
    if (requester === undefined)
      logger.warn('MQ_BROKERS names no broker: facts are merged, and no rule or flow is run.');
    const directory = createContextDirectory(database);
    const onEvent = createOperationsObserver(metrics);
    const threads = openEvaluationThreads({ name: 'contexts-api', config, metrics, stopper });
    const onCompiled = createCompileObserver(metrics);
    const rules = createStoredRules(database, cache, {
      maxCells: threads && BRIEFLY_COMPILED_CELLS,
      maxBytes: COMPILED_BYTES,
      onCompiled,
      onStale: (error) =>
        logger.warn({ err: error }, 'Values could not be read again; rules go on with those they have.'),
    });
    const flows = createFlowRunner({
      ...{ library: createStoredFlows(database, cache, rules, { maxBytes: COMPILED_BYTES, onCompiled }), threads },
      callFor: (run) => connectors.callFor(run),
      keepFor: (run) => connectors.keepFor(run),
      ...{ maxSteps: config.flowMaxSteps, maxWaiting: config.flowMaxWaiting },
    });
    const decisions =
      broker === undefined ? combineWriters([]) : openDecisions(broker, database, { config, logger, metrics, stopper });
    const settling = {
      ...{ library: rules, threads, flows, decisions, newId: randomUUID, requester: 'contexts-api' as const },
      onFault: ({ cause, requestId, ...fault }: RequestFault) =>
        logger.error({ ...fault, request_id: requestId, err: cause }, 'A rule or flow of a context had no answer.'),
    };
    const entities = openEntities({ database, directory, settling, config, logger, onEvent });
    const outbox = createNotificationStore(database);
    const connectors = openConnectors(cache, { config, logger, metrics, stopper, entities, outbox });
    const operate = {
      database,
      directory,
      settler: createSettler({ requester, local: createLocalSettler(settling), chunkBytes: config.chunkBytes }),
      line: { mostWaiting: config.maxWaiting, ticketLeaseMs: config.leaseMs, onEvent },
      leaseMs: config.leaseMs,
      onFailure: createFailureLogger(logger),
      onEvent,
    };
    const startedBy = performance.now() + STARTED_WITHIN_MS;
    const upkeep = startUpkeep(
      {
        ...{ database, directory, operate, timeoutMs: config.rpcTimeoutMs, chunkSize: config.batchChunk },
        ...{ now: Date.now, newId: randomUUID },
        isStarting: () => requester?.status().reason !== undefined && performance.now() < startedBy,
        onError: (error) => logger.warn({ err: error }, 'Upkeep of contexts failed; it is tried again.'),
        onEvent: createUpkeepObserver(metrics, logger),
      },
      config.upkeepPeriodMs,
    );
    stopper.add('upkeep', () => upkeep.stop());
    const server = createContextsApi({
      ...{ config, logger, metrics, database, directory, operate, newId: randomUUID },
      timeoutMs: config.rpcTimeoutMs,
      chunkSize: config.batchChunk,
      lineMaxBytes: config.itemMaxBytes,
      chunkBytes: config.chunkBytes,
      admission: openAdmission(config, metrics),
      authenticator: openAuthenticator({ database, cache, keyCache: cache, config, logger, metrics }),
      health: {
        pingDatabase: () => database.ping(),
        cacheStatus: () => cache.status(),
        requesterStatus: () => requester?.status(),
      },
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    // Joining comes after listening: only one process can listen here, and it takes over from one that died here.
    await requester?.start();
    logger.info({ url }, 'Listening.');
  },
});
