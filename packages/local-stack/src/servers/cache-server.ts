import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { fetchOnce, runMaven } from '../downloads/fetch-once';
import { exchange } from '../network/exchange';
import { findProgram, runProgram } from '../process/run-program';
import type { ServerContext, ServerRecipe } from '../server-recipe';
import { serverPassword } from '../stack-files';
import { StackError } from '../stack-options';

const CONFIGURATION = 'redis.conf';

/** Redis on loopback, reached by password only: bounded memory, and, if the stack is durable, one snapshot per hour and one at shutdown. */
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

/** Without a save point Redis saves nothing at shutdown either. Paths are relative to its own working directory. */
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

/** False while it loads its snapshot, since it then answers with an error. */
const answersPing = async (port: number, password: string): Promise<boolean> => {
  const request = Buffer.from(`*2\r\n$4\r\nAUTH\r\n$${password.length}\r\n${password}\r\n*1\r\n$4\r\nPING\r\n`);
  const answer = await exchange(port, request, (bytes) => /\r\n.*\r\n/.test(bytes.toString('latin1')));
  return answer?.toString('latin1').startsWith('+OK\r\n+PONG') === true;
};

const VERSION = '7.0.15';
const JAR_VERSION = '0.9.1';
const ARTIFACT = `org.signal:embedded-redis:${JAR_VERSION}`;
const OLDEST = [6, 2] as const;

/** A recent enough Redis or Valkey on the PATH, else one from a fetched jar that contains it for Linux and macOS. */
export const findRedis = async (context: ServerContext): Promise<string> =>
  (await installedRedis(context)) ?? (await fetchedRedis(context));

const installedRedis = async ({ signal }: ServerContext): Promise<string | undefined> => {
  for (const name of ['redis-server', 'valkey-server']) {
    const command = findProgram(name);
    if (command === undefined) continue;
    const { output } = await runProgram({ command, args: ['--version'], deadlineMs: 10_000, signal });
    if (isNewEnough(output)) return command;
  }
  return undefined;
};

/** Reads the answer of `redis-server --version`, for instance `Redis server v=7.0.15 sha=...`. */
export const isNewEnough = (answer: string): boolean => {
  const [, major = '0', minor = '0'] = /\bv=(\d+)\.(\d+)/.exec(answer) ?? [];
  return Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
};

const fetchedRedis = async (context: ServerContext): Promise<string> => {
  const entry = jarEntryFor(process.platform, process.arch);
  const folder = await fetchOnce({
    downloads: context.downloads,
    name: `redis-${VERSION}`,
    signal: context.signal,
    say: (message) => context.say('fetch', message),
    fill: async (directory) => {
      context.say('fetch', `fetching Redis ${VERSION} with Maven (27 MB, once)`);
      await runMaven(context, ['dependency:copy', `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${directory}`]);
      const jar = join(directory, `embedded-redis-${JAR_VERSION}.jar`);
      const binary = join(directory, 'redis-server');
      writeFileSync(binary, await readZipEntry(readFileSync(jar), entry));
      chmodSync(binary, 0o755);
      rmSync(jar);
    },
  });
  return join(folder, 'redis-server');
};

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Name of the binary inside the jar. @throws {StackError} if it has none for this platform. */
export const jarEntryFor = (platform: string, architecture: string): string => {
  const suffix = ARCHITECTURES[architecture];
  if (suffix === undefined || !['linux', 'darwin'].includes(platform)) {
    throw new StackError(
      'unsupported',
      `No Redis can be fetched for ${platform} on ${architecture}: install redis-server, or set CACHE_URL.`,
    );
  }
  return `redis-server-${VERSION}-${platform}-${suffix}`;
};

/**
 * The content of one file of a zip archive. @throws {StackError} `fetch_failed` if the archive is damaged, has another format, or lacks the
 * file.
 */
export const readZipEntry = async (archive: Buffer, name: string): Promise<Buffer> => {
  try {
    const zip = await fromBufferPromise(archive);
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName === name) return await buffer(await zip.openReadStreamPromise(entry));
    }
  } catch (cause) {
    throw unreadable(cause instanceof Error ? cause.message : 'it is damaged', cause);
  }
  throw unreadable(`it has no file ${name}`);
};

const unreadable = (why: string, cause?: unknown): StackError =>
  new StackError('fetch_failed', `The archive cannot be read: ${why.replace(/\.$/, '')}.`, { cause });
