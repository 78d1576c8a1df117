import { waitUntil } from '@decision/local-stack';
import { createReadThrough, type ReadThrough } from '../src';
import { checkThing, createCountedSource, type CountedSource, type Thing } from './counted-source';
import { closeAll, open, type OpenedCache, openUp, untilUp } from './opened-cache';
import { type OwnServer, startOwnServer } from './own-server';
import { connectRaw } from './raw-client';

let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer();
});
afterEach(async () => {
  await closeAll();
  server.resume();
  await server.start();
});
afterAll(() => server.stop());

/** Entries that only an invalidation ends. */
const pointersOf = ({ cache }: OpenedCache): ReadThrough<Thing> =>
  createReadThrough<Thing>(cache, {
    name: 'pointers',
    maxEntries: 1_000,
    localTtlMs: 3_600_000,
    sharedTtlMs: undefined,
    validate: checkThing,
  });

const nameOf = async (things: ReadThrough<Thing>, source: CountedSource, key = 'k'): Promise<string | undefined> =>
  (await things.read(key, source.load))?.name;

const failures = ({ events }: OpenedCache, reason: string): number =>
  events.filter((event) => event.type === 'command_failed' && event.reason === reason).length;

const states = ({ events }: OpenedCache, name: string): string[] =>
  events.flatMap((event) => (event.type === 'connection' && event.connection === name ? [event.state] : []));

describe('a server that is down at the start', () => {
  it('delays no read, is logged once, and is used once it starts', async () => {
    await server.kill();
    const opened = open({ url: server.url });
    const source = createCountedSource({ name: 'A' });
    const things = pointersOf(opened);
    for (let index = 0; index < 100; index += 1) expect(await nameOf(things, source, `k${index}`)).toBe('A');
    expect(failures(opened, 'timeout')).toBe(0);
    await waitUntil(() => opened.log.lines.length === 2, 'both connections were told');
    await server.start();
    await untilUp(opened);
    await opened.cache.shared.set('k', 'a');
    await expect(opened.cache.shared.get('k')).resolves.toBe('a');
    expect(opened.log.lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'info', 'info']);
    expect(opened.log.lines[0]?.fields).toMatchObject({
      reason: 'ECONNREFUSED',
      address: new URL(server.url).host,
    });
  });
});

describe('a server that is killed', () => {
  it('delays no read, and is used again when it is back', async () => {
    const opened = await openUp({ url: server.url });
    const things = pointersOf(opened);
    await nameOf(things, createCountedSource({ name: 'A' }));
    await server.kill();
    await waitUntil(
      () => !opened.cache.status().connected && !opened.cache.status().channel.ready,
      'the loss is noticed',
    );
    expect(await nameOf(things, createCountedSource({ name: 'B' }), 'other')).toBe('B');
    expect(failures(opened, 'timeout')).toBe(0);
    await server.start();
    await untilUp(opened);
    expect(states(opened, 'commands')).toEqual(['connected', 'disconnected', 'connected']);
    expect(states(opened, 'subscriber')).toEqual(['connected', 'disconnected', 'connected']);
  });

  it('leaves entries in this process to their local TTL, and drops them all when the channel is back', async () => {
    const opened = await openUp({ url: server.url });
    const things = pointersOf(opened);
    const source = createCountedSource({ name: 'old' });
    await nameOf(things, source);
    await server.kill();
    await waitUntil(() => !opened.cache.status().channel.ready, 'the loss is noticed');
    source.becomes({ name: 'new' });
    expect(await nameOf(things, source)).toBe('old');
    await server.start();
    await untilUp(opened);
    expect(await nameOf(things, source)).toBe('new');
  });
});

describe('a subscriber that alone loses its connection', () => {
  it('makes this process drop its entries when it is subscribed again', async () => {
    const opened = await openUp({ url: server.url });
    const things = pointersOf(opened);
    const source = createCountedSource({ name: 'old' });
    await nameOf(things, source);
    source.becomes({ name: 'new' });
    const raw = await connectRaw(server.url);
    await raw.del('k');
    await raw.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']);
    await waitUntil(() => states(opened, 'subscriber').length === 3, 'it hears again');
    raw.destroy();
    expect(await nameOf(things, source)).toBe('new');
    expect(states(opened, 'commands')).toEqual(['connected']);
  });
});

