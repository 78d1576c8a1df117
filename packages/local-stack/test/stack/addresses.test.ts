import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { type RunningStack, startStack } from '../../src';
import { freePort } from '../../src/network/free-port';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';
import { portOf, redis } from '../wire';

/** The cache is enough here, and starts quickly. */
const cacheOnly = { downloads, servers: ['cache'], durable: false } as const;

describe('addresses', () => {
  const running: RunningStack[] = [];

  const start = async (options: Partial<Parameters<typeof startStack>[0]> = {}): Promise<RunningStack> => {
    const stack = await startStack({ ...cacheOnly, directory: temporaryDirectory(), ...options });
    running.push(stack);
    return stack;
  };

  afterEach(async () => {
    await Promise.all(running.splice(0).map((stack) => stack.stop()));
    removeTemporaryDirectories();
  });

  it('are empty for servers that were left out', async () => {
    const stack = await start();
    expect(stack).toMatchObject({ databaseUrl: '', mqBrokers: '' });
    expect(stack.controls).toMatchObject({ database: undefined, broker: undefined });
    expect(stack.processes.map(({ name }) => name)).toEqual(['cache']);
  });

  it('are those of external servers if given, and none of these is started', async () => {
    const external = { databaseUrl: 'postgres://elsewhere/x', cacheUrl: 'rediss://elsewhere', mqBrokers: 'a:1,b:2' };
    const stack = await start({ external, servers: ['database', 'cache', 'broker'] });
    expect(stack).toMatchObject(external);
    expect(stack.processes).toEqual([]);
    expect(stack.controls).toEqual({ database: undefined, cache: undefined, broker: undefined });
  });

  it('mix external servers and its own', async () => {
    const stack = await start({ external: { mqBrokers: 'a:1' }, servers: ['cache', 'broker'] });
    expect(stack.mqBrokers).toBe('a:1');
    expect(await redis(stack.cacheUrl, 'PING')).toBe('+PONG');
  });

  it('use a fixed port', async () => {
    const cache = await freePort();
    const stack = await start({ ports: { cache } });
    expect(stack.cacheUrl).toMatch(new RegExp(`^redis://:[\\w-]{24}@127\\.0\\.0\\.1:${cache}$`));
  });

  it('lie below the range that the system gives to clients', async () => {
    const port = portOf((await start()).cacheUrl);
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(32_000);
  });

  it.each([
    ['database', 'DATABASE_PORT'],
    ['cache', 'CACHE_PORT'],
    ['broker', 'BROKER_PORT'],
  ] as const)('refuse a fixed port of the %s that is taken, and name %s', async (server, variable) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo; // A server that listens on TCP has such an address.
    const refused = start({ servers: [server], ports: { [server]: port } });
    await expect(refused).rejects.toMatchObject({ name: 'StackError', code: 'port_in_use' });
    await expect(refused).rejects.toThrow(`Port ${port} for the ${server} is in use`);
    await expect(refused).rejects.toThrow(variable);
    holder.close();
  });

  it('do not clash between stacks that start at once', async () => {
    const stacks = await Promise.all([start(), start(), start()]);
    expect(new Set(stacks.map(({ cacheUrl }) => cacheUrl)).size).toBe(3);
    await Promise.all(stacks.map(({ cacheUrl }, index) => redis(cacheUrl, 'SET', 'who', String(index))));
    const found = await Promise.all(stacks.map(({ cacheUrl }) => redis(cacheUrl, 'GET', 'who')));
    expect(found).toEqual(['0', '1', '2']);
  });

  it('allow one stack per directory: a second one is refused with the process of the first', async () => {
    const directory = temporaryDirectory();
    await start({ directory });
    const second = startStack({ ...cacheOnly, directory });
    await expect(second).rejects.toMatchObject({ code: 'directory_in_use' });
    await expect(second).rejects.toThrow(`Process ${process.pid} runs the servers of ${directory}`);
  });
});
