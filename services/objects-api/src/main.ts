import { randomBytes, randomUUID } from 'node:crypto';
import { createInvalidator, openCache } from '@decision/cache';
import { findApiKey, findPendingMigrations, openDatabase, recordKeyUse, requireDatabase } from '@decision/persistence';
import { createAuthenticator, createEventCounter, guardKeys, runService } from '@decision/service-kit';
import { createAnnounce } from './announce';
import { createAnnouncementMetrics } from './announcement-metrics';
import { startAnnouncementRelay } from './announcing';
import { createObjectsApi } from './app';
import { settings } from './config';
import { probeBroker } from './health/probe-broker';

runService({
  name: 'objects-api',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const databaseUrl = config.databaseUrl.reveal();
    await requireDatabase(databaseUrl, { onRetry: (message) => logger.warn(message) });
    const database = openDatabase({
      url: databaseUrl,
      poolMax: config.databasePoolMax,
      applicationName: 'objects-api',
    });
    stopper.add('database', () => database.close());
    const cache = openCache(
      { url: config.cacheUrl?.reveal(), keyPrefix: config.cacheKeyPrefix },
      logger,
      createEventCounter(metrics, 'cache'),
    );
    stopper.add('cache', () => cache.close());
    const invalidator = createInvalidator(cache);
    stopper.add('invalidator', () => invalidator.close());
    const isReachable = (): boolean => {
      const { enabled, connected } = cache.status();
      return !enabled || connected;
    };
    const announcementMetrics = createAnnouncementMetrics(metrics);
    const announcing = { database, announce: announcementMetrics.counting(createAnnounce(invalidator, isReachable)) };
    const relay = startAnnouncementRelay(
      announcing,
      (error) => logger.warn({ err: error }, 'Announcements that others owe could not be made up for; trying again.'),
      { onRound: announcementMetrics.round },
    );
    stopper.add('announcements', () => relay.stop());
    const server = createObjectsApi({
      config,
      logger,
      metrics,
      ...announcing,
      newId: randomUUID,
      randomBytes,
      now: Date.now,
      // Straight from the database: whoever manages keys must see a revocation at once.
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
      publicUrl: config.publicUrl.replace(/\/+$/, ''),
      health: {
        pingDatabase: () => database.ping(),
        pendingMigrations: () => findPendingMigrations(database),
        cacheStatus: () => cache.status(),
        probeBroker: config.mqBrokers.length === 0 ? undefined : () => probeBroker(config.mqBrokers),
      },
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    logger.info({ url }, 'Listening.');
  },
});
