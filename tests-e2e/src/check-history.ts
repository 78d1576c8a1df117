import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startStack, stackLocations } from '@decision/local-stack';
import { describeReport, isSerial } from './histories/describe-report';
import { DATABASE_FAULTS, SERVER_FAULTS, SERVICE_FAULTS } from './histories/faults';
import { breakingEnvironment, startWatchedFleet } from './histories/watched-fleet';
import { watchHistories } from './histories/watch-histories';

/* `pnpm check:history`: runs servers and services of its own, clients and faults, and checks whether the clients' answers have a serial order. */

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

const SETTINGS = {
  seed: number('HISTORY_SEED', randomInt(2 ** 31)),
  clients: number('HISTORY_CLIENTS', 24),
  instances: number('HISTORY_INSTANCES', 12),
  durationMs: number('HISTORY_SECONDS', 60) * 1_000,
};

/** A broken build of contexts-api that the checker must detect; see `histories/broken-build.cjs`. */
const BROKEN = process.env['HISTORY_BROKEN'];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (): Promise<boolean> => {
  const directory = mkdtempSync(join(tmpdir(), 'decision-history-'));
  const downloads = resolve(__dirname, '../../.local/downloads');
  say(
    `seed ${SETTINGS.seed}, ${SETTINGS.clients} clients, ${SETTINGS.instances} instances, ${SETTINGS.durationMs / 1_000} s`,
  );
  const stack = await startStack({ directory, downloads, durable: false });
  try {
    const fleet = await startWatchedFleet({
      ...{ addresses: stack, name: 'history', hasProxy: true },
      contextsEnvironment: BROKEN === undefined ? {} : breakingEnvironment(BROKEN),
    });
    try {
      const faults = [...DATABASE_FAULTS, ...SERVICE_FAULTS, ...SERVER_FAULTS];
      const { database, broker } = stack.controls;
      const servers = { ...(database && { database }), ...(broker && { broker }) };
      const report = await watchHistories({ fleet, ...SETTINGS, instancePrefix: 'i', faults, servers });
      say(describeReport(report));
      return isSerial(report);
    } finally {
      await fleet.stop();
    }
  } finally {
    await stack.stop();
    for (const path of stackLocations(directory)) rmSync(path, { recursive: true, force: true });
  }
};

main().then(
  (isGood) => {
    process.exitCode = isGood ? 0 : 1;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 2;
  },
);