describe('a server that hangs', () => {
  const patientBeat = { heartbeatMs: 60_000, commandTimeoutMs: 30 };

  it('is waited for three times, then bypassed until the circuit admits a probe', async () => {
    const opened = await openUp({ url: server.url, ...patientBeat, circuitOpenMs: 60_000 });
    await server.pause();
    for (let index = 0; index < 50; index += 1) await expect(opened.cache.shared.get('k')).resolves.toBeUndefined();
    expect({ timeouts: failures(opened, 'timeout'), skipped: failures(opened, 'skipped') }).toEqual({
      timeouts: 3,
      skipped: 47,
    });
    expect(opened.events).toContainEqual({ type: 'circuit', state: 'open' });
    expect(opened.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('is used again when a probe is answered', async () => {
    const opened = await openUp({ url: server.url, ...patientBeat, circuitOpenMs: 20 });
    const { shared } = opened.cache;
    const raw = await connectRaw(server.url);
    await raw.set('k', 'a');
    raw.destroy();
    await server.pause();
    await waitUntil(async () => (await shared.get('k'), failures(opened, 'skipped') > 0), 'the circuit is open');
    server.resume();
    await waitUntil(async () => (await shared.get('k')) === 'a', 'reads are answered');
    expect(opened.events).toContainEqual({ type: 'circuit', state: 'closed' });
    expect(states(opened, 'commands')).toEqual(['connected']);
  });

  it('is declared lost when a heartbeat goes unanswered, and reconnected', async () => {
    const waits = { heartbeatMs: 50, connectTimeoutMs: 200, commandTimeoutMs: 30, circuitOpenMs: 60_000 };
    const opened = await openUp({ url: server.url, ...waits });
    await server.pause();
    for (let time = 0; time < 3; time += 1) await opened.cache.shared.get('k');
    await waitUntil(
      () => !opened.cache.status().connected && !opened.cache.status().channel.ready,
      'the loss is noticed',
    );
    expect(opened.log.lines).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ reason: 'heartbeat unanswered' }) }),
    );
    server.resume();
    await untilUp(opened);
    // The new connection has become usable: the circuit, which would stay open for another minute, is closed.
    const { shared } = opened.cache;
    await waitUntil(async () => (await shared.set('k', 'a'), (await shared.get('k')) === 'a'), 'commands are answered');
  });

  it('does not keep a process from closing', async () => {
    const opened = await openUp({ url: server.url });
    await server.pause();
    const pending = opened.cache.shared.get('k');
    await opened.cache.close();
    await expect(pending).resolves.toBeUndefined();
  });
});

describe('a server that refuses', () => {
  it('writes for lack of memory: logged once, reads go on', async () => {
    const opened = await openUp({ url: server.url });
    const raw = await connectRaw(server.url);
    await raw.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1']);
    const source = createCountedSource({ name: 'A' });
    const things = pointersOf(opened);
    for (let index = 0; index < 10; index += 1) expect(await nameOf(things, source, `k${index}`)).toBe('A');
    await waitUntil(() => failures(opened, 'refused') === 10, 'all ten were refused');
    expect(opened.log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).toEqual([
      { command: 'set', code: 'OOM' },
    ]);
    await raw.sendCommand(['CONFIG', 'SET', 'maxmemory', '0']);
    raw.destroy();
  });

  it('writes because it became a replica: reconnects to the current address', async () => {
    const opened = await openUp({ url: server.url });
    const raw = await connectRaw(server.url);
    await raw.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    await opened.cache.shared.set('k', 'a');
    await raw.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    await waitUntil(() => states(opened, 'commands').length === 3, 'it is connected again');
    await opened.cache.shared.set('k', 'b');
    await expect(opened.cache.shared.get('k')).resolves.toBe('b');
    raw.destroy();
  });
});

describe('a server that was flushed', () => {
  it('costs a load for each entry', async () => {
    const [one, two] = [await openUp({ url: server.url }), await openUp({ url: server.url })];
    const source = createCountedSource({ name: 'A' });
    const raw = await connectRaw(server.url);
    await nameOf(pointersOf(one), source);
    await waitUntil(async () => (await raw.exists('k')) === 1, 'the entry is shared');
    await raw.flushAll();
    expect(await nameOf(pointersOf(two), source)).toBe('A');
    expect(source.loads()).toBe(2);
    raw.destroy();
  });
});
