import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { exchange } from '../network/exchange';
import type { ServerRecipe } from '../process/server-recipe';
import type { ServerContext } from '../server-context';
import { findRedis } from './redis-binary';

/** Redis on loopback: bounded memory, one snapshot an hour and one at shutdown where the stack is durable. */
export const prepareCache = async (context: ServerContext): Promise<ServerRecipe> => {
  const command = await findRedis(context);
  const home = join(context.directory, 'cache');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return {
    name: 'cache',
    command,
    args: redisArguments(context.port, context.durable),
    cwd: home,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    logFile: join(home, 'cache.log'),
    stopSignal: 'SIGTERM',
    prepare: () => Promise.resolve(),
    isReady: () => answersPing(context.port),
  };
};

/** Without a save point Redis saves nothing at shutdown either. Relative paths: its working directory is its own. */
const redisArguments = (port: number, durable: boolean): string[] => [
  ...['--port', String(port)],
  ...['--bind', '127.0.0.1'],
  ...['--dir', '.'],
  ...['--save', durable ? '3600 1' : ''],
  ...['--appendonly', 'no'],
  ...['--stop-writes-on-bgsave-error', 'no'],
  ...['--maxmemory', '256mb'],
  ...['--maxmemory-policy', 'allkeys-lru'],
  ...['--daemonize', 'no'],
];

const PING = Buffer.from('*1\r\n$4\r\nPING\r\n');

/** False while it still loads its snapshot: then it answers with an error. */
export const answersPing = async (port: number): Promise<boolean> => {
  const answer = await exchange(port, PING, (bytes) => bytes.includes('\r\n'));
  return answer?.toString('latin1').startsWith('+PONG') === true;
};
