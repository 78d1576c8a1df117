import { randomUUID } from 'node:crypto';
import { builtInRoles, ServiceError } from '@decision/contracts';
import { type Client } from 'pg';
import { asAdministrator, inTransaction } from '../connection/administrator';
import { type Database } from '../connection/database';

interface NewWorkspace {
  /** Lowercase letters, digits, dashes and underscores; identifies the workspace. */
  readonly slug: string;
  /** Name of a new workspace; an existing one keeps its name. */
  readonly name: string;
}

interface EnsuredWorkspace {
  readonly id: string;
  readonly created: boolean;
}

const CREATE = /* sql */ `
  insert into workspaces (id, slug, name) values ($1, $2, $3) on conflict (slug) do nothing returning id`;

const FIND = /* sql */ `select id from workspaces where slug = $1`;

const CLAIM = /* sql */ `select set_config('app.workspace_id', $1, true)`;

/** Entitlements of built-in roles follow the release; custom roles are unchanged. */
const GIVE_ROLE = /* sql */ `
  insert into roles (workspace_id, name, entitlements, built_in) values ($1, $2, $3, true)
  on conflict (workspace_id, name) do update set entitlements = excluded.entitlements
  where roles.built_in and roles.entitlements <> excluded.entitlements`;

/**
 * Creates a workspace with the built-in roles, or finds the one of this slug and updates its built-in roles. Takes the URL of the user who
 * ran the migrations; throws `internal_error` for another. Safe to run twice and concurrently.
 */
export const ensureWorkspace = (url: string, workspace: NewWorkspace): Promise<EnsuredWorkspace> =>
  asAdministrator(url, (client) =>
    inTransaction(client, async () => {
      const ensured = await createOrFind(client, workspace);
      await client.query(CLAIM, [ensured.id]);
      for (const [name, entitlements] of Object.entries(builtInRoles)) {
        await client.query(GIVE_ROLE, [ensured.id, name, entitlements]);
      }
      return ensured;
    }),
  );

const createOrFind = async (client: Client, { slug, name }: NewWorkspace): Promise<EnsuredWorkspace> => {
  const id = randomUUID();
  await client.query(CLAIM, [id]);
  const created = await client.query(CREATE, [id, slug, name]);
  if (created.rows.length > 0) return { id, created: true };
  const { rows } = await client.query<{ id: string }>(FIND, [slug]);
  const found = rows[0];
  if (found) return { id: found.id, created: false };
  throw new ServiceError(
    'internal_error',
    `The workspace "${slug}" exists, but the user of the database URL cannot see it.`,
  );
};

/** The workspace that people sign in to. */
interface SignInWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

const SIGN_IN = /* sql */ `select id, slug, name from find_sign_in_workspace(:slug)`;

/**
 * The workspace of a slug or, without a slug, the only workspace; undefined if there is none, or if there are several
 * and no slug. Throws `database_unavailable`.
 */
export const findSignInWorkspace = async (
  database: Pick<Database, 'lookUp'>,
  slug?: string,
): Promise<SignInWorkspace | undefined> => {
  const [row] = await database.lookUp<SignInWorkspace>(SIGN_IN, { slug: slug ?? null });
  return row;
};

/** The secret with which the services of this deployment sign entries of the shared cache, 32 bytes. Throws `database_unavailable`. */
export const readCacheEntrySecret = async (database: Pick<Database, 'lookUp'>): Promise<Uint8Array> => {
  const [row] = await database.lookUp<{ readonly secret: Buffer | null }>('select cache_entry_secret() as secret');
  if (row?.secret) return row.secret;
  throw new ServiceError(
    'internal_error',
    'The database holds no secret for cache entries: the row "cache_entries" of deployment_secrets is missing.',
  );
};
