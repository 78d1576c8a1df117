import { type CacheInvalidation } from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import { createInvalidator, createReadThrough } from '../src';
import { checkThing, createCountedSource, type Thing } from './counted-source';
import { closeAll, type OpenedCache, openUp } from './opened-cache';
import { connectRaw } from './raw-client';

const { cacheUrl: url, uniqueName } = testStack();
const MESSAGE: CacheInvalidation = {
  v: 1,
  kind: 'rule',
  workspace_id: '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10',
  keys: ['k'],
};

let prefixes: { keyPrefix: string; channelPrefix: string };

beforeEach(() => {
  const name = uniqueName('invalidations');
  prefixes = { keyPrefix: `${name}:`, channelPrefix: `${name}.` };
});
afterEach(closeAll);

const process = (): Promise<OpenedCache> => openUp({ url, ...prefixes });

const listen = ({ cache }: OpenedCache): CacheInvalidation[] => {
  const heard: CacheInvalidation[] = [];
  cache.invalidations.subscribe((message) => heard.push(message));
  return heard;
};

describe('the invalidation channel', () => {
  it('carries a message to every process, including the sender', async () => {
    const [one, two] = [await process(), await process()];
    const [heardByOne, heardByTwo] = [listen(one), listen(two)];
    await expect(one.cache.invalidations.publish(MESSAGE)).resolves.toBe(true);
    await waitUntil(() => heardByOne.length > 0 && heardByTwo.length > 0, 'both have heard');
    expect([heardByOne, heardByTwo]).toEqual([[MESSAGE], [MESSAGE]]);
    expect(one.events).toContainEqual({ type: 'invalidation', direction: 'sent', kind: 'rule' });
    expect(two.events).toContainEqual({ type: 'invalidation', direction: 'received', kind: 'rule' });
  });

  it('is separate for each prefix, and has its exact name without one', async () => {
    const [one, other] = [await process(), await openUp({ url, ...prefixes, channelPrefix: 'other.' })];
    const heard = listen(other);
    await one.cache.invalidations.publish(MESSAGE);
    await other.cache.invalidations.publish({ ...MESSAGE, kind: 'flow' });
    await waitUntil(() => heard.length > 0, 'the other has heard its own');
    expect(heard.map(({ kind }) => kind)).toEqual(['flow']);
    const plain = await openUp({ url, keyPrefix: prefixes.keyPrefix });
    expect(plain.cache.status().channel.name).toBe('service:cache:invalidate');
  });

  it('counts and ignores an invalid message, and goes on', async () => {
    const one = await process();
    const heard = listen(one);
    const raw = await connectRaw(url);
    const channel = one.cache.status().channel.name;
    for (const text of ['', '{', '[]', '{"v":1}', 'x'.repeat(100_000)]) await raw.publish(channel, text);
    await raw.publish(channel, JSON.stringify(MESSAGE));
    await waitUntil(() => heard.length > 0, 'the message has come');
    raw.destroy();
    expect(heard).toEqual([MESSAGE]);
    expect(one.events.filter(({ type }) => type === 'invalidation_rejected')).toHaveLength(5);
  });

  it('survives listeners that fail', async () => {
    const one = await process();
    one.cache.invalidations.subscribe(() => {
      throw new RangeError('broken listener');
    });
    const heard = listen(one);
    await one.cache.invalidations.publish(MESSAGE);
    await one.cache.invalidations.publish(MESSAGE);
    await waitUntil(() => heard.length === 2, 'the other listener has heard both');
    expect(one.cache.status().channel.ready).toBe(true);
  });
});

describe('a writer and its readers', () => {
  const pointers = ({ cache }: OpenedCache) =>
    createReadThrough<Thing>(cache, {
      name: 'pointers',
      maxEntries: 10,
      localTtlMs: 3_600_000,
      sharedTtlMs: undefined,
      validate: checkThing,
    });

  it('agree after an announcement', async () => {
    const [writer, reader] = [await process(), await process()];
    const source = createCountedSource({ name: 'old' });
    const [own, others] = [pointers(writer), pointers(reader)];
    const names = async (): Promise<(string | undefined)[]> => [
      (await own.read('k', source.load))?.name,
      (await others.read('k', source.load))?.name,
    ];
    expect(await names()).toEqual(['old', 'old']);
    const invalidator = createInvalidator(writer.cache);
    source.becomes({ name: 'new' });
    await invalidator.announce(MESSAGE);
    expect((await own.read('k', source.load))?.name).toBe('new');
    await waitUntil(async () => (await others.read('k', source.load))?.name === 'new', 'the other process has heard');
    await invalidator.close();
  });

  it('remove an old value that was shared after the first delete', async () => {
    const [writer, reader] = [await process(), await process()];
    const invalidator = createInvalidator(writer.cache, { secondDeleteMs: 3_000 });
    const heard = listen(reader);
    await invalidator.announce(MESSAGE);
    await reader.cache.shared.set('k', 'c1 1 {"name":"old"}');
    await waitUntil(async () => (await reader.cache.shared.get('k')) === undefined, 'the second delete has come');
    await waitUntil(() => heard.length === 2, 'it was announced once more');
    await invalidator.close();
  });
});
