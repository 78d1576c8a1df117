import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import { doublingMs } from '@decision/waiting';
import { type Client } from 'pg';
import { asAdministrator } from '../connection/administrator';
import { runtimeRole } from '../connection/runtime-role';
import { DatabaseFault } from '../connection/translate-error';
import { allMigrations, migrationTable } from './all-migrations';

/** Facts that decide whether a server can be used. */
interface ServerFacts {
  /** As `server_version_num`: 170010 is 17.10. */
  readonly versionNumber: number;
  readonly walLevel: string;
}

/** Facts that decide whether a database on it can be used. */
export interface DatabaseFacts extends ServerFacts {
  /** Names of the migrations that have not been applied. */
  readonly pending: readonly string[];
  readonly user: string;
  readonly runtimeRoleBypassesRowSecurity: boolean;
  readonly mayActAsRuntimeRole: boolean;
}

const OLDEST_VERSION = 16;
/** `server_version_num` counts 10,000 to a major version. */
const PER_MAJOR = 10_000;

/** Problems of a server, as sentences that say what to change. */
export const judgeServer = ({ versionNumber, walLevel }: ServerFacts): readonly string[] => {
  const problems: string[] = [];
  const major = Math.floor(versionNumber / PER_MAJOR);
  if (major < OLDEST_VERSION) {
    problems.push(`The database server is PostgreSQL ${major}; 16 or 17 is needed. Upgrade the server.`);
  }
  if (walLevel !== 'logical') {
    problems.push(
      `The database server has wal_level = ${walLevel}; logical is needed. Set wal_level = logical in its configuration and restart it.`,
    );
  }
  return problems;
};

/** Problems of a database, as sentences that say what to change. */
export const judgeDatabase = (facts: DatabaseFacts): readonly string[] => {
  const problems = [...judgeServer(facts)];
  if (facts.pending.length > 0) {
    problems.push(
      `The database lacks the migrations ${facts.pending.join(', ')}. Run the migrations before the services.`,
    );
  } else if (!facts.mayActAsRuntimeRole) {
    problems.push(
      `The database user "${facts.user}" may not act as ${runtimeRole}. ` +
        `As the user who ran the migrations, run: GRANT ${runtimeRole} TO "${facts.user}" WITH INHERIT FALSE, SET TRUE;`,
    );
  }
  if (facts.runtimeRoleBypassesRowSecurity) {
    problems.push(
      `The role ${runtimeRole} bypasses row security. Run: ALTER ROLE ${runtimeRole} NOSUPERUSER NOBYPASSRLS;`,
    );
  }
  return problems;
};

/**
 * Checks the server alone: what must hold before migrations can run. Answers sentences; none where all is well. Throws
 * `database_unavailable` where it cannot be asked.
 */
export const checkServer = (url: string): Promise<readonly string[]> =>
  asAdministrator(url, async (client) => judgeServer(await readServer(client)));

/** Checks the server, the schema and the rights of the URL's user: what must hold before a service starts. As {@link checkServer}. */
export const checkDatabase = (url: string): Promise<readonly string[]> =>
  asAdministrator(url, async (client) => {
    const server = await readServer(client);
    const problems = judgeServer(server);
    // An older server does not even understand the other questions.
    return problems.length > 0 ? problems : judgeDatabase({ ...server, ...(await readDatabase(client)) });
  });

const readServer = async (client: Client): Promise<ServerFacts> => {
  const { rows } = await client.query<{ version: string; wal: string }>(
    `select current_setting('server_version_num') as version, current_setting('wal_level') as wal`,
  );
  return { versionNumber: Number(rows[0]?.version), walLevel: rows[0]?.wal ?? 'unknown' };
};

const READ_ROLE = /* sql */ `
  select current_user as name,
    exists (select from pg_roles where rolname = $1 and (rolsuper or rolbypassrls)) as bypasses,
    coalesce((select pg_has_role(current_user, oid, 'SET') from pg_roles where rolname = $1), false) as member`;

const readDatabase = async (client: Client): Promise<Omit<DatabaseFacts, keyof ServerFacts>> => {
  const { rows } = await client.query<{ name: string; bypasses: boolean; member: boolean }>(READ_ROLE, [runtimeRole]);
  const applied = await readApplied(client);
  return {
    pending: allMigrations.map(({ name }) => name).filter((name) => !applied.has(name)),
    user: rows[0]?.name ?? '',
    runtimeRoleBypassesRowSecurity: rows[0]?.bypasses ?? false,
    mayActAsRuntimeRole: rows[0]?.member ?? false,
  };
};

const readApplied = async (client: Client): Promise<ReadonlySet<string>> => {
  const known = await client.query<{ found: string | null }>(`select to_regclass('public.${migrationTable}') as found`);
  if (known.rows[0]?.found === null) return new Set();
  const { rows } = await client.query<{ name: string }>(`select name from public.${migrationTable}`);
  return new Set(rows.map(({ name }) => name));
};

interface RequireDatabaseOptions {
  /** How long a database that cannot be reached is waited for, ms. Default 30,000. */
  readonly deadlineMs?: number;
  /** Told of every attempt that failed, with the time until the next one in ms. */
  readonly onRetry?: (message: string, nextMs: number) => void;
}

const DEFAULT_DEADLINE_MS = 30_000;
const RETRY = { initialMs: 250, maxMs: 4_000 };

/** SQLSTATE class of a login that is refused, and the state of a database that does not exist. */
const [REFUSED_LOGIN, NO_SUCH_DATABASE] = ['28', '3D000'];

/** Whether the server answered that this user, password or database is none of its own: waiting does not help. */
const isRefusal = (error: unknown): boolean => {
  const fault = error instanceof ServiceError ? error.cause : undefined;
  return (
    fault instanceof DatabaseFault && (fault.sqlState.startsWith(REFUSED_LOGIN) || fault.sqlState === NO_SUCH_DATABASE)
  );
};

/**
 * Resolves once the database can be used as it is. Throws `database_unavailable` with everything that is wrong with it at once, also where it refuses
 * the login or does not have the database, and after the deadline where it cannot be reached at all.
 */
export const requireDatabase = async (url: string, options: RequireDatabaseOptions = {}): Promise<void> => {
  const until = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  for (let failures = 1; ; failures += 1) {
    const pauseMs = doublingMs(failures, RETRY);
    try {
      const problems = await checkDatabase(url);
      if (problems.length === 0) return;
      throw new UnusableDatabase('database_unavailable', problems.join(' '));
    } catch (error) {
      if (error instanceof UnusableDatabase || isRefusal(error) || performance.now() + pauseMs > until) throw error;
      options.onRetry?.(error instanceof Error ? error.message : String(error), pauseMs);
      await sleep(pauseMs);
    }
  }
};

/** The database answers but cannot be used: waiting does not help. */
class UnusableDatabase extends ServiceError {}
