import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { openConnectors, openNotifications } from '@decision/connectors';
import {
  BRIEFLY_COMPILED_CELLS,
  createContextModels,
  createFlowRunner,
  createStoredFlows,
  createStoredRules,
  type RequestFault,
} from '@decision/execution';
import {
  createCompileObserver,
  createNotificationStore,
  openBroker,
  openDecisions,
  openEvaluationThreads,
  openResponder,
  openStores,
} from '@decision/infrastructure';
import { createContextDirectory, createOperationsObserver, openEntities } from '@decision/operations';
import { runService, StartRefusal } from '@decision/service-kit';
import { createWorkerServer } from './app';
import { settings } from './config';
import { createHandler } from './handle';

runService({
  name: 'solve-worker',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const broker = openBroker({ name: 'solve-worker', config, logger, stopper });
    if (broker === undefined)
      throw new StartRefusal('MQ_BROKERS names no broker; a worker has nothing to do without one.');
    const { database, cache } = await openStores({
      ...{ name: 'solve-worker', config, logger, metrics, stopper },
      keepsPlans: true,
    });
    const threads = openEvaluationThreads({ name: 'solve-worker', config, metrics, stopper });
    const onCompiled = createCompileObserver(metrics);
    const library = createStoredRules(database, cache, {
      maxCells: threads && BRIEFLY_COMPILED_CELLS,
      maxBytes: config.maxCompiledBytes,
      onCompiled,
      onStale: (error) =>
        logger.warn({ err: error }, 'Values could not be read again; rules go on with those they have.'),
    });
    const flowLibrary = createStoredFlows(database, cache, library, { maxBytes: config.maxCompiledBytes, onCompiled });
    const runner = createFlowRunner({
      ...{
        library: flowLibrary,
        threads,
        callFor: (run) => connectors.callFor(run),
        keepFor: (run) => connectors.keepFor(run),
      },
      ...{ maxSteps: config.flowMaxSteps, maxWaiting: config.flowMaxWaiting },
    });
    metrics.gauge({
      name: 'decision_flows_waiting',
      help: 'Runs of flows that wait for other systems, or have done so, and have not ended.',
      collect() {
        this.set(runner.waiting());
      },
    });

    const decisions = openDecisions(broker, database, { config, logger, metrics, stopper });
    const onFault = ({ cause, requestId, ...fault }: RequestFault): void =>
      logger.error({ ...fault, request_id: requestId, err: cause }, 'A rule or flow of a context had no answer.');
    const entities = openEntities({
      ...{ database, directory: createContextDirectory(database), config, logger },
      onEvent: createOperationsObserver(metrics),
      settling: {
        ...{ library, threads, flows: runner, decisions, newId: randomUUID, requester: 'solve-worker', onFault },
      },
    });
    const outbox = createNotificationStore(database);
    const sender = openNotifications(outbox, { config, logger, metrics, stopper });
    const connectors = openConnectors(cache, { config, logger, metrics, stopper, entities, outbox });
    const responder = openResponder(
      broker,
      { logger, metrics },
      {
        group: 'workers',
        workerId: `${hostname()}-${randomUUID().slice(0, 8)}`,
        sessionTimeoutMs: config.sessionTimeoutMs,
        heartbeatIntervalMs: config.heartbeatIntervalMs,
        partitionConcurrency: config.partitionConcurrency,
        beforeCommit: decisions.settled,
        handle: createHandler({
          ...{ library, threads, models: createContextModels(), decisions },
          messageBytes: config.executionMessageBytes,
          flows: {
            ...{ runner, library: flowLibrary },
            notify: async (workspaceId, notifications) => {
              await outbox.write(workspaceId, notifications).catch((error: unknown) => {
                logger.warn({ err: error }, 'Notifications of a flow could not be stored; the flow fails.');
                throw error;
              });
              sender.wake();
            },
          },
          onFault,
        }),
      },
    );
    const server = createWorkerServer({
      config,
      logger,
      metrics,
      cacheStatus: () => cache.status(),
      responderStatus: () => responder.status(),
      compiledRules: () => library.size(),
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    stopper.add('responder', (drainMs) => responder.stop({ drainMs }));
    const { url } = await server.listen();
    await responder.start();
    logger.info({ url }, 'Listening.');
  },
});
