import { type Database, findApiKey, recordKeyUse } from '@decision/persistence';
import { type Authenticator, createAuthenticator, guardKeys, type Logger, type Metrics } from '@decision/service-kit';

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Finds a key by its selector. Default: straight from the database, so that the service that manages keys sees a revocation at once; services that
   * answer thousands of requests a second give a directory with caches.
   */
  readonly findKey?: Parameters<typeof createAuthenticator>[0]['findKey'];
}

/** The authenticator: proves keys, slows down guesses, and records when a key was used. */
export const openAuthenticator = ({ database, logger, metrics, findKey }: AuthenticatorOptions): Authenticator =>
  createAuthenticator({
    findKey: findKey ?? ((selector) => findApiKey(database, selector)),
    now: Date.now,
    ...guardKeys({
      metrics,
      logger,
      recordUse: ({ workspaceId, keyId }) =>
        database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) => recordKeyUse(transaction, keyId)),
    }),
  });
