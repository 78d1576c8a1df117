import { workspaces } from './0001-workspaces';
import { apiKeys } from './0002-api-keys';
import { rules } from './0003-rules';
import { type Migration } from './migration';

/** Every migration, in order. */
export const allMigrations: readonly Migration[] = [workspaces, apiKeys, rules];

/** Where the database remembers which were applied. */
export const migrationTable = 'schema_migrations';
