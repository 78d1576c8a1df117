import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tryLock } from '../process/lock-file';
import { fetchOnce } from './fetch-once';

describe('fetchOnce', () => {
  let downloads: string;
  let fills: number;
  const said: string[] = [];

  beforeEach(() => {
    downloads = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
    fills = 0;
    said.length = 0;
  });
  afterEach(() => rmSync(downloads, { recursive: true }));

  const fetch = (more: Partial<Parameters<typeof fetchOnce>[0]> = {}): Promise<string> =>
    fetchOnce({
      downloads,
      name: 'tool-1',
      signal: new AbortController().signal,
      say: (message) => said.push(message),
      fill: async (directory) => {
        fills += 1;
        writeFileSync(join(directory, 'half'), '');
        await delay(50);
        writeFileSync(join(directory, 'whole'), 'content');
      },
      ...more,
    });

  it('fills a folder only once', async () => {
    const folder = await fetch();
    expect(folder).toBe(join(downloads, 'tool-1'));
    expect(readFileSync(join(folder, 'whole'), 'utf8')).toBe('content');
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    expect(await fetch()).toBe(folder);
    expect(fills).toBe(1);
    expect(readdirSync(downloads)).toEqual(['tool-1']);
  });

  it('makes the directory for downloads', async () => {
    const folder = await fetch({ downloads: join(downloads, 'new') });
    expect(existsSync(join(folder, 'whole'))).toBe(true);
  });

  it('is filled once for several concurrent callers; the others learn which process they wait for', async () => {
    const folders = await Promise.all([fetch(), fetch(), fetch()]);
    expect(new Set(folders).size).toBe(1);
    expect(fills).toBe(1);
    expect(said).toEqual(Array.from({ length: 2 }, () => `waiting for process ${process.pid}, which is fetching`));
  });

  it('leaves nothing behind after a failure, and can be repeated', async () => {
    const failing = fetch({
      fill: (directory) => {
        writeFileSync(join(directory, 'half'), '');
        return Promise.reject(new Error('no network'));
      },
    });
    await expect(failing).rejects.toThrow('no network');
    expect(readdirSync(downloads)).toEqual([]);
    await fetch();
    expect(readdirSync(downloads)).toEqual(['tool-1']);
  });

  it('removes the partial folder of a process that was killed', async () => {
    mkdirSync(join(downloads, 'tool-1.partial-abc'));
    mkdirSync(join(downloads, 'tool-2.partial-abc'));
    writeFileSync(join(downloads, 'tool-1.lock'), '4194305 boot:1');
    await fetch();
    expect(readdirSync(downloads).sort()).toEqual(['tool-1', 'tool-2.partial-abc']);
  });

  it('stops waiting when its signal aborts', async () => {
    const lock = tryLock(join(downloads, 'tool-1.lock'));
    const giveUp = new AbortController();
    const waiting = fetch({ signal: giveUp.signal });
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    expect(lock.kind).toBe('taken');
    expect(fills).toBe(0);
  });
});
