import { join } from 'node:path';
import type { ServerRecipe } from '../process/server-recipe';
import type { ServerContext } from '../server-context';
import { serverPassword } from '../server-password';
import { outsideLocation } from '../stack-locations';
import { chooseDatabaseHome } from './database-home';
import { acceptsConnections } from './database-probe';
import { clearDatabaseRemains } from './database-remains';
import { databaseUser } from './database-user';
import {
  DATABASE_NAME,
  dataDirectory,
  databaseEnvironment,
  initialiseDatabase,
  SUPERUSER,
} from './initialise-database';
import { findPostgres } from './postgres-binaries';

/** PostgreSQL 17 on loopback with logical decoding possible, reached by password only. */
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
