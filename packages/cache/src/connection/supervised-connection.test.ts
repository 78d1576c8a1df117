import { EventEmitter } from 'node:events';
import { createDeferred, type Deferred } from '../../test/deferred';
import { runUntil, virtualNow } from '../../test/virtual-time';
import { type RedisClient } from './redis-client';
import { type SupervisedConnection, superviseConnection } from './supervised-connection';

const CONNECT_TIMEOUT_MS = 2_000;
const HEARTBEAT_MS = 5_000;

/** A client whose connection, proof and heartbeats the test decides. */
interface FakeClient extends EventEmitter {
  readonly connecting: Deferred<void>;
  readonly madeAt: number;
  destroyed: number;
}

const setup = ({ connects = true }: { connects?: boolean } = {}) => {
  const clients: FakeClient[] = [];
  const reports: string[] = [];
  const behaviour = {
    prepare: (): Promise<unknown> => Promise.resolve(),
    beat: (): Promise<unknown> => Promise.resolve(),
    beats: 0,
  };
  const open = (): RedisClient => {
    const connecting = createDeferred<void>();
    if (connects) connecting.resolve();
    const destroy = (): void => void (client.destroyed += 1);
    const facts = { connecting, madeAt: virtualNow(), destroyed: 0, connect: () => connecting.promise, destroy };
    const client: FakeClient = Object.assign(new EventEmitter(), facts);
    clients.push(client);
    return client as unknown as RedisClient; // As much of one as is used.
  };
  const connection = superviseConnection({
    open,
    prepare: () => behaviour.prepare(),
    beat: () => {
      behaviour.beats += 1;
      return behaviour.beat();
    },
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    heartbeatMs: HEARTBEAT_MS,
    onUp: () => reports.push('up'),
    onDown: (reason) => reports.push(reason),
  });
  supervised.push(connection);
  return { connection, clients, reports, behaviour };
};

const supervised: SupervisedConnection[] = [];
const never = (): Promise<never> => new Promise(() => undefined);

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(async () => {
  const closing = Promise.all(supervised.splice(0).map((connection) => connection.close()));
  await runUntil(virtualNow() + 1);
  await closing;
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('a supervised connection', () => {
  it('is up once it has proved itself, not before', async () => {
    const { connection, behaviour, reports, clients } = setup();
    const proof = createDeferred<void>();
    behaviour.prepare = () => proof.promise;
    await runUntil(100);
    expect(connection.current()).toBeUndefined();
    proof.resolve();
    await runUntil(101);
    expect(connection.current()).toBe(clients[0]);
    expect(reports).toEqual(['up']);
  });

  it('is made anew when its socket fails, and both ends are told', async () => {
    const { connection, clients, reports } = setup();
    await runUntil(1);
    clients[0]?.emit('error', Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
    expect(connection.current()).toBeUndefined();
    await runUntil(3_000);
    expect(connection.current()).toBe(clients[1]);
    expect(clients[0]?.destroyed).toBe(1);
    expect(reports).toEqual(['up', 'ECONNRESET', 'up']);
  });

  it('gives up an attempt that takes too long, and clears it away again when it succeeds too late', async () => {
    const { clients, reports } = setup({ connects: false });
    await runUntil(CONNECT_TIMEOUT_MS);
    expect(reports).toEqual(['connect timeout']);
    expect(clients[0]?.destroyed).toBe(1);
    clients[0]?.connecting.resolve();
    await runUntil(CONNECT_TIMEOUT_MS + 1);
    expect(clients[0]?.destroyed).toBe(2);
    expect(reports).toEqual(['connect timeout']);
  });

  it('tries for ever, at most every two seconds, and tells of it once', async () => {
    const { clients, reports, behaviour } = setup();
    behaviour.prepare = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
    await runUntil(60_000);
    const waits = clients.slice(1).map(({ madeAt }, index) => madeAt - (clients[index]?.madeAt ?? 0));
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_001);
    expect(Math.min(...waits.slice(-5))).toBeGreaterThanOrEqual(1_000);
    expect(clients.length).toBeGreaterThanOrEqual(30);
    expect(reports).toEqual(['ECONNREFUSED']);
    expect(clients.every(({ destroyed }) => destroyed > 0)).toBe(true);
  });

  it('returns ever more slowly to a server that drops it at once, and soon to one that held', async () => {
    const { clients } = setup();
    const dropAll = async (until: number, everyMs: number): Promise<void> => {
      while (virtualNow() < until) {
        await runUntil(virtualNow() + everyMs);
        clients.at(-1)?.emit('error', new Error('dropped'));
      }
    };
    await dropAll(20_000, 1);
    expect(clients.length).toBeLessThan(40);
    await runUntil(virtualNow() + 60_000);
    const before = clients.length;
    const lostAt = virtualNow();
    clients.at(-1)?.emit('error', new Error('lost'));
    await runUntil(lostAt + 100);
    expect(clients.length).toBe(before + 1);
  });

  it('lives on while its heartbeats are answered, with an error too', async () => {
    const { connection, clients, behaviour } = setup();
    behaviour.beat = () => Promise.reject(new Error('NOPERM'));
    await runUntil(10 * HEARTBEAT_MS + 1);
    expect(behaviour.beats).toBe(10);
    expect(connection.current()).toBe(clients[0]);
  });

  it('ends when a heartbeat is not answered', async () => {
    const { reports, behaviour } = setup();
    behaviour.beat = never;
    await runUntil(HEARTBEAT_MS + CONNECT_TIMEOUT_MS + 1);
    expect(reports).toEqual(['up', 'heartbeat unanswered']);
    behaviour.beat = () => Promise.resolve();
  });

  it('stops the heart of a session that ended while it was beating', async () => {
    const { connection, behaviour } = setup();
    const answer = createDeferred<void>();
    behaviour.beat = () => answer.promise;
    await runUntil(HEARTBEAT_MS);
    connection.recycle('test');
    answer.resolve();
    behaviour.beat = () => Promise.resolve();
    await runUntil(HEARTBEAT_MS + 10 * HEARTBEAT_MS);
    // One heart, that of the second session.
    expect(behaviour.beats).toBeLessThanOrEqual(11);
  });

  it('can be told to begin anew', async () => {
    const { connection, clients, reports } = setup();
    await runUntil(1);
    connection.recycle('READONLY');
    await runUntil(3_000);
    expect(reports).toEqual(['up', 'READONLY', 'up']);
    expect(connection.current()).toBe(clients[1]);
  });

  it('closes at once in every state, and reports nothing of it', async () => {
    for (const connects of [true, false]) {
      const { connection, clients, reports } = setup({ connects });
      await runUntil(virtualNow() + 1);
      reports.length = 0;
      const closed = connection.close();
      await runUntil(virtualNow() + 1);
      await closed;
      expect(connection.current()).toBeUndefined();
      expect(clients).toHaveLength(1);
      expect(clients[0]?.destroyed).toBeGreaterThan(0);
      expect(reports).toEqual([]);
    }
  });
});
