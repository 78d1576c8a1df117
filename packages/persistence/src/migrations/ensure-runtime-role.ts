import { randomBytes } from 'node:crypto';
import { ServiceError } from '@decision/contracts';
import { type Client, DatabaseError, escapeIdentifier, escapeLiteral } from 'pg';
import { asAdministrator } from '../connection/administrator';
import { DatabaseFault } from '../connection/translate-error';
import { runtimeRole } from '../connection/runtime-role';

const ENSURE_ROLE = /* sql */ `
do $$ begin
  if not exists (select from pg_roles where rolname = '${runtimeRole}') then
    create role ${runtimeRole} nologin;
  end if;
  if not pg_has_role(current_user, '${runtimeRole}', 'SET') then
    execute format('grant ${runtimeRole} to %I with inherit false, set true', current_user);
  end if;
end $$`;

const ATTEMPTS = 20;
const LONGEST_PAUSE_MS = 200;

/** Roles belong to the whole server, so migrations of several databases can collide here, where no lock of one database helps. */
const COLLISIONS: ReadonlySet<string> = new Set(['23505', '42710', 'XX000']);
const NOT_ALLOWED = '42501';

/**
 * Makes the runtime role where it is missing and lets the current user act as it. Throws `internal_error` with what a superuser
 * has to run where the user may not do so.
 */
export const ensureRuntimeRole = (client: Client): Promise<void> => despiteCollisions(client, ENSURE_ROLE);

const PASSWORD_BYTES = 18;

/**
 * Makes a role that services log in with, or gives the role of that name a new password, and answers the URL with both. The role may act as the
 * runtime role and do nothing else. Without a password one is drawn. The user of the given URL must be allowed to make roles. Throws as {@link ensureRuntimeRole}.
 */
export const ensureServiceLogin = async (
  adminUrl: string,
  name: string,
  password: string = randomBytes(PASSWORD_BYTES).toString('base64url'),
): Promise<string> => {
  const role = escapeIdentifier(name);
  const statement = /* sql */ `
    do $$ begin
      if not exists (select from pg_roles where rolname = ${escapeLiteral(name)}) then create role ${role}; end if;
      alter role ${role} login noinherit password ${escapeLiteral(password)};
      -- Only a superuser may say so, and a role that another has made is nothing else.
      if (select rolsuper from pg_roles where rolname = current_user) then
        alter role ${role} nosuperuser nocreaterole nocreatedb nobypassrls;
      end if;
      grant ${runtimeRole} to ${role} with inherit false, set true;
    end $$`;
  await asAdministrator(adminUrl, (client) => despiteCollisions(client, statement));
  const url = new URL(adminUrl);
  url.username = name;
  url.password = password;
  return url.href;
};

const despiteCollisions = async (client: Client, statement: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(statement);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.code === NOT_ALLOWED) throw notAllowed(error);
      if (attempt === ATTEMPTS || !COLLISIONS.has(error.code ?? '')) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_PAUSE_MS));
    }
  }
};

const notAllowed = (error: DatabaseError): ServiceError =>
  new ServiceError(
    'internal_error',
    `The user of the database URL may not set up the role ${runtimeRole}. As a superuser, run: ` +
      `CREATE ROLE ${runtimeRole} NOLOGIN; GRANT ${runtimeRole} TO <that user> WITH INHERIT FALSE, SET TRUE;`,
    {},
    { cause: new DatabaseFault(error) },
  );
