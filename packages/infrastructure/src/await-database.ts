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
 * Resolves once the database can be used, however long that takes. Until then the service listens at its address and says what it waits for: in
 * `/ready`, which is 503, and in one line of the log each time it is something else. Everything else is answered 503. Where the database can be used
 * at once nothing listens. Rejects with `StartRefusal` where the address cannot be used.
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
    // The service itself listens at this address next.
    await server.stop(0);
  }
};

/** Resolves once the database can be used. What it waits for is logged, and handed to `onReason` as a sentence, each time it is something else. */
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

/** A route that the service will have must not be answered 404 until it has it. */
const refuseAllButState: HotRoute = (request, response, context) => {
  if (STATE_PATHS.has(request.url ?? '')) return false;
  sendError(
    response,
    new ServiceError('database_unavailable', 'The service is starting; it waits for its database.'),
    context,
  );
  return true;
};
