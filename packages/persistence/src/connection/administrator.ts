import { settledWithin } from '@decision/waiting';
import { Client } from 'pg';
import { checkDatabaseUrl } from './database-url';
import { translateError } from './translate-error';

/** For a connection of an operator's task, ms: a busy database may take its time to accept one. */
export const ADMINISTRATOR_CONNECT_TIMEOUT_MS = 20_000;
const STATEMENT_TIMEOUT_MS = 60_000;
const FAREWELL_MS = 2_000;

/**
 * Runs work on its own connection with the rights of the URL's user, for an operator's tasks. Throws the errors of the work, with failures
 * of the database translated as everywhere.
 */
export const asAdministrator = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({
    connectionString: checkDatabaseUrl(url),
    application_name: 'decision-administration',
    connectionTimeoutMillis: ADMINISTRATOR_CONNECT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
  });
  // A broken connection fails its running statement; without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`set search_path = public; set statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    return await work(client);
  } catch (error) {
    throw translateError(error);
  } finally {
    // A hanging server does not answer the end of a session either.
    await settledWithin(client.end(), FAREWELL_MS);
    // The driver leaves a socket half open if the server does not support TLS, one per attempt, or does not answer.
    client.connection.stream.destroy();
  }
};

/** Runs work in one transaction of the client; an error of the work rolls it back. */
export const inTransaction = async <T>(client: Client, work: () => Promise<T>): Promise<T> => {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
};
