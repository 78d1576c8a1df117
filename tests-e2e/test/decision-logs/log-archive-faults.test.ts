import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ServiceProcess } from '@decision/launcher';
import { waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import { type CollectorsUnderTest, withCollectors } from './collectors-under-test';

/*
 * Collectors as processes whose archive refuses writes, or that die at one of its steps: in the end it holds each acknowledged decision once, and
 * the table never waits.
 */

const HOUR_MS = 3_600_000;
/** How long an archive keeps refusing once the limit of waiting bytes is reached; `npm run test:long` waits for ten minutes. */
const REFUSING_MS = process.env['TEST_LONG'] === '1' ? 600_000 : 2_000;
/** Objects of two hours, alternating. */
const inTurns = (): (() => Date) => {
  let turn = 0;
  return () => new Date(Date.now() - ((turn += 1) % 2) * HOUR_MS);
};

const diskEnvironment = (settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${require.resolve('./disk-preload.cjs')}`,
  ...settings,
});

/** Starts a collector that dies at each of these points, and is restarted each time; resolves once it has died for the last time. */
const startDying = async (
  collectors: CollectorsUnderTest,
  places: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> => {
  const done = join(collectors.folder, 'deaths');
  const deaths = { DISK_DEATHS: places.join(','), DISK_DEATHS_DONE: done };
  const service = await collectors.start({ ...diskEnvironment(deaths), ...environment });
  const died = (): string => (existsSync(done) ? readFileSync(done, 'utf8') : '');
  try {
    const all = places.map((place) => `${place}\n`).join('');
    await waitUntil(() => died() === all, 'it has died everywhere');
  } catch (error) {
    throw new Error(`It died at: ${died()}`, { cause: error });
  }
  return service;
};

it.concurrent(
  'collectors that are killed object by object leave objects that the next one makes again, under the same names',
  () =>
    withCollectors(async (collectors) => {
      await collectors.write(40, inTurns());
      // The first makes the boundary, which the others find; two objects and their manifest follow.
      await startDying(collectors, ['link:1:after', 'rename:1:after', 'link:1:before', 'link:1:after']);
      await collectors.write(40, inTurns());
      await collectors.holdEverythingOnce();
    }),
  180_000,
);

it.concurrent(
  'collectors that are killed while small objects become one lose and double nothing for who asks the archive',
  () =>
    withCollectors(async (collectors) => {
      const writing = await collectors.start();
      for (let roll = 0; roll < 3; roll += 1) {
        await collectors.write(20, () => new Date(Date.now() - 3 * HOUR_MS));
        await waitUntil(async () => (await collectors.inArchive()).size === (roll + 1) * 20, 'it is archived');
      }
      await collectors.holdEverythingOnce();
      await writing.stop(5_000);
      const upkeep = { ARCHIVE_UPKEEP_MS: '1000', LOG_STORE: 'archive' };
      // The object that replaces others, and the file that says so.
      const service = await startDying(collectors, ['rename:1:before', 'rename:1:after', 'link:1:after'], upkeep);
      const count = async (): Promise<unknown> => {
        const start = new Date(Date.now() - 12 * HOUR_MS).toISOString();
        const answer = await collectors.get(service, `/api/v1/decisions/query?count=true&start=${start}`);
        return (answer.body as { readonly count?: unknown }).count;
      };
      await waitUntil(async () => (await count().catch(() => undefined)) !== undefined, 'it answers');
      expect(await count()).toBe(60);
      expect(twiceOf(await collectors.inArchive())).toEqual([]);
      const compactions = readdirSync(join(collectors.archive, 'compactions'), { recursive: true }) as string[]; // names
      expect(compactions.filter((name) => name.endsWith('.json'))).toHaveLength(1);
    }),
  180_000,
);

it.concurrent(
  'a collector that keeps decisions in the archive alone makes no partition of the table, and answers',
  () =>
    withCollectors(async (collectors) => {
      const service = await collectors.start({ LOG_STORE: 'archive' });
      await collectors.write(20);
      const found = async (): Promise<unknown> =>
        ((await collectors.get(service, '/api/v1/decisions/query?count=true')).body as { readonly count?: unknown })
          .count;
      await waitUntil(async () => (await found().catch(() => undefined)) === 20, 'it answers with all');
      const client = new Client({ connectionString: collectors.databaseUrl });
      await client.connect();
      const { rows } = await client.query(`select 1 from pg_inherits where inhparent = 'decision_log'::regclass`);
      await client.end();
      expect(rows).toEqual([]);
    }),
  180_000,
);

const twiceOf = (held: ReadonlyMap<string, number>) => [...held].filter(([, records]) => records !== 1);

it.concurrent(
  'an archive whose disk is full holds up nothing else, keeps a bounded number of bytes waiting, and gets everything afterwards',
  () =>
    withCollectors(async (collectors) => {
      const full = join(collectors.folder, 'full');
      writeFileSync(full, '');
      const bounds = { ARCHIVE_ROLL_BYTES: String(ROLL_BYTES), ARCHIVE_BUFFER_BYTES: String(BUFFER_BYTES) };
      const service = await collectors.start(diskEnvironment({ DISK_FULL: full, ...bounds }));
      await writeMuch(collectors);
      const size = (): number => collectors.acknowledged.size;
      await waitUntil(async () => (await collectors.inTable()).size === size(), 'the table has everything');
      await waitUntil(
        async () => (await healthOf(service)).archive?.failing === true,
        'the archive says that it fails',
      );
      const waiting = await waitingBytes(service);
      expect(waiting).toBeGreaterThan(BUFFER_BYTES / 2);
      expect(waiting).toBeLessThan(BUFFER_BYTES + LARGEST_BYTES);
      const end = Date.now() + REFUSING_MS;
      while (Date.now() < end) {
        await collectors.write(10);
        await pause(1_000);
        expect(await waitingBytes(service)).toBeLessThan(BUFFER_BYTES + LARGEST_BYTES);
        await waitUntil(async () => (await collectors.inTable()).size === size(), 'the table goes on');
      }
      expect((await collectors.inArchive()).size).toBe(0);
      expect(await healthOf(service)).toMatchObject({ status: 'ok' });
      rmSync(full);
      await collectors.holdEverythingOnce();
    }),
  180_000 + REFUSING_MS,
);

const ROLL_BYTES = 262_144;
const BUFFER_BYTES = 1_048_576;
const LARGEST_BYTES = 10_000;

/** More than may wait. */
const writeMuch = async (collectors: CollectorsUnderTest): Promise<void> => {
  while (collectors.acknowledged.size < 6_000) await collectors.write(1_000);
};

interface Health {
  readonly status: string;
  readonly archive?: { readonly failing: boolean };
}
const healthOf = async ({ url }: ServiceProcess): Promise<Health> =>
  (await (await fetch(`${url}/health`)).json()) as Health; // of its own service

const waitingBytes = async ({ url }: ServiceProcess): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^decision_archive_queued_bytes(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
};
