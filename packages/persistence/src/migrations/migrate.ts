import { ServiceError } from '@decision/contracts';
import { type Knex, knex as createKnex } from 'knex';
import { ADMINISTRATOR_CONNECT_TIMEOUT_MS, asAdministrator } from '../connection/administrator';
import { type Database } from '../connection/database';
import { checkDatabaseUrl } from '../connection/database-url';
import { translateError } from '../connection/translate-error';
import { allMigrations, migrationTable } from './all-migrations';
import { ensureRuntimeRole } from './ensure-runtime-role';
import { type Migration } from './migration';

interface MigrateSettings {
  /** Its user owns what the migrations make; it need not be a superuser. */
  readonly url: string;
  /** Default `decision-migrations`. */
  readonly applicationName?: string;
}

interface Migrated {
  /** Names of the migrations that this call applied, in order; none if the schema was up to date. */
  readonly applied: readonly string[];
}

/** A lock of the database that has this number is ours: "decision" in hexadecimal digits, as far as they go. */
const MIGRATION_LOCK = 0xdec15104;
/** For waiting until another process has migrated, ms. */
const LOCK_TIMEOUT_MS = 120_000;
const STATEMENT_TIMEOUT_MS = 600_000;

/**
 * Brings the schema up to date. Any number of processes may do so at once: one migrates, the others wait for it and find nothing
 * to do. Everything happens in one transaction under a lock that the server drops with the connection, so a crash leaves neither
 * half a schema nor a lock behind. Migrations that only a newer release knows are left alone.
 */
export const migrate = async (settings: MigrateSettings): Promise<Migrated> => {
  await asAdministrator(settings.url, ensureRuntimeRole);
  const knex = createKnex(migratorConfig(settings));
  try {
    return { applied: await knex.transaction(applyPending) };
  } catch (error) {
    throw translateError(error);
  } finally {
    await knex.destroy();
  }
};

const applyPending = async (transaction: Knex.Transaction): Promise<readonly string[]> => {
  await transaction.raw(`set local search_path = public; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await transaction.raw(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  // The library's own lock is a row. Holding the real lock, whatever it says is left over.
  await transaction.migrate.forceFreeMigrationsLock();
  const [, applied] = (await transaction.migrate.latest()) as [number, string[]]; // typed `any` by the library
  return applied;
};

const migrationSource: Knex.MigrationSource<Migration> = {
  getMigrations: () => Promise.resolve([...allMigrations]),
  getMigrationName: ({ name }) => name,
  getMigration: ({ name, sql }) => Promise.resolve({ up: (knex) => knex.raw(sql), down: () => refuseDown(name) }),
};

const refuseDown = (name: string): Promise<never> =>
  Promise.reject(
    new ServiceError('internal_error', `The migration ${name} cannot be undone; migrations only go forward.`),
  );

const silent = { warn: () => undefined, error: () => undefined, debug: () => undefined };

const migratorConfig = ({ url, applicationName = 'decision-migrations' }: MigrateSettings): Knex.Config => ({
  client: 'pg',
  compileSqlOnError: false,
  log: silent,
  connection: {
    connectionString: checkDatabaseUrl(url),
    application_name: applicationName,
    connectionTimeoutMillis: ADMINISTRATOR_CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 5_000,
  },
  pool: { min: 0, max: 1 },
  migrations: { migrationSource, tableName: migrationTable, disableMigrationsListValidation: true },
});

/** Names of the migrations that this release needs and the database lacks. Throws `database_unavailable`. */
export const findPendingMigrations = async (database: Pick<Database, 'lookUp'>): Promise<readonly string[]> => {
  const rows = await database.lookUp<{ name: string }>(`select name from ${migrationTable}`);
  const applied = new Set(rows.map(({ name }) => name));
  return allMigrations.map(({ name }) => name).filter((name) => !applied.has(name));
};
