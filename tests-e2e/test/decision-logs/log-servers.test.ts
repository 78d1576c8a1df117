import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ServiceProcess } from '@decision/launcher';
import { type RunningStack, type ServerControl, stackLocations, startStack, waitUntil } from '@decision/local-stack';
import { type CollectorsUnderTest, startCollectorsUnderTest } from './collectors-under-test';
import { repositoryRoot } from '../fleet/fleet-under-test';

/*
 * Collectors as processes while the servers of this file are killed, frozen and restarted: table and archive hold each acknowledged decision
 * once. AWAY_MS makes the faults longer.
 */

const AWAY_MS = Number(process.env['AWAY_MS'] ?? 2_000);

let directory: string;
let stack: RunningStack;
let collectors: CollectorsUnderTest;
let service: ServiceProcess;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'log-servers-'));
  stack = await startStack({
    ...{ directory, downloads: join(repositoryRoot, '.local/downloads'), durable: false },
    servers: ['database', 'broker'],
  });
  collectors = await startCollectorsUnderTest(stack, 'collectors');
  service = await collectors.start();
  await readsTopic(service);
}, 540_000);
afterAll(async () => {
  // A failed test may have left a server down.
  for (const server of ['database', 'broker'] as const) await stack?.controls[server]?.start();
  await collectors?.stop();
  await stack?.stop();
  for (const path of stackLocations(directory)) rmSync(path, { recursive: true, force: true });
}, 120_000);

const control = (server: 'database' | 'broker'): ServerControl => {
  const found = stack.controls[server];
  if (found === undefined) throw new Error(`There is no control of the ${server}.`);
  return found;
};

/** Decisions are written before, during and after some work. */
const whileWriting = async (work: () => Promise<void>): Promise<void> => {
  const before = collectors.acknowledged.size;
  const stopWriting = collectors.keepWriting();
  await waitUntil(() => collectors.acknowledged.size > before + 50, 'decisions are written');
  await work();
  const after = collectors.acknowledged.size;
  await waitUntil(() => collectors.acknowledged.size > after + 50, 'decisions are written again');
  await stopWriting();
};

it(
  'a database that is killed, and away for a while, takes what was decided meanwhile, which the archive has at once',
  async () => {
    await whileWriting(async () => {
      await control('database').kill('SIGKILL');
      const before = (await collectors.inArchive()).size;
      await pause(AWAY_MS);
      await waitUntil(async () => (await collectors.inArchive()).size > before + 50, 'the archive goes on');
      await control('database').start();
    });
    await collectors.holdEverythingOnce();
  },
  180_000 + AWAY_MS,
);

it(
  'a collector that starts while the database is away archives at once, says that it is not ready, and fills the table once it is back',
  async () => {
    await control('database').kill('SIGKILL');
    const started = await collectors.start();
    await service.stop(5_000);
    service = started;
    const before = (await collectors.inArchive()).size;
    const stopWriting = collectors.keepWriting();
    await waitUntil(async () => (await collectors.inArchive()).size > before + 50, 'the archive takes decisions');
    await pause(AWAY_MS);
    const statusOf = async (path: string) => (await fetch(`${started.url}${path}`)).status;
    expect([await statusOf('/health'), await statusOf('/ready')]).toEqual([200, 503]);
    expect((await collectors.get(started, '/api/v1/decisions/query')).status).toBe(503);
    await control('database').start();
    await waitUntil(async () => (await statusOf('/ready')) === 200, 'it is ready');
    await stopWriting();
    await collectors.holdEverythingOnce();
  },
  180_000 + AWAY_MS,
);

it(
  'a database that falls silent, with its connections open, takes everything once it answers again',
  async () => {
    await whileWriting(async () => {
      await control('database').pause();
      await pause(AWAY_MS);
      control('database').resume();
    });
    await collectors.holdEverythingOnce();
  },
  180_000 + AWAY_MS,
);

it(
  'what a broker acknowledged before it was killed is collected after it has been started again',
  async () => {
    await whileWriting(async () => {
      await control('broker').kill('SIGKILL');
      await pause(AWAY_MS);
      await control('broker').start();
    });
    await collectors.holdEverythingOnce();
  },
  180_000 + AWAY_MS,
);

it('collectors that come, go and are killed in the middle of objects hand everything over', async () => {
  const roll = { ARCHIVE_ROLL_MS: '1000' };
  await whileWriting(async () => {
    const second = await collectors.start(roll);
    await readsTopic(second);
    await service.stop(5_000);
    const third = await collectors.start(roll);
    await readsTopic(third);
    const pid = second.pid();
    if (pid === undefined) throw new Error('The second collector does not run.');
    process.kill(pid, 'SIGKILL');
  });
  await collectors.holdEverythingOnce();
}, 180_000);

interface Health {
  readonly broker: { readonly partitions: number };
  readonly archive?: { readonly reason?: string };
}

/** The collector reads part of the topic, for the table and for the archive. */
const readsTopic = ({ url }: ServiceProcess): Promise<void> =>
  waitUntil(async () => {
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    const health = (await answer?.json()) as Health | undefined; // of its own service
    return (health?.broker.partitions ?? 0) > 0 && health?.archive !== undefined && health.archive.reason === undefined;
  }, `${url} reads the topic`);
