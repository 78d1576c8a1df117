import { tmpdir } from 'node:os';
import { openAuthenticator, openBroker, openStoreUnasked } from '@decision/infrastructure';
import { type Database, openDatabase } from '@decision/persistence';
import { type Logger, runService, type Stopper } from '@decision/service-kit';
import { createCollectorServer } from './app';
import { startArchiveUpkeep } from './archiving/archive-upkeep';
import { openArchive, type OpenedArchive, openReading } from './archiving/open-archive';
import { type Archive, startArchive } from './archiving/start-archive';
import { startCollecting } from './collecting/collect';
import { type CollectorConfig, settings } from './config';
import { openArchiveStore } from './queries/archive-store';
import { type DecisionStore } from './queries/decision-store';
import { openTableStore } from './queries/table-store';
import { openSinks } from './sinks/open-sinks';
import { startSinks } from './sinks/start-sinks';

/** Connections for storing, separate from those for questions, so that slow questions delay no record. */
const STORING_CONNECTIONS = 2;

runService({
  name: 'log-collector',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const sinks = await openSinks(config);
    const opened = await openArchive(config);
    // While the database is away, archive and sinks continue, and questions are answered 503.
    const { database, usable, waitingFor } = openStoreUnasked({
      name: 'log-collector',
      config,
      logger,
      metrics,
      stopper,
      isPipelined: true,
    });
    const broker = openBroker({ name: 'log-collector', config, logger, stopper });
    if (broker === undefined)
      logger.warn('MQ_BROKERS names no broker: nothing is collected; what is stored can be read.');
    const collecting =
      config.logStore === 'archive'
        ? undefined
        : startCollecting({ database: openStoring(config, stopper), broker, config, logger, metrics, stopper });
    let archive: Archive | undefined;
    let running: ReturnType<typeof startSinks> | undefined;
    const collectedTo = () => (collecting ?? { collectedTo: () => archive?.archivedTo() }).collectedTo();
    const server = createCollectorServer({
      ...{ config, logger, metrics, collectedTo },
      store: await openStoreOf({ config, database, opened, stopper, logger, archivedTo: () => archive?.archivedTo() }),
      fileFolder: tmpdir(),
      authenticator: openAuthenticator({ database, config, logger, metrics }),
      health: {
        pingDatabase: () => database.ping(),
        waitingFor,
        subscriberStatus: () => (collecting === undefined ? archive?.subscriberStatus() : collecting.status()),
        archiveStatus: () => archive?.status(),
        sinkStatus: () => running?.status() ?? [],
      },
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    // Joins after listening, since only one process can listen on this port, and it takes over from one that died.
    if (broker !== undefined) running = startSinks({ sinks, broker, config, logger, metrics, stopper });
    if (broker !== undefined && opened !== undefined) {
      archive = await startArchive(opened, { broker, config, logger, metrics, stopper });
      await startArchiveUpkeep(opened, { config, logger, metrics, stopper });
    }
    logger.info({ url }, 'Listening.');
    await usable();
    collecting?.start();
  },
});

const openStoring = (config: CollectorConfig, stopper: Stopper): Database => {
  const storing = openDatabase({
    ...{ url: config.databaseUrl.reveal(), poolMax: STORING_CONNECTIONS, applicationName: 'log-collector' },
    statementTimeoutMs: 30_000,
  });
  stopper.add('database of the collector', () => storing.close());
  return storing;
};

interface StoreOptions {
  readonly config: CollectorConfig;
  readonly database: Database;
  readonly opened: OpenedArchive | undefined;
  readonly stopper: Stopper;
  readonly logger: Logger;
  readonly archivedTo: () => number | undefined;
}

const openStoreOf = async ({
  config,
  database,
  opened,
  stopper,
  logger,
  archivedTo,
}: StoreOptions): Promise<DecisionStore> => {
  if (opened === undefined || config.logStore === 'table') return openTableStore(database);
  const reading = await openReading(opened, config, stopper);
  return openArchiveStore({ database, reading, maxDays: config.queryMaxDays, archivedTo, logger, now: Date.now });
};
