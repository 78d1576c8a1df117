import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { testStack, waitUntil } from '@decision/local-stack';
import { createLogger, createMetrics, createStopper, type Metrics } from '@decision/service-kit';
import { Kafka, logLevel } from 'kafkajs';
import { openSinks } from '../src/sinks/open-sinks';
import { type SinkStatus, startSinks } from '../src/sinks/start-sinks';
import { logOf } from './collector-under-test';
import { type LogsTopic, openLogsTopic } from './logs-topic';

const WORKSPACE = randomUUID();
const logger = createLogger({ service: 'test', level: 'silent' });
let folder: string;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sinks-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(folder, { recursive: true });
});

const plainKafka = () =>
  new Kafka({ brokers: testStack().mqBrokers.split(','), clientId: 'plain', logLevel: logLevel.NOTHING });

const openTopic = (): Promise<LogsTopic> => openLogsTopic({ label: 'sinks', version: '1', logger, closing });

interface Receiver {
  readonly url: string;
  /** `request.at` of the received records, in order. */
  readonly got: number[];
  answer: (response: ServerResponse) => void;
}
const openReceiver = async (): Promise<Receiver> => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      for (const line of body.trim().split('\n'))
        receiver.got.push((JSON.parse(line) as { request: { at: number } }).request.at);
      receiver.answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    got: [],
    answer: (response) => void response.end(),
  };
  return receiver;
};

interface Running {
  readonly metrics: Metrics;
  status(): readonly SinkStatus[];
  stop(drainMs?: number): Promise<void>;
}
const start = async (topic: LogsTopic, sinks: readonly object[], bufferBytes = 16_777_216): Promise<Running> => {
  const path = join(folder, 'sinks.json');
  await writeFile(path, JSON.stringify({ sinks }));
  const config = {
    ...{
      sinks: path,
      sinkDeadLetterDir: join(folder, 'dead'),
      sinkDeadLetterBytes: 1_048_576,
      mqTopicPrefix: topic.prefix,
    },
    ...{ sessionTimeoutMs: 6_000, heartbeatIntervalMs: 200, sinkBufferBytes: bufferBytes },
  };
  const metrics = createMetrics('test');
  const stopper = createStopper();
  const running = startSinks({
    ...{ sinks: await openSinks(config), broker: topic.openBroker(), config, logger, metrics, stopper },
  });
  const stop = (drainMs = 5_000) => stopper.stop(drainMs);
  closing.push(() => stop(0));
  return { metrics, stop, status: () => running.status() };
};
const counted = async ({ metrics }: Running, sink: string, outcome: string): Promise<number> => {
  const { text } = await metrics.render();
  const line = text
    .split('\n')
    .find(
      (one) =>
        one.startsWith('decision_sink_records_total{') &&
        one.includes(`sink="${sink}"`) &&
        one.includes(`"${outcome}"`),
    );
  return Number(line?.split(' ').at(-1));
};
const logs = (first: number, count: number, change: object = {}) =>
  Array.from({ length: count }, (_, at) => logOf(WORKSPACE, [{ request: { at: first + at } }], change));
const numbers = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);
const sorted = (got: readonly number[]) => [...got].sort((a, b) => a - b);
const http = (name: string, { url }: Receiver, more: object = {}) => ({
  ...{ name, kind: 'http', url, retry: { initial_ms: 20, max_ms: 100 }, ...more },
});

