import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import { doublingMs } from '@decision/waiting';
import { type Client } from 'pg';
import { asAdministrator } from '../connection/administrator';
import { runtimeRole } from '../connection/runtime-role';
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
 * Checks the server alone: what must hold before migrations can run. Answers sentences; none if all is well. Throws
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
  /** How long a database that cannot be used yet is waited for, ms; 0: it is asked once. Default: without end. */
  readonly deadlineMs?: number;
  /** Told what is in the way, each time that is something else than before. */
  readonly onProblem?: (problem: string) => void;
}

const RETRY = { initialMs: 250, maxMs: 4_000 };

/**
 * Resolves once the database can be used as it is, whatever is in the way until then: no server, no such login, a schema that has not been migrated.
 * All of these come right without this process where a deployment starts in any order. Throws `database_unavailable` with everything that is
 * wrong at once where the deadline passes first.
 */
export const requireDatabase = async (url: string, options: RequireDatabaseOptions = {}): Promise<void> => {
  const until = performance.now() + (options.deadlineMs ?? Infinity);
  for (let failures = 1, told = ''; ; failures += 1) {
    const problem = await problemOf(url);
    if (problem === undefined) return;
    const pauseMs = doublingMs(failures, RETRY);
    if (performance.now() + pauseMs > until) throw problem;
    if (problem.message !== told) options.onProblem?.(problem.message);
    told = problem.message;
    await sleep(pauseMs);
  }
};

const problemOf = async (url: string): Promise<Error | undefined> => {
  try {
    const problems = await checkDatabase(url);
    return problems.length === 0 ? undefined : new ServiceError('database_unavailable', problems.join(' '));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};
