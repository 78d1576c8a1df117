import { testStack, waitUntil } from '@decision/local-stack';
import { closeAll, openUp } from './opened-cache';
import { connectRaw, type RawClient } from './raw-client';
import { type HoldingProxy, startHoldingProxy } from './holding-proxy';

const { cacheUrl, uniqueName } = testStack();

let raw: RawClient;
let proxy: HoldingProxy;
let key: string;
/** Short deadlines for commands, long ones for the connection. */
let settings: { url: string; keyPrefix: string; commandTimeoutMs: number; heartbeatMs: number };

beforeEach(async () => {
  raw = await connectRaw(cacheUrl);
  proxy = await startHoldingProxy(cacheUrl);
  const keyPrefix = `${uniqueName('lost')}:`;
  key = `${keyPrefix}k`;
  settings = { url: proxy.url, keyPrefix, commandTimeoutMs: 50, heartbeatMs: 60_000 };
});
afterEach(async () => {
  await closeAll();
  await proxy.close();
  raw.destroy();
});

describe('a delete that was lost', () => {
  it('is repeated on the next connection', async () => {
    const { cache } = await openUp({ ...settings, eraseRetryMs: 60_000 });
    await raw.set(key, 'old');
    proxy.hold();
    await cache.shared.delete(['k']);
    await expect(raw.get(key)).resolves.toBe('old');
    proxy.cut();
    await waitUntil(async () => (await raw.exists(key)) === 0, 'the entry is gone');
  });

  it('because there was no connection is made on the next one', async () => {
    const { cache } = await openUp({ ...settings, eraseRetryMs: 60_000 });
    await raw.set(key, 'old');
    proxy.cut();
    await waitUntil(() => !cache.status().connected, 'the loss is noticed');
    await cache.shared.delete(['k']);
    await waitUntil(async () => (await raw.exists(key)) === 0, 'the entry is gone');
  });
});

describe('a write whose outcome is unknown', () => {
  it('is undone when it is executed late', async () => {
    const { cache, events } = await openUp(settings);
    proxy.hold();
    await cache.shared.set('k', 'old');
    expect(events).toContainEqual({ type: 'command_failed', command: 'set', reason: 'timeout' });
    proxy.release();
    // Executed now, then deleted: at the latest by the second delete.
    await waitUntil(async () => (await raw.exists(key)) === 0, 'the entry is gone');
    await raw.set(key, 'late');
    await waitUntil(async () => (await raw.exists(key)) === 0, 'the later write is gone');
  });
});
