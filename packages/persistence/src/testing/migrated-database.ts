import { createHash } from 'node:crypto';
import { type Client } from 'pg';
import { asAdministrator } from '../connection/administrator';
import { allMigrations } from '../migrations/all-migrations';
import { createDatabase, dropDatabase } from '../migrations/create-database';
import { migrate } from '../migrations/migrate';

/** Only one process at a time creates a template; the number is "template" in hexadecimal digits, truncated. */
const TEMPLATE_LOCK = 0x7e3b1a7e;

const fingerprint = createHash('sha256').update(JSON.stringify(allMigrations)).digest('hex').slice(0, 16);

/** The template of these migrations: other migrations have another. */
const TEMPLATE_NAME = `migrated_${fingerprint}`;

/**
 * Creates a migrated database for a test and answers its URL: a copy of a template that the first caller migrates, which costs a fraction
 * of a migration. The user of the URL must be allowed to create databases.
 */
export const createMigratedDatabase = async (adminUrl: string, name: string): Promise<string> => {
  await ensureTemplate(adminUrl, TEMPLATE_NAME);
  return createDatabase(adminUrl, name, TEMPLATE_NAME);
};

/** Creates the missing template. Any number of processes may do so concurrently, and one that dies leaves no incomplete template behind. */
export const ensureTemplate = (adminUrl: string, template: string): Promise<void> =>
  asAdministrator(adminUrl, async (client) => {
    if (await exists(client, template)) return;
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]); // released with the connection
    if (await exists(client, template)) return;
    const unfinished = `${template}_unfinished`;
    await dropDatabase(adminUrl, unfinished);
    await migrate({ url: await createDatabase(adminUrl, unfinished) });
    await client.query(`alter database ${unfinished} rename to ${template}`);
    // Nobody may connect to it, so that it can always be copied.
    await client.query(`alter database ${template} allow_connections false`);
  });

const exists = async (client: Client, database: string): Promise<boolean> =>
  (await client.query('select from pg_database where datname = $1', [database])).rows.length > 0;
