import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningStack, stackLocations, startStack } from '../../src';
import { query } from '../servers/postgres-query';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';

const isRoot = process.getuid?.() === 0;

/** Only as root does the database run as another user, to whom a directory can be closed. */
describe(`a directory below one that only its owner may enter, ${isRoot ? 'as root' : 'as an ordinary user'}`, () => {
  const parent = temporaryDirectory();
  const directory = join(parent, 'data');
  const [own = '', outside = ''] = stackLocations(directory);
  const home = isRoot ? outside : own;
  let stack: RunningStack | undefined;

  const start = async (): Promise<RunningStack> => {
    stack = await startStack({ directory, downloads, durable: false, servers: ['database'] });
    return stack;
  };

  beforeAll(() => chmodSync(parent, 0o700));

  afterAll(async () => {
    await stack?.stop();
    rmSync(outside, { recursive: true, force: true });
    removeTemporaryDirectories();
  });

  it('contains the database, or records its location', async () => {
    const { databaseUrl } = await start();
    await query(databaseUrl, "CREATE TABLE kept (word text); INSERT INTO kept VALUES ('here')");
    expect(existsSync(join(home, 'database/PG_VERSION'))).toBe(true);
    const listed = join(directory, 'locations.json');
    expect(existsSync(listed) ? JSON.parse(readFileSync(listed, 'utf8')) : []).toEqual(isRoot ? [outside] : []);
  }, 180_000);

  it('is found again by the next start', async () => {
    await stack?.stop();
    const { databaseUrl } = await start();
    expect(await query(databaseUrl, 'SELECT word FROM kept')).toEqual([['here']]);
  }, 180_000);

  it('does not bring back data after it was deleted', async () => {
    await stack?.stop();
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    const { databaseUrl } = await start();
    await expect(query(databaseUrl, 'SELECT word FROM kept')).rejects.toThrow(/relation "kept" does not exist/);
  }, 180_000);
});
