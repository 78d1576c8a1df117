import { ServiceError } from '@decision/contracts';
import { requireDatabase } from '@decision/persistence';
import {
  type Config,
  createServiceServer,
  type databaseSettings,
  type HotRoute,
  type HttpConfig,
  sendError,
  type ServiceServer,
} from '@decision/service-kit';
import { type Opening } from './opening';

export type AwaitingConfig = Config<typeof databaseSettings> & HttpConfig;

/**
 * Resolves once the database is usable, after any length of time. Until then the service listens on its address and states the reason: in
 * `/ready`, which answers 503, and in one line of the log per new reason. All other requests are answered 503. If the database is usable at
 * once, nothing listens (decision 71). Rejects with `StartRefusal` if the address cannot be used.
 */
export const awaitDatabase = async (opening: Opening<AwaitingConfig>): Promise<void> => {
  const first = await requireDatabase(opening.config.databaseUrl.reveal(), { deadlineMs: 0 }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (first === undefined) return;
  let reason = 'The database was not usable at the start.';
  const server = createStartingServer(opening, () => reason);
  opening.stopper.add('answers while starting', () => server.stop(0));
  await server.listen();
  try {
    await waitForDatabase(opening, (said) => (reason = said));
    opening.logger.info('The database can be used; the service goes on.');
  } finally {
    // The service itself listens on this address next.
    await server.stop(0);
  }
};

/** Resolves once the database is usable. Each new reason for waiting is logged, and passed to `onReason` as a sentence. */
export const waitForDatabase = (
  { config, logger }: Pick<Opening<Config<typeof databaseSettings>>, 'config' | 'logger'>,
  onReason: (reason: string) => void,
): Promise<void> =>
  requireDatabase(config.databaseUrl.reveal(), {
    onProblem: (problem) => {
      const reason = `Waiting for the database: ${problem}`;
      logger.warn(reason);
      onReason(reason);
    },
  });

const createStartingServer = (opening: Opening<AwaitingConfig>, reason: () => string): ServiceServer =>
  createServiceServer({
    ...opening.config,
    ...{ name: opening.name, version: '0.1.0', logger: opening.logger, metrics: opening.metrics },
    operations: [],
    health: () => ({ status: 'starting', database: false }),
    healthPaths: [HEALTH_OF_API],
    ready: () => ({ ready: false, reason: reason() }),
    hot: { route: refuseAllButState, operations: [] },
  });

const HEALTH_OF_API = '/api/health';
const STATE_PATHS: ReadonlySet<string> = new Set(['/health', HEALTH_OF_API, '/ready', '/metrics', '/api/metrics']);

/** A route of the service must not be answered 404 before the service is ready. */
const refuseAllButState: HotRoute = (request, response, context) => {
  if (STATE_PATHS.has(request.url ?? '')) return false;
  sendError(
    response,
    new ServiceError('database_unavailable', 'The service is starting; it waits for its database.'),
    context,
  );
  return true;
};