describe('the sinks of the collector', () => {
  it('receive all messages of the topic, including earlier ones, and continue where they stopped', async () => {
    const topic = await openTopic();
    const receiver = await openReceiver();
    await topic.write(...logs(0, 40));
    const first = await start(topic, [http('audit', receiver)]);
    await waitUntil(() => receiver.got.length === 40);
    await waitUntil(async () => (await counted(first, 'audit', 'sent')) === 40);
    await first.stop();
    const second = await start(topic, [http('audit', receiver)]);
    await topic.write(...logs(40, 10));
    await waitUntil(() => receiver.got.length >= 50);
    await waitUntil(async () => (await counted(second, 'audit', 'sent')) === 10);
    expect(sorted(receiver.got)).toEqual(numbers(0, 50));
    expect((await second.metrics.render()).text).toMatch(/decision_sink_lag_messages\{[^}]*\} 0/);
  }, 90_000);

  it('do not wait for one that hangs, refuses or lies; its memory is bounded and its decisions wait on the topic', async () => {
    const topic = await openTopic();
    const [well, hanging, refusing, lying] = [
      ...[await openReceiver(), await openReceiver(), await openReceiver(), await openReceiver()],
    ] as [Receiver, Receiver, Receiver, Receiver];
    hanging.answer = () => undefined;
    refusing.answer = (response) => void response.writeHead(503).end();
    lying.answer = (response) => void response.end('{"error": "quota"}');
    const running = await start(
      topic,
      [
        http('well', well),
        http('hanging', hanging, { timeout_ms: 300 }),
        http('refusing', refusing),
        http('lying', lying),
      ],
      1_048_576,
    );
    const large = Array.from({ length: 60 }, (_, at) =>
      logOf(WORKSPACE, [{ request: { at, text: 'x'.repeat(100_000) } }]),
    );
    await topic.write(...large);
    await waitUntil(async () => (await counted(running, 'well', 'sent')) === 60);
    expect(sorted(well.got)).toEqual(numbers(0, 60));
    await waitUntil(() => running.status().every(({ name, failing }) => failing === (name !== 'well')));
    const { text } = await running.metrics.render();
    const queued = [...text.matchAll(/decision_sink_queued_bytes\{[^}]*\} (\d+)/g)].map(([, bytes]) => Number(bytes));
    expect(queued).toHaveLength(4);
    for (const bytes of queued) expect(bytes).toBeLessThan(1_048_576 + 200_000);
    for (const name of ['hanging', 'refusing', 'lying']) expect(await counted(running, name, 'sent')).toBe(0);
    for (const receiver of [hanging, refusing, lying]) {
      receiver.got.length = 0;
      receiver.answer = (response) => void response.end();
    }
    for (const name of ['hanging', 'refusing', 'lying'])
      await waitUntil(async () => (await counted(running, name, 'sent')) === 60);
    for (const receiver of [hanging, refusing, lying])
      expect([...new Set(sorted(receiver.got))]).toEqual(numbers(0, 60));
  }, 120_000);

  it('that fail are stopped at once, and receive unsent decisions again', async () => {
    const topic = await openTopic();
    const receiver = await openReceiver();
    receiver.answer = () => undefined;
    await topic.write(...logs(0, 20));
    const first = await start(topic, [http('audit', receiver, { timeout_ms: 400 })]);
    await waitUntil(() => first.status()[0]?.failing === true);
    const begunAt = performance.now();
    await first.stop(60_000);
    expect(performance.now() - begunAt).toBeLessThan(8_000);
    receiver.got.length = 0;
    receiver.answer = (response) => void response.end();
    const second = await start(topic, [http('audit', receiver)]);
    await waitUntil(async () => (await counted(second, 'audit', 'sent')) === 20);
    expect([...new Set(sorted(receiver.got))]).toEqual(numbers(0, 20));
  }, 90_000);

  it('receive decisions that pass their filter, masked, and skip unreadable messages', async () => {
    const topic = await openTopic();
    const receiver = await openReceiver();
    const running = await start(topic, [
      http('audit', receiver, { filter: { assets: ['loan'] }, fields: { without: ['request.ssn'] } }),
    ]);
    const report = {
      ...{ v: 2, producer: 'worker-1', reported_at: new Date().toISOString(), ended: true },
      workspaces: [{ workspace_id: WORKSPACE, next: 9 }],
    };
    await topic.write(...logs(0, 5, { slug: 'other' }), ...logs(100, 3, { slug: 'loan' }), 'nonsense', report);
    await waitUntil(async () => (await counted(running, 'audit', 'filtered')) === 5);
    await waitUntil(async () => (await counted(running, 'audit', 'sent')) === 3);
    await waitUntil(async () => (await counted(running, 'audit', 'unreadable')) === 1);
    expect(sorted(receiver.got)).toEqual([100, 101, 102]);
  }, 90_000);

  it('share the topic with those of a second collector, and hand it over', async () => {
    const topic = await openTopic();
    const receiver = await openReceiver();
    const first = await start(topic, [http('audit', receiver)]);
    await topic.write(...logs(0, 50));
    await waitUntil(() => receiver.got.length >= 50);
    const second = await start(topic, [http('audit', receiver)]);
    const writing = (async () => {
      for (let round = 0; round < 30; round += 1) {
        await topic.write(...logs(50 + round * 10, 10));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    await waitUntil(async () => (await counted(second, 'audit', 'sent')) > 0);
    await first.stop();
    await writing;
    await waitUntil(() => new Set(receiver.got).size === 350);
    expect([...new Set(sorted(receiver.got))]).toEqual(numbers(0, 350));
    expect(await counted(second, 'audit', 'lost')).toBe(0);
  }, 90_000);

  it('put records into dead letters once they are old enough, and go on', async () => {
    const topic = await openTopic();
    const receiver = await openReceiver();
    receiver.answer = (response) => void response.writeHead(503).end('out of order');
    const retry = { initial_ms: 10, max_ms: 20, attempts: 3, give_up_after_ms: 0 };
    const running = await start(topic, [http('audit', receiver, { retry })]);
    await topic.write(...logs(0, 10));
    await waitUntil(async () => (await counted(running, 'audit', 'dead_lettered')) === 10);
    const lines = (await readFile(join(folder, 'dead', 'audit.ndjson'), 'utf8')).trim().split('\n');
    const letters = lines.map((line) => JSON.parse(line) as { reason: string; record: { request: { at: number } } });
    expect(sorted(letters.map(({ record }) => record.request.at))).toEqual(numbers(0, 10));
    expect(letters[0]).toMatchObject({ detail: 'out of order', reason: expect.stringMatching(/answered 503/) });
    receiver.answer = (response) => void response.end();
    await topic.write(...logs(10, 1));
    await waitUntil(async () => (await counted(running, 'audit', 'sent')) === 1);
  }, 90_000);

  it('that are topics receive a message per decision, once the topic exists', async () => {
    const topic = await openTopic();
    const target = `${topic.prefix}analytics`;
    const running = await start(topic, [
      { name: 'analytics', kind: 'kafka', topic: target, timeout_ms: 2_000, retry: { initial_ms: 50, max_ms: 200 } },
    ]);
    await topic.write(...logs(0, 30));
    await waitUntil(() => running.status()[0]?.failing === true);
    const admin = plainKafka().admin();
    await admin.connect();
    // The library's own waiting fails if the broker does not know the new topic yet; sinks wait for it themselves.
    await admin.createTopics({ topics: [{ topic: target, numPartitions: 3 }], waitForLeaders: false });
    await admin.disconnect();
    await waitUntil(async () => (await counted(running, 'analytics', 'sent')) === 30);
    const consumer = plainKafka().consumer({ groupId: `${target}-reader` });
    closing.push(() => consumer.disconnect());
    const read = new Map<string, number>();
    await consumer.connect();
    await consumer.subscribe({ topic: target, fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message: { value, headers, key } }) => {
        const record = JSON.parse(value?.toString() ?? '') as {
          id: string;
          decision_id: string;
          request: { at: number };
        };
        expect([headers?.['id']?.toString(), key?.toString()]).toEqual([record.id, record.decision_id]);
        read.set(record.id, record.request.at);
        return Promise.resolve();
      },
    });
    await waitUntil(() => read.size === 30);
    expect(sorted([...read.values()])).toEqual(numbers(0, 30));
  }, 120_000);

  it('count messages that the topic deleted before they were sent', async () => {
    const topic = await openTopic();
    const receiver = await openReceiver();
    await topic.write(...logs(0, 20));
    const first = await start(topic, [http('audit', receiver)]);
    await waitUntil(async () => (await counted(first, 'audit', 'sent')) === 20);
    await first.stop();
    await topic.write(...logs(20, 40));
    const admin = plainKafka().admin();
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(`${topic.prefix}logs`);
    await admin.deleteTopicRecords({
      topic: `${topic.prefix}logs`,
      partitions: ends.map(({ partition, offset }) => ({ partition, offset })),
    });
    await admin.disconnect();
    const second = await start(topic, [http('audit', receiver)]);
    await waitUntil(() => second.status()[0]?.ready === true);
    // A gap is noticed with the message after it, so each partition gets some.
    for (let round = 0; round < 8; round += 1) await topic.write(...logs(60 + round * 4, 4));
    await waitUntil(async () => (await counted(second, 'audit', 'sent')) === 32);
    expect(await counted(second, 'audit', 'lost')).toBe(40);
    expect(sorted(receiver.got)).toEqual([...numbers(0, 20), ...numbers(60, 32)]);
  }, 120_000);
});

