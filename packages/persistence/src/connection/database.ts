import { type Client } from 'pg';
import { claim } from './claims';
import { type DatabaseSettings } from './database-settings';
import { createPool } from './pool';
import { type Bindings, query, type Transaction } from './query';
import { translateError } from './translate-error';
import { type WorkspaceAccess } from './workspace-access';

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
  /** Lets running transactions finish within `closeTimeoutMs`, then closes every connection. Idempotent. */
  close(): Promise<void>;
}

/** Makes a pool; nothing is connected yet. Throws `internal_error` for a URL of a wrong form. */
export const openDatabase = (settings: DatabaseSettings): Database => {
  const pool = createPool(settings);
  const { knex } = pool;

  const lookUp: Database['lookUp'] = async <Row>(sql: string, bindings: Bindings = {}) => {
    try {
      return await pool.lend((connection) =>
        query<Row>({ raw: (text, values) => knex.raw(text, values).connection(connection) }, sql, bindings),
      );
    } catch (error) {
      throw translateError(error);
    }
  };

  const inWorkspace: Database['inWorkspace'] = async (access, work) => {
    let failure: { readonly error: unknown } | undefined;
    const transact = (connection: Client) =>
      knex.transaction(
        async (transaction) => {
          try {
            await claim(transaction, access);
            return await work(transaction);
          } catch (error) {
            failure = { error };
            // Before the rollback, which would wait for the same silence again.
            pool.discardIfBroken(connection, error);
            throw error;
          }
        },
        { connection },
      );
    try {
      return await pool.lend(transact);
    } catch (error) {
      // What went wrong first counts; a rollback that fails too says less.
      throw translateError(failure ? failure.error : error);
    }
  };

  return {
    ping: async () => {
      await lookUp('select 1');
    },
    inWorkspace,
    lookUp,
    close: () => pool.close(),
  };
};
