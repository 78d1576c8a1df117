import { randomUUID } from 'node:crypto';
import { brokerPlace, brokerSecurity, createBroker, createRequester } from '@decision/broker';
import { openCache } from '@decision/cache';
import { findApiKey, openDatabase, recordKeyUse, requireDatabase } from '@decision/persistence';
import { createAuthenticator, createEventCounter, guardKeys, runService, StartRefusal } from '@decision/service-kit';
import { createContextsApi } from './app';
import { settings } from './config';
import { createContextDirectory } from './definitions/context-directory';
import { createBrokerSettler } from './operations/settler';
import { startUpkeep } from './upkeep/upkeep';

runService({
  name: 'contexts-api',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const databaseUrl = config.databaseUrl.reveal();
    await requireDatabase(databaseUrl, { onRetry: (message) => logger.warn(message) });
    const database = openDatabase({
      url: databaseUrl,
      poolMax: config.databasePoolMax,
      applicationName: 'contexts-api',
    });
    stopper.add('database', () => database.close());
    const cache = openCache(
      { url: config.cacheUrl?.reveal(), keyPrefix: config.cacheKeyPrefix },
      logger,
      createEventCounter(metrics, 'cache'),
    );
    stopper.add('cache', () => cache.close());
    const requester = config.mqBrokers.length === 0 ? undefined : openRequester();
    if (requester === undefined) logger.warn('MQ_BROKERS names no broker: facts are merged, and no rule is run.');
    const directory = createContextDirectory(database);
    const operate = {
      database,
      settler: createBrokerSettler(requester),
      line: { mostWaiting: config.maxWaiting, ticketLeaseMs: config.leaseMs },
      leaseMs: config.leaseMs,
    };
    const upkeep = startUpkeep(
      {
        ...{ database, directory, operate, timeoutMs: config.rpcTimeoutMs, now: Date.now, newId: randomUUID },
        onError: (error) => logger.warn({ err: error }, 'Upkeep of contexts failed; it is tried again.'),
        onEvent: createEventCounter(metrics, 'upkeep'),
      },
      config.upkeepPeriodMs,
    );
    stopper.add('upkeep', () => upkeep.stop());
    const server = createContextsApi({
      ...{ config, logger, metrics, database, directory, operate, newId: randomUUID },
      timeoutMs: config.rpcTimeoutMs,
      chunkSize: config.batchChunk,
      // Straight from the database: every request goes there anyhow.
      authenticator: createAuthenticator({
        findKey: (selector) => findApiKey(database, selector),
        now: Date.now,
        ...guardKeys({
          metrics,
          logger,
          recordUse: ({ workspaceId, keyId }) =>
            database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
              recordKeyUse(transaction, keyId),
            ),
        }),
      }),
      health: {
        pingDatabase: () => database.ping(),
        cacheStatus: () => cache.status(),
        requesterStatus: () => requester?.status(),
      },
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    // Joining comes after listening: whoever listens here is the only one, and takes over from who died here.
    await requester?.start();
    logger.info({ url }, 'Listening.');

    function openRequester() {
      const security = brokerSecurity(config);
      if (!security.ok) throw new StartRefusal(security.faults.join(' '));
      const broker = createBroker(
        {
          brokers: config.mqBrokers,
          clientId: 'contexts-api',
          ...brokerPlace(config),
          topicPrefix: config.mqTopicPrefix,
          ...security.settings,
        },
        logger,
      );
      stopper.add('broker', () => broker.close());
      broker.watchTopics([{ topic: 'solution' }, { topic: 'solutionResponse', partitions: config.maxWorkers }]);
      const opened = createRequester(broker, {
        group: 'contextReplies',
        expectedPartitions: config.maxWorkers,
        onEvent: createEventCounter(metrics, 'requester'),
      });
      stopper.add('requester', (drainMs) => opened.stop({ drainMs }));
      return opened;
    }
  },
});
