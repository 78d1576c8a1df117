import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { exchange } from '../network/exchange';
import { identityOf, processesIn, sendSignal } from '../process/process-table';
import type { ServerContext, ServerRecipe } from '../server-recipe';
import { outsideLocation, serverPassword } from '../stack-files';
import { chooseDatabaseHome, databaseUser } from './database-home';
import {
  DATABASE_NAME,
  databaseEnvironment,
  dataDirectory,
  initialiseDatabase,
  SUPERUSER,
} from './initialise-database';
import { findPostgres } from './postgres-binaries';

/** PostgreSQL 17 on loopback, with logical decoding enabled, reached by password only. */
export const prepareDatabase = async (context: ServerContext): Promise<ServerRecipe> => {
  const existing = [context.directory, outsideLocation(context.directory)].map(dataDirectory);
  const user = await databaseUser(existing, context.signal);
  const home = await chooseDatabaseHome(context, user);
  const binaries = await findPostgres(context, home, user);
  const password = serverPassword(context.directory, 'database');
  const data = await initialiseDatabase(context, { binaries, user, home, password });
  return {
    name: 'database',
    command: binaries.postgres,
    args: ['-D', data, ...settings(context.port, context.durable)],
    cwd: data,
    env: databaseEnvironment(),
    user,
    logFile: join(context.directory, 'database.log'),
    // A fast shutdown: sessions are ended, data is written.
    stopSignal: 'SIGINT',
    prepare: () => clearDatabaseRemains(data),
    isReady: () => acceptsConnections(context.port, SUPERUSER, DATABASE_NAME),
  };
};

export const databaseUrl = (directory: string, port: number): string =>
  `postgres://${SUPERUSER}:${serverPassword(directory, 'database')}@127.0.0.1:${port}/${DATABASE_NAME}`;

const settings = (port: number, durable: boolean): string[] =>
  Object.entries({
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    wal_level: 'logical',
    max_connections: 200,
    max_wal_senders: 10,
    max_replication_slots: 10,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // Commits still reach the operating system, so that they survive a killed server.
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

const PROTOCOL_3 = 196_608;
const AUTHENTICATION = 'R'.charCodeAt(0);

/** Whether PostgreSQL asks this user for its password. During startup and recovery it answers the same message with an error. */
const acceptsConnections = async (port: number, user: string, database: string): Promise<boolean> => {
  const body = Buffer.from(`\0\0\0\0user\0${user}\0database\0${database}\0\0`);
  body.writeInt32BE(PROTOCOL_3, 0);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  const answer = await exchange(port, Buffer.concat([length, body]), (bytes) => bytes.length > 0);
  return answer?.[0] === AUTHENTICATION;
};

const DEADLINE_MS = 5_000;
const POLL_MS = 20;

/**
 * Removes remains of a crash that would block the next start: sessions of the old server that still hold its memory, and its pid file if
 * its process has ended or is another program. If that cannot be determined, the pid file stays, since two servers on the same data would
 * destroy it.
 */
export const clearDatabaseRemains = async (data: string): Promise<void> => {
  const directory = realpathSync(data);
  const until = Date.now() + DEADLINE_MS;
  let left = processesIn(directory, 'postgres');
  while (left.length > 0 && Date.now() < until) {
    for (const pid of left) sendSignal(pid, 'SIGKILL');
    await delay(POLL_MS);
    left = processesIn(directory, 'postgres');
  }
  if (left.length === 0 && isStale(join(data, 'postmaster.pid'))) rmSync(join(data, 'postmaster.pid'), { force: true });
};

/** On Linux all found processes have been ended; elsewhere the process with that id must have ended. */
const isStale = (pidFile: string): boolean => {
  if (process.platform === 'linux') return true;
  try {
    return identityOf(Number.parseInt(readFileSync(pidFile, 'utf8'), 10)) === undefined;
  } catch {
    return true; // There is none.
  }
};
