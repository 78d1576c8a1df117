import { testStack, waitUntil } from '@decision/local-stack';
import { closeAll, open, openUp } from './opened-cache';
import { connectRaw, type RawClient } from './raw-client';

const { cacheUrl: url, uniqueName } = testStack();

let raw: RawClient;
let keyPrefix: string;

beforeEach(async () => {
  raw = await connectRaw(url);
  keyPrefix = `${uniqueName('cache')}:`;
});
afterEach(async () => {
  await closeAll();
  raw.destroy();
});

describe('the shared cache', () => {
  it('keeps texts under the prefix of its deployment, apart from others', async () => {
    const { cache } = await openUp({ url, keyPrefix });
    const other = await openUp({ url, keyPrefix: `${keyPrefix}other:` });
    await cache.shared.set('k', 'Grüße 🂡\r\n\0');
    await expect(cache.shared.get('k')).resolves.toBe('Grüße 🂡\r\n\0');
    await expect(raw.get(`${keyPrefix}k`)).resolves.toBe('Grüße 🂡\r\n\0');
    await expect(other.cache.shared.get('k')).resolves.toBeUndefined();
  });

  it('distinguishes an empty text from none', async () => {
    const { cache } = await openUp({ url, keyPrefix });
    await cache.shared.set('empty', '');
    await expect(cache.shared.get('empty')).resolves.toBe('');
    await expect(cache.shared.get('none')).resolves.toBeUndefined();
  });

  it('gives an entry its expiry, or none', async () => {
    const { cache } = await openUp({ url, keyPrefix });
    await cache.shared.set('short', 'a', { ttlMs: 60_000.9 });
    await cache.shared.set('long', 'a');
    await cache.shared.set('over', 'a', { ttlMs: 0.5 });
    const left = await raw.pTTL(`${keyPrefix}short`);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
    await expect(raw.pTTL(`${keyPrefix}long`)).resolves.toBe(-1);
    await expect(raw.exists(`${keyPrefix}over`)).resolves.toBe(0);
  });

  it('lets an entry end', async () => {
    const { cache } = await openUp({ url, keyPrefix });
    await cache.shared.set('k', 'a', { ttlMs: 1 });
    await waitUntil(async () => (await cache.shared.get('k')) === undefined, 'the entry has ended');
  });

  it('deletes many keys and no other', async () => {
    const { cache } = await openUp({ url, keyPrefix });
    const keys = Array.from({ length: 1_300 }, (_, index) => `k${index}`);
    await Promise.all(['other', ...keys].map((key) => cache.shared.set(key, 'a')));
    await cache.shared.delete([...keys, 'absent']);
    await cache.shared.delete([]);
    await expect(raw.exists(keys.map((key) => keyPrefix + key))).resolves.toBe(0);
    await expect(cache.shared.get('other')).resolves.toBe('a');
  });

  it('answers many readers at once on one connection', async () => {
    const { cache, events } = await openUp({ url, keyPrefix, commandTimeoutMs: 10_000 });
    await Promise.all(Array.from({ length: 2_000 }, (_, index) => cache.shared.set(`k${index}`, String(index))));
    const read = await Promise.all(Array.from({ length: 2_000 }, (_, index) => cache.shared.get(`k${index}`)));
    expect(read).toEqual(read.map((_, index) => String(index)));
    expect(events.filter(({ type }) => type === 'command_failed')).toEqual([]);
  });

  it('refuses commands beyond its queue instead of growing', async () => {
    const { cache, events } = await openUp({ url, keyPrefix, commandTimeoutMs: 10_000 });
    await Promise.all(Array.from({ length: 10_100 }, () => cache.shared.get('k')));
    expect(events).toContainEqual({ type: 'command_failed', command: 'get', reason: 'skipped' });
    await expect(cache.shared.get('k')).resolves.toBeUndefined();
    expect(cache.status().connected).toBe(true);
  });
});

describe('a cache that is closed', () => {
  it('reads nothing, stores nothing and reports that it is not connected', async () => {
    const { cache } = await openUp({ url, keyPrefix });
    await cache.shared.set('k', 'a');
    await Promise.all([cache.close(), cache.close()]);
    await cache.close();
    await cache.shared.set('k', 'b');
    await cache.shared.delete(['k']);
    await expect(cache.shared.get('k')).resolves.toBeUndefined();
    await expect(raw.get(`${keyPrefix}k`)).resolves.toBe('a');
    expect(cache.status()).toMatchObject({ enabled: true, connected: false, channel: { ready: false } });
  });

  it('may be closed before it is connected', async () => {
    const { cache } = open({ url, keyPrefix });
    await cache.close();
    expect(cache.status().connected).toBe(false);
  });

  it('logs its closing neither as a loss nor as an error', async () => {
    const { cache, log } = await openUp({ url, keyPrefix });
    await cache.close();
    expect(log.lines.map(({ level }) => level)).toEqual(['info', 'info']);
  });
});
