import { testStack, waitUntil } from '@decision/local-stack';
import { createReadThrough, type ReadThrough } from '../src';
import { checkThing, createCountedSource, type Thing } from './counted-source';
import { closeAll, type OpenedCache, openUp } from './opened-cache';
import { connectRaw, type RawClient } from './raw-client';

const { cacheUrl: url, uniqueName } = testStack();
const TTL_MS = 60_000;
const T0 = 1_763_701_200_000;
const A: Thing = { name: 'A' };

let raw: RawClient;
let keyPrefix: string;
let now: number;

beforeEach(async () => {
  raw = await connectRaw(url);
  keyPrefix = `${uniqueName('read_through')}:`;
  now = T0;
});
afterEach(async () => {
  await closeAll();
  raw.destroy();
});

/** A process of its own, with the test's clock. */
const process = async (): Promise<OpenedCache & { readonly keys: ReadThrough<Thing> }> => {
  const opened = await openUp({ url, keyPrefix, channelPrefix: keyPrefix });
  const keys = createReadThrough<Thing>(opened.cache, {
    name: 'keys',
    maxEntries: 10,
    localTtlMs: TTL_MS,
    sharedTtlMs: TTL_MS,
    validate: checkThing,
    clock: () => now,
  });
  return { ...opened, keys };
};

const untilShared = (): Promise<void> =>
  waitUntil(async () => (await raw.exists(`${keyPrefix}k`)) === 1, 'the entry is shared');

describe('a read-through on a real server', () => {
  it('shares a load between processes, and expires it before its TTL in the server', async () => {
    const [one, two] = [await process(), await process()];
    const source = createCountedSource(A);
    await one.keys.read('k', source.load);
    await untilShared();
    await expect(two.keys.read('k', source.load)).resolves.toEqual(A);
    expect(source.loads()).toBe(1);
    expect(two.events).toContainEqual({ type: 'hit', name: 'keys', layer: 'shared' });
    const left = await raw.pTTL(`${keyPrefix}k`);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(TTL_MS);
  });

  it('never serves an entry beyond the TTL that began with its load, in any process', async () => {
    const [one, two, three] = [await process(), await process(), await process()];
    const source = createCountedSource(A);
    await one.keys.read('k', source.load);
    await untilShared();
    now = T0 + TTL_MS - 1;
    await expect(two.keys.read('k', source.load)).resolves.toEqual(A);
    expect(source.loads()).toBe(1);
    // An entry that another process has just served expires for all: its owner, processes that copied it, and new readers.
    now = T0 + TTL_MS;
    source.becomes(undefined);
    for (const { keys } of [two, one, three]) await expect(keys.read('k', source.load)).resolves.toBeUndefined();
    expect(source.loads()).toBe(4);
  });

  it('replaces a damaged entry', async () => {
    const [one, two] = [await process(), await process()];
    await raw.set(`${keyPrefix}k`, '{"name":"A","role":"admin"}');
    const source = createCountedSource(A);
    await expect(one.keys.read('k', source.load)).resolves.toEqual(A);
    await waitUntil(async () => (await raw.get(`${keyPrefix}k`))?.startsWith('c1 ') === true, 'it was replaced');
    await two.keys.read('k', source.load);
    expect(source.loads()).toBe(1);
    expect(one.events).toContainEqual({ type: 'damaged', name: 'keys' });
  });

  it('treats an entry of another type as missing', async () => {
    const { keys, log } = await process();
    await raw.lPush(`${keyPrefix}k`, 'x');
    await expect(keys.read('k', createCountedSource(A).load)).resolves.toEqual(A);
    await waitUntil(async () => (await raw.type(`${keyPrefix}k`)) === 'string', 'it was replaced');
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: { command: 'get', code: 'WRONGTYPE' } }),
    );
  });

  it('reloads entries that the server has lost', async () => {
    const [one, two] = [await process(), await process()];
    const source = createCountedSource(A);
    await one.keys.read('k', source.load);
    await untilShared();
    await raw.del(`${keyPrefix}k`);
    await expect(two.keys.read('k', source.load)).resolves.toEqual(A);
    expect(source.loads()).toBe(2);
  });
});
