import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runProgram } from '../../src/process/run-program';
import type { ServerContext } from '../../src/server-recipe';
import { databaseUser } from '../../src/servers/database-home';
import {
  findPostgres,
  installedPackage,
  linkLibraries,
  type PostgresPackage,
} from '../../src/servers/postgres-binaries';
import { removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';

const signal = new AbortController().signal;
const isRoot = process.getuid?.() === 0;

const contextIn = (directory: string, said: string[] = []): ServerContext => ({
  server: 'database',
  directory,
  downloads: directory,
  durable: false,
  port: 1,
  signal,
  say: (_step, message) => said.push(message),
});

/** Links that the package expects. A package manager that caches the results of install scripts may have replaced them by files. */
const linkTargets = (root: string): ReadonlySet<string> => {
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[];
  return new Set(links.map(({ target }) => target));
};

/** A copy of the installed package, as left by a package manager that runs no install scripts. */
const packageWithoutLinks = (parent: string, isWanted: (path: string) => boolean = () => true): PostgresPackage => {
  const { root, version } = installedPackage();
  const copy = join(parent, 'package');
  const targets = linkTargets(root);
  const filter = (path: string): boolean => !targets.has(relative(root, path)) && isWanted(relative(root, path));
  cpSync(root, copy, { recursive: true, filter });
  return { root: copy, version };
};

const openDirectory = (): string => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  return directory;
};

const versionOf = async (postgres: string): Promise<string> => {
  const user = await databaseUser([], signal);
  const { output } = await runProgram({ command: postgres, args: ['--version'], cwd: '/', user, deadlineMs: 10_000 });
  return output;
};

afterEach(removeTemporaryDirectories);

describe('the database package', () => {
  it('gets missing links between its libraries', async () => {
    const bare = packageWithoutLinks(openDirectory());
    const home = openDirectory();
    const { postgres, initdb } = await findPostgres(contextIn(home), home, await databaseUser([], signal), bare);
    expect(postgres).toBe(join(bare.root, 'native/bin/postgres'));
    expect(existsSync(initdb)).toBe(true);
    expect(readlinkSync(join(bare.root, 'native/lib/libpq.so.5'))).toMatch(/^libpq\.so\.5\.\d+$/);
    expect(await versionOf(postgres)).toMatch(/PostgreSQL\) 17\./);
  }, 180_000);

  it('is linked once, and reported if it cannot be linked', () => {
    const root = openDirectory();
    mkdirSync(join(root, 'native/lib'), { recursive: true });
    const links = [{ source: 'native/lib/libpq.so.5.17', target: 'native/lib/libpq.so.5' }];
    writeFileSync(join(root, 'native/pg-symlinks.json'), JSON.stringify(links));
    expect(linkLibraries(root)).toBe(false);
    writeFileSync(join(root, 'native/lib/libpq.so.5.17'), '');
    expect([linkLibraries(root), linkLibraries(root)]).toEqual([true, true]);
    expect(readlinkSync(join(root, 'native/lib/libpq.so.5'))).toBe('libpq.so.5.17');
  });

  it("is copied once for the database's user if its directory is closed to that user", async () => {
    const closed = openDirectory();
    const bare = packageWithoutLinks(closed);
    chmodSync(bare.root, 0o700);
    chmodSync(join(bare.root, 'native/bin/postgres'), 0o700);
    chmodSync(closed, 0o700);
    const home = openDirectory();
    const said: string[] = [];
    const user = await databaseUser([], signal);
    const first = await findPostgres(contextIn(home, said), home, user, bare);
    const second = await findPostgres(contextIn(home, said), home, user, bare);
    expect(second).toEqual(first);
    expect(first.postgres.startsWith(isRoot ? home : bare.root)).toBe(true);
    expect(said).toHaveLength(isRoot ? 1 : 0);
    expect(await versionOf(first.postgres)).toMatch(/PostgreSQL\) 17\./);
  }, 180_000);

  it('is refused with its output if it does not run', async () => {
    const bare = packageWithoutLinks(openDirectory(), (path) => !path.startsWith('native/lib/'));
    const home = openDirectory();
    const refused = findPostgres(contextIn(home), home, await databaseUser([], signal), bare);
    await expect(refused).rejects.toMatchObject({ code: 'unsupported' });
    await expect(refused).rejects.toThrow(
      /DATABASE_URL.*error while loading shared libraries|DATABASE_URL.*Library not loaded/s,
    );
  }, 180_000);
});

describe('the user of the database', () => {
  it('is never root, and undefined if this process is not root', async () => {
    const user = await databaseUser([], signal);
    expect(user === undefined).toBe(!isRoot);
    expect(user?.uid).not.toBe(0);
  });

  it('is the owner of existing data', async () => {
    const directory = temporaryDirectory();
    const data = join(directory, 'database');
    mkdirSync(data);
    const user = await databaseUser([join(directory, 'none'), data], signal);
    expect(user).toEqual(await databaseUser([], signal)); // Data owned by root is no reason to run as root.
  });
});
