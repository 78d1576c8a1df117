import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce } from '../downloads/fetch-once';
import { runMaven } from '../downloads/maven';
import { readZipEntry } from '../downloads/zip-entry';
import { findProgram } from '../process/find-program';
import { runProgram } from '../process/run-program';
import type { ServerContext } from '../server-context';
import { StackError } from '../stack-error';

const VERSION = '7.0.15';
const JAR_VERSION = '0.9.1';
const ARTIFACT = `org.signal:embedded-redis:${JAR_VERSION}`;
const OLDEST = [6, 2] as const;

/** A Redis or Valkey on the PATH that is new enough, else one fetched as a jar that carries it for Linux and macOS. */
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
      writeFileSync(binary, readZipEntry(readFileSync(jar), entry));
      chmodSync(binary, 0o755);
      rmSync(jar);
    },
  });
  return join(folder, 'redis-server');
};

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Name of the binary inside the jar. @throws {StackError} where it has none for this platform. */
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
