import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMessage } from '@decision/decision-logs';
import { toSinkRecord } from '@decision/decision-sinks';
import { decisionIdOf } from '@decision/persistence';
import { lookAfterArchive } from '../src/cli/archive';
import { type ArchiveUnderTest, openArchiveUnderTest } from './archive-under-test';
import { logOf, messageOf } from './collector-under-test';

interface Got {
  readonly id: string;
  readonly timestamp: string;
  readonly request: { readonly n: number };
}

const WORKSPACE = randomUUID();
const NOON = Date.parse('2026-01-30T12:00:00Z');
const HOUR_MS = 3_600_000;
let archive: ArchiveUnderTest;
let folder: string;
let url: string;
let got: Got[] = [];
let answer: (response: ServerResponse, records: readonly Got[]) => void;
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const records = body.trim().split('\n').map((line) => JSON.parse(line) as Got);
    answer(response, records);
  });
}); // prettier-ignore
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(
  () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
);
const accept = (response: ServerResponse, records: readonly Got[]): void => {
  got.push(...records);
  response.end();
};
beforeEach(async () => {
  got = [];
  answer = accept;
  archive = await openArchiveUnderTest();
  folder = await mkdtemp(join(tmpdir(), 'resend-'));
});
afterEach(async () => {
  await archive.stop();
  await rm(folder, { recursive: true });
});

const decidedAt = (hours: number): string => new Date(NOON + hours * HOUR_MS).toISOString();
/** Messages of decisions an hour apart, around a midnight. */
const messages = (count: number, change: object = {}) =>
  Array.from({ length: count }, (_, n) =>
    messageOf(logOf(WORKSPACE, [{ request: { n, secret: 's' } }], { slug: 'sent', received_at: decidedAt(n), ...change })),
  ); // prettier-ignore
const run = async (args: readonly string[], sink: object = {}, signal = new AbortController().signal) => {
  const file = join(folder, 'sinks.json');
  const retry = { initial_ms: 10, max_ms: 50, attempts: 3, give_up_after_ms: 0 };
  await writeFile(file, JSON.stringify({ sinks: [{ name: 'lake', kind: 'http', url, retry, ...sink }] }));
  const lines: string[] = [];
  const environment = {
    ...{ ARCHIVE_URL: `file://${archive.folder}`, ARCHIVE_MEMORY_BYTES: '268435456', LOG_SINKS: file },
    LOG_SINK_DEAD_LETTER_DIR: join(folder, 'dead'),
  };
  const code = await lookAfterArchive(environment, ['rebuild', ...args], (line) => lines.push(line), () => signal); // prettier-ignore
  return { code, text: lines.join('\n') };
};
const dates = ['--from', '2026-01-30', '--to', '2026-01-31'];
const numbers = () => got.map(({ request }) => request.n).sort((a, b) => a - b);

it('sends the archive\'s decisions of the dates to a sink, like live ones and under the same ids', async () => {
  const some = messages(20);
  await archive.archive(...some, ...messages(1, { received_at: '2026-02-01T00:00:00.000Z' }));
  const { code, text } = await run([...dates, '--sink', 'lake']);
  expect(text).toBe(
    '2026-01-30: the sink took 12 inputs.\n2026-01-31: the sink took 8 inputs.\n' +
      '20 inputs were read: the sink "lake" took 20, its filter passed over 0, and 0 went into its dead letters.',
  );
  expect(code).toBe(0);
  expect(numbers()).toEqual(some.map((_, n) => n));
  const live = some.flatMap(({ value }) => readMessage(value, false).records).map((record) =>
    toSinkRecord(record, { fields: { only: undefined, without: [] }, decisionIdOf, writtenAt: 0 }),
  );
  const byId = new Map(got.map((record) => [record.id, record]));
  for (const { id, facts, documents } of live)
    expect(byId.get(id)).toEqual({
      ...facts,
      ...Object.fromEntries(Object.entries(documents).map(([field, text]) => [field, JSON.parse(text) as unknown])),
    });
  expect(await run([...dates, '--sink', 'lake'])).toMatchObject({ code: 0 });
  expect(new Set(got.map(({ id }) => id)).size).toBe(20);
}, 60_000); // prettier-ignore

it('applies the filter and the mask of the sink, and does not send erased decisions', async () => {
  await archive.archive(...messages(4), ...messages(3, { slug: 'other' }));
  const erase = ['erase', '--workspace', WORKSPACE, ...dates, '--search', 'request.n = 2', '--reason', 'asked for'];
  const environment = { ARCHIVE_URL: `file://${archive.folder}`, ARCHIVE_MEMORY_BYTES: '268435456' };
  expect(await lookAfterArchive(environment, erase, () => undefined)).toBe(0);
  const { text } = await run([...dates, '--sink', 'lake'], {
    filter: { assets: ['rule:sent'] },
    fields: { without: ['request.secret'] },
  });
  expect(text).toContain('5 inputs were read: the sink "lake" took 3, its filter passed over 2, and 0 went');
  expect(numbers()).toEqual([0, 1, 3]);
  expect(got.map(({ request }) => Object.keys(request))).toEqual([['n'], ['n'], ['n']]);
}, 60_000);

