import { type Broker } from '@decision/broker';
import { createAssetDirectory } from '@decision/cache';
import { ServiceError } from '@decision/contracts';
import { openAuthenticator, openBroker, openDecisionLog, openRequester, openStores } from '@decision/infrastructure';
import {
  type Database,
  findNumberedVersion,
  findAssetPointer,
  findWorkerFloor,
  readDesiredWorkers,
  setWorkerFloor,
} from '@decision/persistence';
import { openAdmission, openFlowAdmission, runService } from '@decision/service-kit';
import { createGateway } from './app';
import { settings } from './config';
import { createRefusals, type Refusals } from './refusals';
import { createScale, exportDesiredWorkers } from './routes/scale';
import { createDirectSolve, createSolve } from './solve';

runService({
  name: 'hps-gateway',
  settings,
  start: async ({ config, logger, metrics, stopper }) => {
    const { database, cache } = await openStores({ name: 'hps-gateway', config, logger, metrics, stopper });

    const whole = (workspaceId: string) => ({ workspaceId, userGroups: undefined });
    const directory = createAssetDirectory(cache, {
      findPointer: (workspaceId, kind, slug) =>
        database.inWorkspace(whole(workspaceId), (transaction) => findAssetPointer(transaction, kind, slug)),
      findNumberedVersion: (workspaceId, assetId, number) =>
        database.inWorkspace(whole(workspaceId), (transaction) => findNumberedVersion(transaction, assetId, number)),
    });

    const broker = openBroker({ name: 'hps-gateway', config, logger, stopper });
    const requester = broker && openRequester(broker, 'gatewayReplies', { config, metrics, stopper });
    if (requester === undefined) logger.warn('MQ_BROKERS names no broker: every solve is answered 503.');
    const scale = createScale(
      {
        countWorkers: () => (broker === undefined ? Promise.reject(noBroker()) : broker.countMembers('workers')),
        findFloor: (access) => database.inWorkspace(access, findWorkerFloor),
        setFloor: (access, wanted) =>
          database.inWorkspace(access, (transaction) => setWorkerFloor(transaction, wanted)),
      },
      config,
    );
    exportDesiredWorkers(metrics, () => readDesiredWorkers(database));
    const refusals = broker && openRefusals(broker, database, { config, logger, metrics, stopper });
    const server = createGateway({
      config,
      logger,
      metrics,
      authenticator: openAuthenticator({
        database,
        cache,
        config,
        logger,
        metrics,
        keyCache: cache,
      }),
      admission: openAdmission(config, metrics),
      flowAdmission: openFlowAdmission(config, metrics),
      openSolve: createSolve(directory, requester, config.rpcTimeoutMs),
      direct: requester && createDirectSolve(directory, requester, config.rpcTimeoutMs),
      refusals,
      scale,
      cacheStatus: () => cache.status(),
      requesterStatus: () => requester?.status(),
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    // Joining follows listening: only one process can listen here, and it succeeds one that died here.
    await requester?.start();
    logger.info({ url }, 'Listening.');
  },
});

type RefusalsOpening = Parameters<typeof openDecisionLog>[2];

/** Undefined if decisions are not logged. */
const openRefusals = (broker: Broker, database: Database, opening: RefusalsOpening): Refusals | undefined => {
  const decisions = openDecisionLog(broker, database, opening);
  if (decisions === undefined) return undefined;
  const noted = opening.metrics.counter({
    name: 'decision_refusals_total',
    help: 'Requests that this process refused or gave up: on record in the decision log, or beyond what is kept in one second.',
    labelNames: ['outcome'],
  });
  const refusals = createRefusals({ decisions, onNoted: (outcome) => noted.inc({ outcome }) });
  opening.stopper.add('refusals', () => Promise.resolve(refusals.flush()));
  return refusals;
};

const noBroker = (): ServiceError =>
  new ServiceError('broker_unavailable', 'The message broker is disabled; there are no workers here.');
