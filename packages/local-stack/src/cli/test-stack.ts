import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startStack } from '../stack';
import { stackLocations } from '../stack-files';
import type { RunningStack, StackProgress } from '../stack-options';
import type { TestStackAddresses } from '../test-stack';

/**
 * `test-stack ADDRESS_FILE`: temporary servers for tests. Writes their addresses as JSON once all of them answer, and stops
 * them and deletes their data and that file on SIGTERM or when its standard input ends, which it does when the process that
 * started it dies. Progress goes to standard error.
 */
const main = async (addressFile: string): Promise<void> => {
  // Before there is anything to leave behind.
  const untilAsked = whenAskedToStop();
  const directory = mkdtempSync(join(tmpdir(), 'decision-test-stack-'));
  // When run as root, the database runs as another user, who needs access to the directory.
  chmodSync(directory, 0o711);
  try {
    await runUntilAsked(untilAsked, directory, addressFile);
  } finally {
    for (const path of [addressFile, ...stackLocations(directory)]) rmSync(path, { recursive: true, force: true });
  }
};

const runUntilAsked = async (untilAsked: Promise<void>, directory: string, addressFile: string): Promise<void> => {
  const asked = new AbortController();
  const stopping = untilAsked.then(() => asked.abort());
  try {
    const stack = await startStack({
      directory,
      downloads: join(__dirname, '../../../../.local/downloads'),
      durable: false,
      onProgress: printProgress,
      signal: asked.signal,
    });
    try {
      writeAddresses(addressFile, stack);
      await stopping;
    } finally {
      await stack.stop();
    }
  } catch (error) {
    if (!asked.signal.aborted) throw error;
  }
};

const printProgress = ({ server, message, elapsedMs }: StackProgress): void => {
  process.stderr.write(`  ${server}: ${message} (${(elapsedMs / 1000).toFixed(1)} s)\n`);
};

/** Renamed into place, so that a visible file is complete. */
const writeAddresses = (path: string, { databaseUrl, cacheUrl, mqBrokers }: RunningStack): void => {
  const addresses: TestStackAddresses = { databaseUrl, cacheUrl, mqBrokers };
  writeFileSync(`${path}.partial`, JSON.stringify(addresses), { mode: 0o600 });
  renameSync(`${path}.partial`, path);
};

const whenAskedToStop = (): Promise<void> =>
  new Promise((resolve) => {
    const stop = (): void => resolve();
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
    process.stdin.once('end', stop).once('close', stop).once('error', stop).resume();
  });

const [addressFile] = process.argv.slice(2);
if (addressFile === undefined) {
  process.stderr.write('Usage: test-stack ADDRESS_FILE\n');
  process.exit(2);
}
main(resolve(addressFile)).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
