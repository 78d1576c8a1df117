import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange } from '../network/exchange';
import type { ServerRecipe } from '../process/server-recipe';
import type { ServerContext } from '../server-context';
import { serverPassword } from '../server-password';
import { findRedis } from './redis-binary';

const CONFIGURATION = 'redis.conf';

/** Redis on loopback, reached by password only: bounded memory, one snapshot an hour and one at shutdown where the stack is durable. */
export const prepareCache = async (context: ServerContext): Promise<ServerRecipe> => {
  const command = await findRedis(context);
  const home = join(context.directory, 'cache');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const password = serverPassword(context.directory, 'cache');
  // A file, not arguments: every user of the machine can read those.
  writeFileSync(join(home, CONFIGURATION), redisConfiguration(context, password), { mode: 0o600 });
  return {
    name: 'cache',
    command,
    args: [CONFIGURATION],
    cwd: home,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    logFile: join(home, 'cache.log'),
    stopSignal: 'SIGTERM',
    prepare: () => Promise.resolve(),
    isReady: () => answersPing(context.port, password),
  };
};

export const cacheUrl = (directory: string, port: number): string =>
  `redis://:${serverPassword(directory, 'cache')}@127.0.0.1:${port}`;

/** Without a save point Redis saves nothing at shutdown either. Relative paths: its working directory is its own. */
const redisConfiguration = ({ port, durable }: ServerContext, password: string): string =>
  [
    `port ${port}`,
    'bind 127.0.0.1',
    `requirepass ${password}`,
    'dir .',
    `save ${durable ? '3600 1' : '""'}`,
    'appendonly no',
    'stop-writes-on-bgsave-error no',
    'maxmemory 256mb',
    'maxmemory-policy allkeys-lru',
    'daemonize no',
    '',
  ].join('\n');

/** False while it still loads its snapshot: then it answers with an error. */
const answersPing = async (port: number, password: string): Promise<boolean> => {
  const request = Buffer.from(`*2\r\n$4\r\nAUTH\r\n$${password.length}\r\n${password}\r\n*1\r\n$4\r\nPING\r\n`);
  const answer = await exchange(port, request, (bytes) => /\r\n.*\r\n/.test(bytes.toString('latin1')));
  return answer?.toString('latin1').startsWith('+OK\r\n+PONG') === true;
};