describe('the file of sinks', () => {
  const config = (sinks: string | undefined, sinkDeadLetterDir: string | undefined = join(folder, 'dead')) => ({
    ...{ sinks, sinkDeadLetterDir, sinkDeadLetterBytes: 1_048_576, mqTopicPrefix: 'decision.' },
  });
  const refusalOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'accepted',
      (error: unknown) => (error as Error).message,
    );

  it('names no sinks if it is not set', async () => {
    expect(await openSinks(config(undefined))).toEqual([]);
  });

  it('that is invalid refuses the start, with all faults', async () => {
    const path = join(folder, 'sinks.json');
    expect(await refusalOf(openSinks(config(path)))).toMatch(/The file cannot be read \(ENOENT\)/);
    const broken = { name: 'x', kind: 'http', url: 'nowhere', signing_key: { file: join(folder, 'none') } };
    await writeFile(
      path,
      JSON.stringify({ sinks: [broken, { name: 'y', kind: 'kafka', topic: 'decision.solution' }] }),
    );
    const refusal = await refusalOf(openSinks({ ...config(path), sinkDeadLetterDir: undefined }));
    for (const part of [
      /\/sinks\/0\/url/,
      /\/sinks\/0\/signing_key .*ENOENT/,
      /\/sinks\/1\/topic/,
      /LOG_SINK_DEAD_LETTER_DIR is not set/,
    ])
      expect(refusal).toMatch(part);
    await writeFile(path, JSON.stringify({ sinks: [{ name: 'z', kind: 'kafka', topic: 'mine' }] }));
    expect(await refusalOf(openSinks(config(path, join(path, 'below'))))).toMatch(/LOG_SINK_DEAD_LETTER_DIR .*ENOTDIR/);
    expect(await openSinks(config(path))).toMatchObject([{ name: 'z' }]);
  });

  it('reads secrets from files, without the trailing line break', async () => {
    const [path, key] = [join(folder, 'sinks.json'), join(folder, 'key')];
    await writeFile(key, 'a secret\r\n');
    const headers = { authorization: { file: key } };
    await writeFile(path, JSON.stringify({ sinks: [{ name: 'x', kind: 'http', url: 'http://x', headers }] }));
    expect(await openSinks(config(path))).toMatchObject([{ target: { headers: { authorization: 'a secret' } } }]);
  });
});
