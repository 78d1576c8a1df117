import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { openSignatureCheck } from '@decision/decision-archive';
import { waitUntil } from '@decision/local-stack';
import { createLogger, createMetrics, createStopper, type Metrics } from '@decision/service-kit';
import { startArchiveUpkeep } from '../src/archiving/archive-upkeep';
import { lookAfterArchive } from '../src/cli/archive';
import { openArchive } from '../src/archiving/open-archive';
import { type ArchiveStatus, startArchive } from '../src/archiving/start-archive';
import { logOf } from './collector-under-test';
import { type LogsTopic, openLogsTopic } from './logs-topic';

const MIB = 1_048_576;
const WORKSPACE = randomUUID();
const logger = createLogger({ service: 'test', level: 'silent' });
let folder: string;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archiving-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(folder, { recursive: true });
});

const openTopic = (): Promise<LogsTopic> => openLogsTopic({ label: 'archiving', version: '2', logger, closing });

interface Running {
  readonly metrics: Metrics;
  status(): ArchiveStatus;
  stop(): Promise<void>;
}
interface StartOptions {
  readonly rollMs?: number;
  readonly rollBytes?: number;
  readonly bufferBytes?: number;
}
const start = async (
  topic: LogsTopic,
  { rollMs = 200, rollBytes = 1_048_576, bufferBytes = 16_777_216 }: StartOptions = {},
): Promise<Running> => {
  const metrics = createMetrics('test');
  const stopper = createStopper();
  const opened = await openArchive({ archiveUrl: `file://${join(folder, 'archive')}`, logStore: 'table' });
  if (opened === undefined) throw new Error('It was named.');
  const archive = await startArchive(opened, {
    ...{ broker: topic.openBroker(), logger, metrics, stopper },
    config: {
      ...{ sessionTimeoutMs: 6_000, heartbeatIntervalMs: 200 },
      ...{ archiveRollBytes: rollBytes, archiveRollMs: rollMs, archiveBufferBytes: bufferBytes },
      archiveMemoryBytes: 268_435_456,
    },
  });
  const stop = () => stopper.stop(5_000);
  closing.push(stop);
  return { metrics, status: () => archive.status(), stop };
};
const namesBelow = async (part: string): Promise<string[]> =>
  (await readdir(join(folder, 'archive', part), { recursive: true }).catch(() => [])).filter((name) =>
    /\.(?:json|parquet)$/.test(name),
  );
/** Records of all objects named by manifests. */
const archived = async (): Promise<number> => {
  const manifests = await namesBelow('manifests');
  const texts = await Promise.all(manifests.map((name) => readFile(join(folder, 'archive/manifests', name), 'utf8')));
  const objects = texts.flatMap((text) => (JSON.parse(text) as { objects: { records: number }[] }).objects);
  return objects.reduce((sum, { records }) => sum + records, 0);
};
const logs = (count: number, request: object = {}) =>
  Array.from({ length: count }, () => logOf(WORKSPACE, [{ request }]));

it('decisions of the topic become objects, and the next process does not write them again', async () => {
  const topic = await openTopic();
  const first = await start(topic);
  await topic.write(...logs(50));
  await waitUntil(async () => (await archived()) === 50);
  // The last manifest exists a moment before it is counted.
  await waitUntil(async () =>
    /decision_archive_records_total\{.*outcome="archived".*\} 50\n/.test((await first.metrics.render()).text),
  );
  await first.stop();
  const before = await namesBelow('decisions');
  await start(topic);
  await topic.write(...logs(1));
  await waitUntil(async () => (await archived()) === 51);
  const after = await namesBelow('decisions');
  expect(after).toEqual(expect.arrayContaining(before));
  expect(after).toHaveLength(before.length + 1);
}, 90_000);

it('a process that ends before its objects are due leaves its messages to the next', async () => {
  const topic = await openTopic();
  const first = await start(topic, { rollMs: 3_600_000 });
  await topic.write(...logs(20));
  await waitUntil(() => first.status().queued === 20);
  expect(first.status()).toEqual({ reason: undefined, failing: false, queued: 20 });
  await first.stop();
  await start(topic);
  await waitUntil(async () => (await archived()) === 20);
}, 90_000);

it('an archive that refuses holds a bounded number of bytes, and takes everything once it is back', async () => {
  const topic = await openTopic();
  const running = await start(topic, { bufferBytes: 4_194_304 });
  await waitUntil(() => running.status().reason === undefined);
  const root = join(folder, 'archive');
  await rename(root, `${root}-kept`);
  await writeFile(root, 'no folder');
  const many = logs(60, { text: 'x'.repeat(200_000) });
  for (let at = 0; at < many.length; at += 10) await topic.write(...many.slice(at, at + 10));
  await waitUntil(async () => {
    const { text } = await running.metrics.render();
    return running.status().failing === true && /decision_archive_queued_bytes\{.*\} 4\d{6}\n/.test(text);
  });
  await rm(root);
  await rename(`${root}-kept`, root);
  await waitUntil(async () => (await archived()) === 60);
  // The last manifest exists a moment before its messages are released.
  await waitUntil(() => running.status().queued === 0);
  expect(running.status()).toMatchObject({ failing: false });
}, 120_000);

