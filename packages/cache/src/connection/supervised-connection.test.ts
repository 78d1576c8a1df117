import { EventEmitter } from 'node:events';
import { createDeferred, type Deferred } from '../../test/deferred';
import { runUntil, virtualNow } from '../../test/virtual-time';
import { type RedisClient } from './redis-client';
import { type SupervisedConnection, superviseConnection } from './supervised-connection';

const CONNECT_TIMEOUT_MS = 2_000;
const HEARTBEAT_MS = 5_000;

/** A client whose connection, readiness check and heartbeats are controlled by the test. */
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
    return client as unknown as RedisClient; // The part of a client that is used.
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
  it('is up only once its readiness check has succeeded', async () => {
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

  it('is replaced when its socket fails, and reports both the loss and the return', async () => {
    const { connection, clients, reports } = setup();
    await runUntil(1);
    clients[0]?.emit('error', Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
    expect(connection.current()).toBeUndefined();
    await runUntil(3_000);
    expect(connection.current()).toBe(clients[1]);
    expect(clients[0]?.destroyed).toBe(1);
    expect(reports).toEqual(['up', 'ECONNRESET', 'up']);
  });

  it('gives up an attempt that takes too long, and destroys its client again if it succeeds too late', async () => {
    const { clients, reports } = setup({ connects: false });
    await runUntil(CONNECT_TIMEOUT_MS);
    expect(reports).toEqual(['connect timeout']);
    expect(clients[0]?.destroyed).toBe(1);
    clients[0]?.connecting.resolve();
    await runUntil(CONNECT_TIMEOUT_MS + 1);
    expect(clients[0]?.destroyed).toBe(2);
    expect(reports).toEqual(['connect timeout']);
  });

  it('retries for ever, at most every two seconds, and reports it once', async () => {
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

  it('backs off further from a server that drops it at once, and little from one that stayed connected', async () => {
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

  it('stays up while its heartbeats are answered, even with an error', async () => {
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

  it('stops the heartbeat of a session that ended during one', async () => {
    const { connection, behaviour } = setup();
    const answer = createDeferred<void>();
    behaviour.beat = () => answer.promise;
    await runUntil(HEARTBEAT_MS);
    connection.recycle('test');
    answer.resolve();
    behaviour.beat = () => Promise.resolve();
    await runUntil(HEARTBEAT_MS + 10 * HEARTBEAT_MS);
    // One heartbeat, that of the second session.
    expect(behaviour.beats).toBeLessThanOrEqual(11);
  });

  it('can be recycled', async () => {
    const { connection, clients, reports } = setup();
    await runUntil(1);
    connection.recycle('READONLY');
    await runUntil(3_000);
    expect(reports).toEqual(['up', 'READONLY', 'up']);
    expect(connection.current()).toBe(clients[1]);
  });

  it('closes at once in every state, without reporting a loss', async () => {
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
