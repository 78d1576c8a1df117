import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileStore } from './file-store';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'file-store-'));
});
afterEach(() => rm(root, { recursive: true }));

it('removes files that processes left unfinished an hour ago, but not those being written', async () => {
  const [left, fresh] = [randomUUID(), randomUUID()];
  await mkdir(join(root, '.unfinished'));
  for (const name of [left, fresh]) await writeFile(join(root, '.unfinished', name), 'half an obj');
  const long = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(root, '.unfinished', left), long, long);
  await openFileStore(root);
  expect(await readdir(join(root, '.unfinished'))).toEqual([fresh]);
});
