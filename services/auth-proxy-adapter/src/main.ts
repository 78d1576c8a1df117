import { openStores } from '@decision/infrastructure';
import { runService } from '@decision/service-kit';
import { createAdapter } from './app';
import { missingVariables, settings } from './config';
import { openMail } from './open-mail';
import { openPeople } from './open-people';
import { applySavedMapping } from './passthrough/saved-mapping';

runService({
  name: 'auth-proxy-adapter',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const { database, cache } = await openStores({ name: 'auth-proxy-adapter', config, logger, metrics, stopper });
    const missing = missingVariables(config);
    if (missing.length > 0)
      logger.error(
        { missing },
        'Token passthrough is enabled but required variables are missing: every request is refused.',
      );
    const server = createAdapter({
      ...{ config, logger, metrics },
      people: openPeople({
        ...{ config, database, cache, metrics, logger, applyMapping: applySavedMapping },
        mail: openMail({ config, logger, metrics, stopper }),
      }),
      pingDatabase: () => database.ping(),
      cacheStatus: () => cache.status(),
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    logger.info({ url }, 'Listening.');
  },
});
