import { randomBytes, randomUUID } from 'node:crypto';
import { createInvalidator } from '@decision/cache';
import { openAuthenticator, openMailer, openStores } from '@decision/infrastructure';
import { findPendingMigrations } from '@decision/persistence';
import { runService } from '@decision/service-kit';
import { createAnnounce, createAnnouncementMetrics, startAnnouncementRelay } from './announcements';
import { createObjectsApi } from './app';
import { createLiveCalls, openLiveCalls } from './tests/live-calls';
import { settings } from './config';
import { probeBroker } from './routes/health';

runService({
  name: 'objects-api',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const { database, cache } = await openStores({ name: 'objects-api', config, logger, metrics, stopper });
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
      (error) =>
        logger.warn({ err: error }, 'Pending announcements of other processes could not be sent; trying again.'),
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
      flowLimits: { nodes: config.flowMaxNodes, depth: config.flowMaxDepth },
      live: createLiveCalls(() => openLiveCalls(cache, { config, logger, metrics, stopper })),
      // Straight from the database: the service that manages keys must see a revocation at once.
      authenticator: openAuthenticator({ database, cache, config, logger, metrics }),
      publicUrl: config.publicUrl,
      mailer: openMailer(config, stopper),
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
