import { type Database } from '../connection/database';
import { allMigrations, migrationTable } from './all-migrations';

/** Names of the migrations that this release needs and the database lacks. Throws `database_unavailable`. */
export const findPendingMigrations = async (database: Pick<Database, 'lookUp'>): Promise<readonly string[]> => {
  const rows = await database.lookUp<{ name: string }>(`select name from ${migrationTable}`);
  const applied = new Set(rows.map(({ name }) => name));
  return allMigrations.map(({ name }) => name).filter((name) => !applied.has(name));
};
