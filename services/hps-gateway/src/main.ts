import { brokerPlace, brokerSecurity, createBroker, createRequester } from '@decision/broker';
import { openCache } from '@decision/cache';
import {
  findApiKey,
  findNumberedVersion,
  findRulePointer,
  openDatabase,
  recordKeyUse,
  requireDatabase,
} from '@decision/persistence';
import { createAuthenticator, createEventCounter, guardKeys, runService, StartRefusal } from '@decision/service-kit';
import { openAdmission } from './open-admission';
import { createGateway } from './app';
import { settings } from './config';
import { createKeyDirectory } from './key-directory';
import { createRuleDirectory } from './rule-directory';
import { createSolve } from './solve';

runService({
  name: 'hps-gateway',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const databaseUrl = config.databaseUrl.reveal();
    await requireDatabase(databaseUrl, { onRetry: (message) => logger.warn(message) });
    const database = openDatabase({
      url: databaseUrl,
      poolMax: config.databasePoolMax,
      applicationName: 'hps-gateway',
    });
    stopper.add('database', () => database.close());
    const cache = openCache(
      { url: config.cacheUrl?.reveal(), keyPrefix: config.cacheKeyPrefix },
      logger,
      createEventCounter(metrics, 'cache'),
    );
    stopper.add('cache', () => cache.close());

    const whole = (workspaceId: string) => ({ workspaceId, userGroups: undefined });
    const directory = createRuleDirectory(cache, {
      findPointer: (workspaceId, slug) =>
        database.inWorkspace(whole(workspaceId), (transaction) => findRulePointer(transaction, slug)),
      findNumberedVersion: (workspaceId, ruleId, number) =>
        database.inWorkspace(whole(workspaceId), (transaction) => findNumberedVersion(transaction, ruleId, number)),
    });
    const keys = createKeyDirectory(cache, (selector) => findApiKey(database, selector));

    const requester = config.mqBrokers.length === 0 ? undefined : openRequester();
    if (requester === undefined) logger.warn('MQ_BROKERS names no broker: every solve is answered 503.');
    const server = createGateway({
      config,
      logger,
      metrics,
      authenticator: createAuthenticator({
        findKey: (selector) => keys.find(selector),
        now: Date.now,
        ...guardKeys({
          metrics,
          logger,
          recordUse: ({ workspaceId, keyId }) =>
            database.inWorkspace(whole(workspaceId), (transaction) => recordKeyUse(transaction, keyId)),
        }),
      }),
      admission: openAdmission(config, metrics),
      openSolve: createSolve(directory, requester, config.rpcTimeoutMs),
      cacheStatus: () => cache.status(),
      requesterStatus: () => requester?.status(),
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
          clientId: 'hps-gateway',
          ...brokerPlace(config),
          topicPrefix: config.mqTopicPrefix,
          ...security.settings,
        },
        logger,
      );
      stopper.add('broker', () => broker.close());
      broker.watchTopics([{ topic: 'solution' }, { topic: 'solutionResponse', partitions: config.maxWorkers }]);
      const opened = createRequester(broker, {
        group: 'gatewayReplies',
        expectedPartitions: config.maxWorkers,
        onEvent: createEventCounter(metrics, 'requester'),
      });
      stopper.add('requester', (drainMs) => opened.stop({ drainMs }));
      return opened;
    }
  },
});
