import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce, runMaven } from '../downloads/fetch-once';
import { exchange } from '../network/exchange';
import type { ServerContext, ServerRecipe } from '../server-recipe';
import { findJava, javaEnvironment } from './java';

const VERSION = '4.11.0';
const HEAP_MIB = 256;
/** Prefix of the server's own properties. */
const OWN = '--com.adobe.testing.s3mock';

/**
 * A server of the S3 protocol, without accounts: it accepts any signature. Objects are files in its folder, so they survive the death of
 * the process.
 */
export const prepareObjects = async (context: ServerContext, bucket: string): Promise<ServerRecipe> => {
  const java = await findJava(context);
  const jar = await fetchJar(context);
  const home = join(context.directory, 'objects');
  const temporary = join(home, 'tmp');
  mkdirSync(join(home, 'data'), { recursive: true, mode: 0o700 });
  return {
    name: 'objects',
    command: java,
    args: [
      ...[`-Xmx${HEAP_MIB}m`, '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'],
      ...[`-Djava.io.tmpdir=${temporary}`, '-Djava.awt.headless=true', '-jar', jar],
      // Without this the port would use TLS. The second port cannot be disabled; the system chooses it.
      ...['--server.ssl.enabled=false', '--server.address=127.0.0.1', `--server.port=${context.port}`],
      ...[`${OWN}.http-port=0`, `${OWN}.store.root=${join(home, 'data')}`, `${OWN}.store.retain-files-on-exit=true`],
      `${OWN}.store.initial-buckets=${bucket}`,
    ],
    cwd: home,
    env: javaEnvironment(),
    logFile: join(home, 'objects.log'),
    stopSignal: 'SIGTERM',
    prepare: () => {
      rmSync(temporary, { recursive: true, force: true });
      mkdirSync(temporary, { mode: 0o700 });
      return Promise.resolve();
    },
    isReady: () => hasBucket(context.port, bucket),
  };
};

const hasBucket = async (port: number, bucket: string): Promise<boolean> => {
  const request = `HEAD /${bucket} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
  const answer = await exchange(port, Buffer.from(request), (bytes) => bytes.includes('\r\n'));
  return answer?.toString('latin1').startsWith('HTTP/1.1 200') === true;
};

const fetchJar = async (context: ServerContext): Promise<string> => {
  const folder = await fetchOnce({
    downloads: context.downloads,
    name: `s3mock-${VERSION}`,
    signal: context.signal,
    say: (message) => context.say('fetch', message),
    fill: (directory) => {
      context.say('fetch', `fetching S3Mock ${VERSION} with Maven (61 MB, once)`);
      const artifact = `com.adobe.testing:s3mock:${VERSION}:jar:exec`;
      return runMaven(context, ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${directory}`]);
    },
  });
  return join(folder, `s3mock-${VERSION}-exec.jar`);
};
