import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningStack, type ServerName, type StackProgress, startStack } from '../../src';
import { brokerAnswers } from '../../src/servers/broker-probe';
import { SERVER_NAMES } from '../../src/stack-options';
import { waitUntil } from '../../src/wait-until';
import { query } from '../servers/postgres-query';
import { isAlive } from '../process-state';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';
import { portOf, redis } from '../wire';

describe('a stack for one user of the machine', () => {
  const directory = temporaryDirectory();
  const events: StackProgress[] = [];
  let stack: RunningStack;

  const start = async (isBrokerLocked: boolean): Promise<void> => {
    const onProgress = (event: StackProgress): number => events.push(event);
    stack = await startStack({ directory, downloads, durable: false, isBrokerLocked, restarts: true, onProgress });
  };
  const pidOf = (server: ServerName): number => stack.controls[server]?.pid() ?? 0;
  const answers: Readonly<Record<ServerName, () => Promise<boolean>>> = {
    database: async () => (await query(stack.databaseUrl, 'SELECT 1').catch(() => [])).length === 1,
    cache: async () => (await redis(stack.cacheUrl, 'PING')) === '+PONG',
    broker: () => brokerAnswers(portOf(stack.mqBrokers), stack.brokerLogin),
  };

  beforeAll(async () => {
    await start(false);
    await stack.stop();
    await start(true);
  }, 360_000);

  afterAll(async () => {
    await stack?.stop();
    removeTemporaryDirectories();
  });

  it("replaces a broker's data without an account by new data with one", async () => {
    expect(events.map(({ message }) => message)).toContain(
      'its storage has no account to log in with and is made again, with empty topics',
    );
    expect(await answers.broker()).toBe(true);
  });

  it('refuses clients of the broker that do not log in, or with another password', async () => {
    const port = portOf(stack.mqBrokers);
    expect(await brokerAnswers(port)).toBe(false);
    expect(await brokerAnswers(port, { username: 'decision', password: 'wrong' })).toBe(false);
  });

  it('refuses clients of the controller that do not log in', async () => {
    const properties = readFileSync(join(directory, 'broker/server.properties'), 'utf8');
    const port = Number(/CONTROLLER:\/\/127\.0\.0\.1:(\d+)/.exec(properties)?.[1]);
    expect(await brokerAnswers(port)).toBe(false);
    expect(properties).toContain('CONTROLLER:SASL_PLAINTEXT');
  });

  it('refuses clients of the cache that have no password', async () => {
    const url = new URL(stack.cacheUrl);
    url.password = '';
    expect(await redis(url.href, 'PING')).toMatch(/^-NOAUTH/);
  });

  it('keeps every password in files that only its owner can read, and never in process arguments', () => {
    const files = SERVER_NAMES.map((server) => join(directory, `${server}-password`));
    for (const file of [...files, join(directory, 'cache/redis.conf'), join(directory, 'broker/server.properties')])
      expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600]);
    const passwords = files.map((file) => readFileSync(file, 'utf8').trim());
    for (const server of SERVER_NAMES) {
      const said = readFileSync(`/proc/${pidOf(server)}/cmdline`, 'utf8');
      expect(passwords.filter((password) => said.includes(password))).toEqual([]);
    }
  });

  it.each(SERVER_NAMES)(
    'restarts the %s on its port when it is killed',
    async (server) => {
      const before = pidOf(server);
      process.kill(before, 'SIGKILL');
      await waitUntil(async () => pidOf(server) !== before && (await answers[server]()), `the ${server} answers again`);
      await waitUntil(
        () => events.some((event) => event.server === server && event.message === 'ready again'),
        'it is reported',
      );
    },
    180_000,
  );

  it('leaves nothing running when it stops while a server restarts', async () => {
    const pids = stack.processes.map(({ pid }) => pid);
    const asked = pidOf('broker');
    process.kill(asked, 'SIGKILL');
    await waitUntil(() => !isAlive(asked), 'the broker is gone');
    await stack.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(stack.processes).toEqual([]);
  }, 60_000);
});
