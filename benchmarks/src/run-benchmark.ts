import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@decision/local-stack';
import {
  type Addresses,
  type FleetChanges,
  ROOT,
  say,
  type ServiceUnderTest,
  startService,
} from './service-under-test';

/** A measurement on services and servers that stop afterwards. */
type Benchmark = (service: ServiceUnderTest, servers: Addresses) => Promise<void>;

/** What some work on its own servers answers. Leaves nothing behind. */
export const onServers = async <Result>(work: (servers: Addresses) => Promise<Result>): Promise<Result> => {
  const directory = mkdtempSync(join(tmpdir(), 'decision-benchmark-'));
  const stack = await startStack({
    directory,
    downloads: join(ROOT, '.local/downloads'),
    onProgress: ({ message }) => say(message),
  });
  try {
    return await work(stack);
  } finally {
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Runs a benchmark on its own servers and services. */
export const benchmarkOn = (benchmark: Benchmark, changes?: FleetChanges): Promise<void> =>
  onServers(async (servers) => {
    const service = await startService(servers, changes);
    try {
      await benchmark(service, servers);
    } finally {
      await service.fleet.stop();
    }
  });

/** Runs one benchmark as this process, like {@link benchmarkOn}. Exits with 1 if it fails. */
export const runBenchmark = (benchmark: Benchmark, changes?: FleetChanges): void =>
  endWith(benchmarkOn(benchmark, changes));

/** Exits this process with 1 if its work fails. */
export const endWith = (work: Promise<void>): void => {
  work.catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
};
