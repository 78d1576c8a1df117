import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type RunningStack, type ServerControl, type ServerName, type StackProgress, startStack } from '../../src';
import { descendantsOf } from '../../src/process/process-table';
import { waitUntil } from '../../src/wait-until';
import { query } from './postgres-query';
import { isAlive } from '../process-state';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';
import { brokerInterfaces, portOf, redis } from '../wire';

describe('faults', () => {
  const events: StackProgress[] = [];
  let stack: RunningStack;

  const control = (server: ServerName): ServerControl => {
    const found = stack.controls[server];
    if (found === undefined) throw new Error(`The stack runs no ${server}.`);
    return found;
  };
  const pidOf = (server: ServerName): number => control(server).pid() ?? 0;

  beforeAll(async () => {
    const onProgress = (event: StackProgress): number => events.push(event);
    stack = await startStack({ directory: temporaryDirectory(), downloads, durable: false, onProgress });
  }, 360_000);

  afterAll(async () => {
    await stack?.stop();
    removeTemporaryDirectories();
  });

  it('kill the broker and start it again on the same port', async () => {
    const before = pidOf('broker');
    await control('broker').kill();
    expect(isAlive(before)).toBe(false);
    expect(control('broker').pid()).toBeUndefined();
    expect(await brokerInterfaces(stack.mqBrokers)).toBeUndefined();
    await control('broker').start();
    expect(pidOf('broker')).not.toBe(before);
    expect(await brokerInterfaces(stack.mqBrokers)).toBeGreaterThan(20);
    // Java silently ignores an archive that does not match.
    const maps = `/proc/${pidOf('broker')}/maps`;
    const archives = readdirSync(downloads).filter((name) => name.endsWith('.jsa'));
    if (existsSync(maps) && archives.length > 0)
      expect(archives.filter((name) => readFileSync(maps, 'utf8').includes(name))).toHaveLength(1);
  }, 360_000);

  it('kill the database with its sessions, and lose nothing that was committed', async () => {
    await query(stack.databaseUrl, "CREATE TABLE committed (word text); INSERT INTO committed VALUES ('kept')");
    const session = query(stack.databaseUrl, 'SELECT pg_sleep(60)').catch((error: Error) => error);
    const sleeping = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    await waitUntil(async () => (await query(stack.databaseUrl, sleeping)).length > 0, 'the session runs');
    const processes = [pidOf('database'), ...descendantsOf(pidOf('database'))];
    await control('database').kill();
    await waitUntil(() => !processes.some(isAlive), 'all of its processes are gone');
    expect(await session).toBeInstanceOf(Error);
    await control('database').start();
    expect(await query(stack.databaseUrl, 'SELECT word FROM committed')).toEqual([['kept']]);
  }, 180_000);

  it('restart a database whose main process was killed while a session still runs', async () => {
    const work = 'SELECT count(*) FROM generate_series(1, 100000000000)';
    const session = query(stack.databaseUrl, work).catch((error: Error) => error);
    const working = `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query = '${work}'`;
    let pid = 0;
    await waitUntil(async () => {
      pid = Number((await query(stack.databaseUrl, working))[0]?.[0] ?? 0);
      return pid !== 0;
    }, 'the session works');
    process.kill(pidOf('database'), 'SIGKILL');
    await waitUntil(() => control('database').pid() === undefined, 'its end is noticed');
    expect(isAlive(pid)).toBe(true);
    await control('database').start();
    expect(isAlive(pid)).toBe(false);
    expect(await session).toBeInstanceOf(Error);
    expect(await query(stack.databaseUrl, 'SELECT 1')).toEqual([['1']]);
  }, 180_000);

  it('pause a server so that nothing answers, and resume it', async () => {
    await control('cache').pause();
    expect(await redis(stack.cacheUrl, 'PING')).toBeUndefined();
    control('cache').resume();
    expect(await redis(stack.cacheUrl, 'PING')).toBe('+PONG');
  });

  it('pause the sessions of a database too', async () => {
    let answered = false;
    const socket = await openSession(portOf(stack.databaseUrl));
    socket.once('data', () => (answered = true));
    await control('database').pause();
    socket.write(startupMessage);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(answered).toBe(false);
    control('database').resume();
    await waitUntil(() => answered, 'the session answers');
    socket.destroy();
  });

  it('ignore a start of a running server', async () => {
    const before = pidOf('cache');
    await control('cache').start();
    expect(pidOf('cache')).toBe(before);
  });

  it('kill with a signal of choice', async () => {
    await control('cache').kill('SIGTERM');
    expect(control('cache').pid()).toBeUndefined();
    await control('cache').kill();
    await control('cache').start();
    expect(await redis(stack.cacheUrl, 'PING')).toBe('+PONG');
  });

  it('report a server that ends by itself, and do not restart it', async () => {
    const pid = pidOf('cache');
    const told = (): StackProgress[] =>
      events.filter(({ server, message }) => server === 'cache' && message.startsWith('ended by itself'));
    expect(told()).toEqual([]);
    process.kill(pid, 'SIGKILL');
    await waitUntil(() => told().length > 0, 'it is reported');
    expect(told()).toEqual([expect.objectContaining({ server: 'cache', step: 'stop' })]);
    expect(told()[0]?.message).toMatch(/\(SIGKILL\); see .*cache\.log$/);
    expect(control('cache').pid()).toBeUndefined();
    await control('cache').start();
  });

  it('let a stack stop while servers are paused, and cannot start one afterwards', async () => {
    const pids = stack.processes.map(({ pid }) => pid);
    expect(pids).toHaveLength(3);
    const all = pids.flatMap((pid) => [pid, ...descendantsOf(pid)]);
    await control('database').pause();
    await control('broker').pause();
    await stack.stop();
    await waitUntil(() => !all.some(isAlive), 'every process is gone');
    await expect(control('cache').start()).rejects.toMatchObject({ code: 'aborted' });
    expect(stack.processes).toEqual([]);
  }, 180_000);
});

const startupMessage = Buffer.from('\0\0\0\x29\0\x03\0\0user\0decision\0database\0decision\0\0', 'latin1');

/** A connection that has a process of its own, which waits for the client's first message. */
const openSession = async (port: number): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  await new Promise((resolve) => setTimeout(resolve, 200));
  return socket;
};