it('contradictory settings are refused at the start', async () => {
  const topic = await openTopic();
  await expect(start(topic, { bufferBytes: 2_000_000 })).rejects.toThrow(
    'ARCHIVE_BUFFER_BYTES (2000000) holds less than twice ARCHIVE_ROLL_BYTES (1048576)',
  );
  await rm(join(folder, 'archive'), { recursive: true });
  await writeFile(join(folder, 'archive'), 'no folder');
  await expect(openArchive({ archiveUrl: undefined, logStore: 'archive' })).rejects.toThrow('ARCHIVE_URL names none');
  await expect(start(topic)).rejects.toThrow(/ARCHIVE_URL: The folder .*archive cannot be made \(\w+\)/);
});

it('upkeep merges the small objects of an hour that has ended, and removes expired days', async () => {
  const topic = await openTopic();
  const running = await start(topic, { rollMs: 50 });
  const hoursAgo = (hours: number) => ({ received_at: new Date(Date.now() - hours * 3_600_000).toISOString() });
  for (const hours of [3, 3, 3, 24 * 12]) {
    const before = await archived();
    await topic.write(logOf(WORKSPACE, [{}], hoursAgo(hours)));
    await waitUntil(async () => (await archived()) === before + 1);
  }
  await running.stop();
  const archiveUrl = `file://${join(folder, 'archive')}`;
  const opened = await openArchive({ archiveUrl, logStore: 'table' });
  if (opened === undefined) throw new Error('It was named.');
  const keyFile = join(folder, 'key.pem');
  await writeFile(keyFile, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const stopper = createStopper();
  const metrics = createMetrics('test');
  closing.push(() => stopper.stop(5_000));
  await startArchiveUpkeep(opened, {
    ...{ logger, metrics, stopper },
    config: {
      ...{
        archiveUpkeepMs: 1_000,
        archiveCompactBytes: 1_048_576,
        archiveRetentionDays: 10,
        archiveSigningKey: keyFile,
      },
      ...{ archiveMemoryBytes: 268_435_456, archiveCacheBytes: 1e9 },
    },
  });
  await waitUntil(async () => {
    const { text } = await metrics.render();
    return ['made', 'expired'].every((outcome) => new RegExp(`outcome="${outcome}"[^\n]* 1\n`).test(text));
  });
  expect((await namesBelow('compactions')).filter((name) => name.endsWith('.json'))).toHaveLength(1);
  expect((await namesBelow('decisions')).filter((name) => name.includes('/c-'))).toHaveLength(1);
  const isSigned = openSignatureCheck(await readFile(keyFile, 'utf8'));
  for (const name of await namesBelow('compactions'))
    expect(isSigned(await readFile(join(folder, 'archive/compactions', name), 'utf8'))).toBe(true);
  await waitUntil(async () => (await namesBelow('daily')).length === 1);
  const lines: string[] = [];
  const environment = { ARCHIVE_URL: archiveUrl, ARCHIVE_RETENTION_DAYS: '10' };
  expect(await lookAfterArchive(environment, ['verify', '--key', keyFile], (line) => lines.push(line))).toBe(0);
  expect(lines.join('\n')).toMatch(/4 objects, 4 records\.\nOf these objects 3 were replaced .* 1 are no longer kept/);
  await rm(join(folder, 'archive', 'daily'), { recursive: true });
  expect(await lookAfterArchive(environment, ['verify', '--key', keyFile], (line) => lines.push(line))).toBe(1);
  expect(lines.at(-1)).toMatch(/There is no signed manifest/);
}, 90_000);

it.each([
  ['is not there', undefined, 'ARCHIVE_SIGNING_KEY: The file cannot be read (ENOENT).'],
  ['holds no key', 'secret', 'ARCHIVE_SIGNING_KEY: The key is not a private key in PEM.'],
])('a file of the signing key that %s is refused at the start', async (_, text, sentence) => {
  const opened = await openArchive({ archiveUrl: `file://${join(folder, 'archive')}`, logStore: 'table' });
  if (opened === undefined) throw new Error('It was named.');
  const archiveSigningKey = join(folder, 'key.pem');
  if (text !== undefined) await writeFile(archiveSigningKey, text);
  const starting = startArchiveUpkeep(opened, {
    ...{ logger, metrics: createMetrics('test'), stopper: createStopper() },
    config: {
      ...{ archiveUpkeepMs: 1_000, archiveCompactBytes: 1_048_576, archiveRetentionDays: 10, archiveSigningKey },
      ...{ archiveMemoryBytes: 268_435_456, archiveCacheBytes: 1e9 },
    },
  });
  await expect(starting).rejects.toThrow(sentence);
});

it('a process finishes rolls that others began, even beyond its buffer', async () => {
  const topic = await openTopic();
  const before = await start(topic, { rollMs: 3_600_000, rollBytes: 6 * MIB, bufferBytes: 64 * MIB });
  // Boundaries can be made there, but objects cannot.
  await writeFile(join(folder, 'archive', 'decisions'), 'no folder');
  const many = Array.from({ length: 400 }, () => logs(1, { text: randomBytes(75_000).toString('base64') })).flat();
  for (let at = 0; at < many.length; at += 20) await topic.write(...many.slice(at, at + 20));
  await waitUntil(async () => (await namesBelow('boundaries')).length === 4);
  await before.stop();
  await rm(join(folder, 'archive', 'decisions'));
  await start(topic, { rollBytes: 6 * MIB, bufferBytes: 12 * MIB });
  await waitUntil(async () => (await archived()) === 400);
}, 120_000);
