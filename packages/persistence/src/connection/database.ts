import { type Client } from 'pg';
import { type DatabaseSettings } from './database-settings';
import { createPool, type PoolStatus } from './pool';
import { type Bindings, query, type Transaction } from './query';
import { runnerOn, transact } from './transact';
import { translateError } from './translate-error';
import { type WorkspaceAccess } from './access';

/**
 * A pool of connections that act as the runtime role, under row security. Connections are opened when first needed and replaced
 * when they break, so a database that was away is used again as soon as it is back.
 *
 * Every method throws `database_unavailable` where the database cannot be reached or does not answer in time, and
 * `shutting_down` after {@link close}.
 */
export interface Database {
  /** Answers when the database does. */
  ping(): Promise<void>;
  /**
   * Runs work in one transaction as a workspace and commits it; a failure of the work rolls it back and is thrown on. When the
   * connection is lost during the commit, whether it happened is unknown: writes that may be sent again carry their own id.
   */
  inWorkspace<T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs one statement on behalf of no workspace. Row security hides every row from it; only lookup functions answer. */
  lookUp<Row>(sql: string, bindings?: Bindings): Promise<readonly Row[]>;
  /** What the connections of the pool do now. */
  poolStatus(): PoolStatus;
  /** Lets running transactions finish within `closeTimeoutMs`, then closes every connection. Idempotent. */
  close(): Promise<void>;
}

/** Makes a pool; nothing is connected yet. Throws `internal_error` for a URL of a wrong form. */
export const openDatabase = (settings: DatabaseSettings): Database => {
  const pool = createPool(settings);

  const lend = async <T>(work: (connection: Client) => Promise<T>): Promise<T> => {
    try {
      return await pool.lend(work);
    } catch (error) {
      throw translateError(error);
    }
  };

  const lookUp: Database['lookUp'] = <Row>(sql: string, bindings: Bindings = {}) =>
    lend((connection) => query<Row>(runnerOn(connection), sql, bindings));

  const inWorkspace: Database['inWorkspace'] = (access, work) =>
    lend((connection) => transact(connection, access, work, pool));

  return {
    ping: async () => {
      await lookUp('select 1');
    },
    inWorkspace,
    lookUp,
    poolStatus: () => pool.status(),
    close: () => pool.close(),
  };
};