it('retries a failing sink, and puts refused decisions into the dead letters', async () => {
  await archive.archive(...messages(6));
  let asked = 0;
  answer = (response, records) => {
    if ((asked += 1) <= 2) return void response.writeHead(503).end();
    if (records.some(({ request }) => request.n === 4)) return void response.writeHead(422).end();
    accept(response, records);
  };
  const { code, text } = await run([...dates, '--sink', 'lake']);
  expect(text).toContain('6 inputs were read: the sink "lake" took 5, its filter passed over 0, and 1 went into its dead letters.'); // prettier-ignore
  expect(code).toBe(1);
  expect(numbers()).toEqual([0, 1, 2, 3, 5]);
  expect(await readFile(join(folder, 'dead', 'lake.ndjson'), 'utf8')).toContain('"n":4');
}, 60_000);

it('an interrupted command prints its position, and can be continued from there without a loss', async () => {
  await archive.archive(...messages(20));
  const ending = new AbortController();
  answer = (response, records) => {
    accept(response, records);
    if (got.length === 7) ending.abort(new Error('interrupted'));
  };
  const first = await run([...dates, '--sink', 'lake'], {}, ending.signal);
  expect(first.code).toBe(130);
  const [, place = ''] = /--after (\S+);/.exec(first.text) ?? [];
  expect(place).toMatch(new RegExp(`^2026-01-30/${WORKSPACE}/1[89]$`));
  const before = got.length;
  expect(before).toBeLessThan(20);
  const second = await run([...dates, '--sink', 'lake', '--after', place]);
  expect(second).toMatchObject({ code: 0 });
  expect(got.length - before).toBeLessThan(15);
  expect([...new Set(numbers())]).toEqual(Array.from({ length: 20 }, (_, n) => n));
}, 60_000);

it('SIGINT of a terminal, which its engine also receives, stops the command with the position to continue from', async () => {
  await archive.archive(...messages(20));
  const begun = new Promise<void>((resolve) => {
    // It never answers.
    answer = () => resolve();
  });
  const file = join(folder, 'sinks.json');
  await writeFile(file, JSON.stringify({ sinks: [{ name: 'lake', kind: 'http', url }] }));
  const source = ['--require', '@decision/tooling/run-sources', '--conditions=source'];
  const command = join(__dirname, '../src/cli/archive.ts');
  const child = spawn(process.execPath, [...source, command, 'rebuild', ...dates, '--sink', 'lake'], {
    env: {
      ...{ PATH: process.env['PATH'], ARCHIVE_URL: `file://${archive.folder}`, LOG_SINKS: file },
      LOG_SINK_DEAD_LETTER_DIR: join(folder, 'dead'),
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let text = '';
  child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  await Promise.race([begun, exit]);
  process.kill(-Number(child.pid), 'SIGINT');
  expect([await exit, text]).toEqual([
    [130, null],
    expect.stringMatching(new RegExp(`It stopped before its end.*--after 2026-01-30/${WORKSPACE}/12;`)),
  ]);
}, 60_000);

it.each([
  ['a sink that is not named', ['--sink', 'none'], {}, /LOG_SINKS names no sink "none"; it names: lake/],
  ['a place outside of the dates', ['--sink', 'lake', '--after', `2026-02-01/${WORKSPACE}/09`], {}, /--after is what/],
  ['a place without a sink', ['--after', 'x'], {}, /--after goes with --sink/],
  ['a topic without a broker', ['--sink', 'lake'], { kind: 'kafka', topic: 'x', url: undefined }, /MQ_BROKERS names no broker/],
])('refuses %s', async (_, args, sink, sentence) => {
  const { code, text } = await run([...dates, ...args], sink);
  expect(text).toMatch(sentence);
  expect(code).toBe(2);
}); // prettier-ignore

it('--help shows the usage of each command', async () => {
  const lines: string[] = [];
  expect(await lookAfterArchive({}, ['--help'], (line) => lines.push(line))).toBe(0);
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['verify', 'hold', 'erase', 'rebuild']);
  expect(await lookAfterArchive({}, ['rebuild', '--help'], (line) => lines.push(line))).toBe(0);
  expect(lines.slice(4)).toEqual([expect.stringMatching(/^rebuild .*--sink <name>/)]);
});
