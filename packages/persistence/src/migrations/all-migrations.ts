import { workspaces } from './0001-workspaces';
import { apiKeys } from './0002-api-keys';
import { rules } from './0003-rules';
import { values } from './0004-values';
import { audit } from './0005-audit';
import { administration } from './0006-administration';
import { usage } from './0007-usage';
import { type Migration } from './migration';

/** Every migration, in order. */
export const allMigrations: readonly Migration[] = [workspaces, apiKeys, rules, values, audit, administration, usage];

/** Where the database remembers which were applied. */
export const migrationTable = 'schema_migrations';
