import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceProcess } from '@decision/launcher';
import { becomes } from './becomes';
import { type CollectorsUnderTest, withCollectors } from './collectors-under-test';

/* Collectors as processes whose archive refuses, or that die at a step of it: it ends up with each acknowledged decision once, and the table waits for nothing. */

const HOUR_MS = 3_600_000;
/** Objects of two hours each time. */
const inTurns = (): (() => Date) => {
  let turn = 0;
  return () => new Date(Date.now() - ((turn += 1) % 2) * HOUR_MS);
};

const diskEnvironment = (settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${require.resolve('./disk-preload.cjs')}`,
  ...settings,
});

it.concurrent.each([
  ['that is killed once it has said where objects end', 'rename:1:before'],
  ['that is killed between two objects', 'rename:1:after'],
  ['that is killed when its objects are written and not told of', 'link:2:before'],
  ['that is killed after it has told of its objects', 'link:2:after'],
])(
  'a collector %s leaves objects that the next one makes again, under the same names',
  (_, death) =>
    withCollectors(async (collectors) => {
      const mark = join(collectors.archive, '..', `${collectors.name}.mark`);
      await collectors.write(40, inTurns());
      await collectors.start(diskEnvironment({ DISK_DEATH: death, DISK_MARK: mark }));
      await becomes('it has died', () => Promise.resolve(existsSync(mark)));
      await collectors.write(40, inTurns());
      await collectors.holdEverythingOnce();
      rmSync(mark);
    }),
  180_000,
);

it.concurrent(
  'an archive whose disk is full holds up nothing else, keeps a bounded number of bytes waiting, and gets everything afterwards',
  () =>
    withCollectors(async (collectors) => {
      const full = join(collectors.archive, '..', `${collectors.name}.full`);
      writeFileSync(full, '');
      const bounds = { ARCHIVE_ROLL_BYTES: String(ROLL_BYTES), ARCHIVE_BUFFER_BYTES: String(BUFFER_BYTES) };
      const service = await collectors.start(diskEnvironment({ DISK_FULL: full, ...bounds }));
      await writeMuch(collectors);
      const size = (): number => collectors.acknowledged.size;
      await becomes('the table has everything', async () => (await collectors.inTable()).size === size());
      await becomes('the archive says that it fails', async () => (await healthOf(service)).archive?.failing === true);
      const waiting = await waitingBytes(service);
      expect(waiting).toBeGreaterThan(BUFFER_BYTES / 2);
      expect(waiting).toBeLessThan(BUFFER_BYTES + LARGEST_BYTES);
      expect((await collectors.inArchive()).size).toBe(0);
      expect(await healthOf(service)).toMatchObject({ status: 'ok' });
      rmSync(full);
      await collectors.holdEverythingOnce();
    }),
  180_000,
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
