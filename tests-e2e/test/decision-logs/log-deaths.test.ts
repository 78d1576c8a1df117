import { type ServiceProcess } from '@decision/launcher';
import { waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import { shiftedClockEnvironment } from '../fleet/clock-ahead';
import { type CollectorsUnderTest, withCollectors } from './collectors-under-test';

/* Collectors as processes that die, or are refused, at a chosen statement: table and archive hold each acknowledged decision once. */

const INSERT = /^\s*insert into decision_log /;

const kill = (service: ServiceProcess): void => {
  const pid = service.pid();
  if (pid === undefined) throw new Error('The collector does not run.');
  process.kill(pid, 'SIGKILL');
};

/** Before the insert, before the commit, and after it. */
const MOMENTS: readonly ((collectors: CollectorsUnderTest) => Promise<unknown>)[] = [
  ({ proxy }) => proxy.hold({ statement: INSERT }),
  ({ proxy }) => proxy.hold({ statement: INSERT, at: 'commit' }),
  ({ proxy }) => proxy.loseAnswer({ statement: INSERT, at: 'commit' }),
];

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

it.concurrent(
  'collectors that are killed statement by statement leave each decision to the next one, once',
  () =>
    withCollectors(async (collectors) => {
      const service = await collectors.start();
      const stopWriting = collectors.keepWriting();
      for (const reached of MOMENTS) {
        await reached(collectors);
        kill(service);
      }
      await stopWriting();
      await collectors.holdEverythingOnce();
    }),
  180_000,
);

it.concurrent(
  'a database whose disk is full takes everything once it has room again, and the archive goes on meanwhile',
  () =>
    withCollectors(async (collectors) => {
      const full = collectors.proxy.fail(INSERT, '53100');
      await collectors.start();
      const stopWriting = collectors.keepWriting();
      await waitUntil(() => full.failed() > 3, 'statements are refused');
      await waitUntil(async () => (await collectors.inArchive()).size > 50, 'the archive goes on');
      expect((await collectors.inTable()).size).toBe(0);
      await stopWriting();
      full.end();
      await collectors.holdEverythingOnce();
    }),
  180_000,
);

it.concurrent(
  'the day rolls over at midnight UTC, at another moment for each collector, and no decision of either day is lost',
  () =>
    withCollectors(async (collectors) => {
      const now = Date.now();
      const midnight = new Date(now - (now % DAY_MS));
      const shiftMs = midnight.getTime() - now - 5_000;
      const settings = { COLLECTOR_UPKEEP_MS: '100', LOG_TABLE_RETENTION_DAYS: '2' };
      await collectors.start({ ...settings, ...shiftedClockEnvironment(shiftMs) });
      await collectors.start({ ...settings, ...shiftedClockEnvironment(shiftMs - MINUTE_MS) });
      const stopWriting = collectors.keepWriting(() => new Date(Date.now() + shiftMs));
      const ofNextDay = async (): Promise<number> => (await collectors.inTable(midnight)).size;
      await waitUntil(async () => (await ofNextDay()) > 100, 'decisions of the next day are stored');
      await stopWriting();
      await collectors.holdEverythingOnce();
      const ofDayBefore = [...collectors.acknowledged.values()].filter((madeAt) => madeAt < midnight);
      expect(ofDayBefore.length).toBeGreaterThan(20);
    }),
  180_000,
);

it.concurrent(
  'days that are dropped while they are read fail no question, lose nothing of other days, and stay in the archive',
  () =>
    withCollectors(async (collectors) => {
      const service = await collectors.start();
      for (let day = 10; day < 14; day += 1) await collectors.write(20, () => new Date(Date.now() - day * DAY_MS));
      await waitUntil(async () => (await collectors.inTable()).size === 80, 'they are stored');
      const endReading = await readTable(collectors);
      await collectors.start({ LOG_TABLE_RETENTION_DAYS: '3', COLLECTOR_UPKEEP_MS: '100' });
      const stopWriting = collectors.keepWriting();
      const refused = (line: string): boolean => line.includes('Upkeep of the log table failed');
      await waitUntil(() => collectors.lines.some(refused), 'a day is not dropped');
      const ask = async (): Promise<void> => {
        const answer = await collectors.get(service, '/api/v1/decisions/query?count=true&search=price');
        expect(answer).toMatchObject({ status: 200 });
      };
      for (let asked = 0; asked < 10; asked += 1) await ask();
      expect((await collectors.inTable()).size).toBeGreaterThan(80);
      await endReading();
      const kept = new Date(Date.now() - 3 * DAY_MS);
      await waitUntil(async () => {
        await ask();
        const held = await collectors.inTable();
        return ![...collectors.acknowledged].some(([id, madeAt]) => madeAt < kept && held.has(id));
      }, 'the days are dropped');
      await stopWriting();
      await collectors.holdEverythingOnce(kept);
    }),
  180_000,
);

/** Reads the table until the returned function is called. */
const readTable = async ({ databaseUrl }: CollectorsUnderTest): Promise<() => Promise<void>> => {
  const reader = new Client({ connectionString: databaseUrl });
  await reader.connect();
  await reader.query('begin; select count(*) from decision_log');
  return () => reader.end();
};
