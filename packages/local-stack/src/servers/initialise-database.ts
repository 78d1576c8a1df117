import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, type ProgramUser, runProgram } from '../process/run-program';
import type { ServerContext } from '../server-recipe';
import { StackError } from '../stack-options';
import type { PostgresBinaries } from './postgres-binaries';

export const DATABASE_NAME = 'decision';
export const SUPERUSER = 'decision';

const MAJOR_VERSION = '17';
const DEADLINE_MS = 120_000;

/** The data directory below the database's home. */
export const dataDirectory = (home: string): string => join(home, 'database');

interface NewDatabase {
  readonly binaries: PostgresBinaries;
  readonly user: ProgramUser | undefined;
  /** Directory in which `database` is made. */
  readonly home: string;
  readonly password: string;
}

/**
 * The data directory, created if missing. It is created under another name and renamed, so that an interrupted creation starts over.
 * @throws {StackError} if another major version of PostgreSQL made it.
 */
export const initialiseDatabase = async (context: ServerContext, database: NewDatabase): Promise<string> => {
  const data = dataDirectory(database.home);
  if (existsSync(data)) return checkVersion(data);
  context.say('install', 'creating the database');
  const partial = `${data}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  giveTo(partial, database.user);
  await initialise(context, database, partial);
  await createDatabase(context, database, partial);
  renameSync(partial, data);
  return data;
};

const checkVersion = (data: string): string => {
  const version = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (version === MAJOR_VERSION) return data;
  throw new StackError(
    'unsupported',
    `${data} was made by PostgreSQL ${version} and this is ${MAJOR_VERSION}: \`npm run reset\` deletes it.`,
  );
};

/** The built-in locale needs nothing installed: code-point order, and case mapping for all of Unicode. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

const initialise = async (context: ServerContext, database: NewDatabase, data: string): Promise<void> => {
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, database.password, { mode: 0o600 });
  try {
    giveTo(passwordFile, database.user);
    const args = ['-D', data, '-U', SUPERUSER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', ...LOCALE];
    await run(context, database, {
      command: database.binaries.initdb,
      args: [...args, '--no-instructions', ...(context.durable ? [] : ['--no-sync'])],
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
};

/** A server for one user, without a port: it reads statements from its input. */
const createDatabase = (context: ServerContext, database: NewDatabase, data: string): Promise<void> =>
  run(context, database, {
    command: database.binaries.postgres,
    args: ['--single', '-D', data, ...(context.durable ? [] : ['-c', 'fsync=off']), 'postgres'],
    input: `CREATE DATABASE ${DATABASE_NAME};\n`,
  });

interface DatabaseProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string;
}

const run = async (context: ServerContext, database: NewDatabase, program: DatabaseProgram): Promise<void> => {
  const { exitCode, output } = await runProgram({
    ...program,
    cwd: database.home,
    env: databaseEnvironment(),
    user: database.user,
    deadlineMs: DEADLINE_MS,
    signal: context.signal,
  });
  // The single-user server exits with 0 even if a statement failed.
  if (exitCode === 0 && !/^.*\b(?:ERROR|FATAL): /m.test(output)) return;
  throw new StackError('start_failed', `The database could not be created:\n${lastLines(output)}`);
};

/** Only the PATH of the caller's environment, since PG* variables would change the behaviour. */
export const databaseEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' });

const giveTo = (path: string, user: ProgramUser | undefined): void => {
  if (user !== undefined) chownSync(path, user.uid, user.gid);
};
