import { type Client } from 'pg';
import { type DatabaseSettings } from './database-settings';
import { createPool, type PoolStatus } from './pool';
import { type Bindings, query, type Transaction } from './query';
import { runnerOn, transact } from './transact';
import { translateError } from './translate-error';
import { type WorkspaceAccess } from './access';

/**
 * A pool of connections that act as the runtime role, under row security. Connections are opened when first needed and replaced when they
 * break, so a recovered database is used again at once.
 *
 * Every method throws `database_unavailable` if the database cannot be reached or does not answer in time, and `shutting_down` after {@link
 * close}.
 */
export interface Database {
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  /**
   * Runs work in one transaction as a workspace and commits it; a failure of the work rolls it back and is rethrown. If the connection is
   * lost during the commit, the outcome is unknown: writes that may be repeated have their own id.
   */
  inWorkspace<T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs one statement without a workspace. Row security hides every row from it; only lookup functions return data. */
  lookUp<Row>(sql: string, bindings?: Bindings): Promise<readonly Row[]>;
  /** The current state of the pool's connections. */
  poolStatus(): PoolStatus;
  /** Lets running transactions finish within `closeTimeoutMs`, then closes every connection. Idempotent. */
  close(): Promise<void>;
}

/** Creates a pool; nothing is connected yet. Throws `internal_error` for a malformed URL. */
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
