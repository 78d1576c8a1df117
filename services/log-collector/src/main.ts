import { openAuthenticator, openBroker, openStore } from '@decision/infrastructure';
import { openDatabase } from '@decision/persistence';
import { runService } from '@decision/service-kit';
import { createCollectorServer } from './app';
import { type ArchiveStatus, startArchive } from './archiving/start-archive';
import { startCollecting } from './collecting/collect';
import { settings } from './config';
import { openTableStore } from './queries/table-store';
import { openSinks } from './sinks/open-sinks';
import { startSinks } from './sinks/start-sinks';

/** Connections for storing, beside those that answer questions: slow questions hold up no record. */
const STORING_CONNECTIONS = 2;

runService({
  name: 'log-collector',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const sinks = await openSinks(config);
    const database = await openStore({ name: 'log-collector', config, logger, metrics, stopper });
    const broker = openBroker({ name: 'log-collector', config, logger, stopper });
    if (broker === undefined)
      logger.warn('MQ_BROKERS names no broker: nothing is collected; what is stored can be read.');
    const storing = openDatabase({
      ...{ url: config.databaseUrl.reveal(), poolMax: STORING_CONNECTIONS, applicationName: 'log-collector' },
      statementTimeoutMs: 30_000,
    });
    stopper.add('database of the collector', () => storing.close());
    const collecting = startCollecting({ database: storing, broker, config, logger, metrics, stopper });
    let archive: { status(): ArchiveStatus } | undefined;
    let running: ReturnType<typeof startSinks> | undefined;
    const server = createCollectorServer({
      ...{ config, logger, metrics, store: openTableStore(database), collectedTo: () => collecting.collectedTo() },
      authenticator: openAuthenticator({ database, logger, metrics }),
      health: {
        pingDatabase: () => database.ping(),
        subscriberStatus: () => collecting.status(),
        archiveStatus: () => archive?.status(),
        sinkStatus: () => running?.status() ?? [],
      },
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    // Joining comes after listening: only one process can listen here, and it takes over from one that died here.
    collecting.start();
    if (broker !== undefined) running = startSinks({ sinks, broker, config, logger, metrics, stopper });
    if (broker !== undefined) archive = await startArchive({ broker, config, logger, metrics, stopper });
    logger.info({ url }, 'Listening.');
  },
});
