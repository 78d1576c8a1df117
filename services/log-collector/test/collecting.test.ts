import { testStack, waitUntil } from '@decision/local-stack';
import { type Database } from '@decision/persistence';
import { createLogger, createMetrics, createStopper, type Logger, type Metrics } from '@decision/service-kit';
import { Kafka, logLevel } from 'kafkajs';
import { startCollecting } from '../src/collecting/collect';
import { type CollectorUnderTest, logOf, startCollectorUnderTest } from './collector-under-test';
import { type LogsTopic, openLogsTopic } from './logs-topic';

const MIB = 1_048_576;
let collector: CollectorUnderTest;
let logger: Logger;
beforeAll(async () => {
  collector = await startCollectorUnderTest('collecting');
  logger = createLogger({ service: 'test', level: 'silent' });
}, 180_000);
afterAll(() => collector.stop());

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const openTopic = (): Promise<LogsTopic> => openLogsTopic({ label: 'collecting', version: '1', logger, closing });

interface Running {
  readonly metrics: Metrics;
  readonly queuedBytes: () => number;
  readonly partitions: () => number;
  readonly collectedTo: () => number | undefined;
  stop(drainMs?: number): Promise<void>;
}
const start = (topic: LogsTopic, database: Database = collector.database, bufferBytes = 16 * MIB): Running => {
  const metrics = createMetrics('test');
  const stopper = createStopper();
  const collecting = startCollecting({
    ...{ database, broker: topic.openBroker(), logger, metrics, stopper },
    config: {
      ...{ sessionTimeoutMs: 6_000, heartbeatIntervalMs: 200, retentionDays: 30 },
      ...{ collectorBufferBytes: bufferBytes, collectorUpkeepMs: 60_000 },
    },
  });
  collecting.start();
  return {
    metrics,
    queuedBytes: () => collecting.status()?.queuedBytes ?? 0,
    partitions: () => collecting.status()?.partitions ?? 0,
    collectedTo: () => collecting.collectedTo(),
    stop: (drainMs = 5_000) => stopper.stop(drainMs),
  };
};
const countOf = async (slug: string): Promise<number> => {
  const { body } = await collector.get('/query', { rules: slug, count: 'true' });
  return Number(body['count']);
};
const logs = (slug: string, count: number, request: unknown = {}) =>
  Array.from({ length: count }, () => logOf(collector.access.workspaceId, [{ request }], { slug }));
const counted = async ({ metrics }: Running, name: string): Promise<number> => {
  const { text } = await metrics.render();
  return Number(
    new RegExp(`^${name.replace(/[{}"]/g, (sign) => `\\${sign}`).replace('\\}', '[^}]*\\}')} (\\d+)$`, 'm').exec(
      text,
    )?.[1] ?? 0,
  );
};

/** The database, whose steps a test observes and delays. */
const watched = (step: (name: string, when: 'before' | 'after') => Promise<void>): Database => ({
  ...collector.database,
  inWorkspace: async (access, work) => {
    await step('store', 'before');
    const result = await collector.database.inWorkspace(access, work);
    await step('store', 'after');
    return result;
  },
  lookUp: async (sql, bindings) => {
    const name = sql.includes('quarantine_decisions(') ? 'quarantine' : 'other';
    await step(name, 'before');
    const rows = await collector.database.lookUp(sql, bindings);
    await step(name, 'after');
    return rows as never;
  },
});

const quarantined = async (prefix: string): Promise<readonly unknown[]> => {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: collector.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ reason: string; payload: Buffer }>(
    'select reason, payload from decision_quarantine where topic = $1 order by reason',
    [`${prefix}logs`],
  );
  await client.end();
  return rows.map(({ reason, payload }) => [reason, payload.toString()]);
};

describe('the collector', () => {
  it('stores all messages of the topic, including earlier ones, and commits them', async () => {
    const topic = await openTopic();
    await topic.write(...logs('early', 50));
    const first = start(topic);
    await waitUntil(async () => (await countOf('early')) === 50);
    await topic.write(...logs('early', 10));
    await waitUntil(async () => (await countOf('early')) === 60);
    await waitUntil(async () => (await counted(first, 'decision_collector_records_total{outcome="stored"}')) === 60);
    await first.stop();
    const second = start(topic);
    await topic.write(...logs('later', 5));
    await waitUntil(async () => (await countOf('later')) === 5);
    expect(await counted(second, 'decision_collector_records_total{outcome="repeated"}')).toBe(0);
    expect((await second.metrics.render()).text).toMatch(/decision_collector_lag_messages\{partition="\d"[^}]*\} 0/);
    await second.stop();
  }, 90_000);

  it('reads the topic from its beginning if the offsets of its group are lost, and stores nothing twice', async () => {
    const topic = await openTopic();
    await topic.write(...logs('reread', 30));
    const first = start(topic);
    await waitUntil(async () => (await counted(first, 'decision_collector_records_total{outcome="stored"}')) === 30);
    await first.stop();
    const admin = new Kafka({
      brokers: testStack().mqBrokers.split(','),
      clientId: 'operator',
      logLevel: logLevel.NOTHING,
    }).admin();
    await admin.connect();
    await admin.deleteGroups([`${topic.prefix}collector-consumers`]);
    await admin.disconnect();
    await topic.write(...logs('reread', 5));
    const second = start(topic);
    await waitUntil(async () => (await counted(second, 'decision_collector_records_total{outcome="stored"}')) === 5);
    await waitUntil(async () => (await counted(second, 'decision_collector_records_total{outcome="repeated"}')) === 30);
    expect(await countOf('reread')).toBe(35);
    await second.stop();
  }, 90_000);

  it('sets apart messages that it cannot read or store, counts them, and goes on', async () => {
    const topic = await openTopic();
    const deep = logOf(collector.access.workspaceId, [], { slug: 'deep' });
    const nested = JSON.stringify(deep).replace('"items":[]', () => {
      const value = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
      return `"items":[{"index":0,"status":200,"duration_us":1,"matched":[],"request":${value},"response":{}}]`;
    });
    const ahead = logOf(collector.access.workspaceId, [{}], { received_at: '2999-01-01T00:00:00.000Z', slug: 'ahead' });
    const old = logOf(collector.access.workspaceId, [{}], { received_at: '2020-01-01T00:00:00.000Z', slug: 'old' });
    const refused = logOf(collector.access.workspaceId, [{}, { matched: [99_999_999_999] }, {}], { slug: 'refused' });
    const running = start(topic);
    await topic.write(
      refused,
      'nonsense',
      Buffer.from('{'),
      Buffer.from(nested),
      ahead,
      old,
      ...logs('beside', 20),
      ...logs('nul', 1, { a: 'x\0' }),
    );
    await waitUntil(async () => (await countOf('beside')) === 20);
    await waitUntil(async () => (await quarantined(topic.prefix)).length === 6);
    expect((await quarantined(topic.prefix)).map((row) => (row as string[])[0])).toEqual([
      ...['altered', 'future', 'not_json', 'refused', 'too_deep', 'unknown_shape'],
    ]);
    expect(await collector.get('/query', { search: 'name = refused' })).toMatchObject({
      body: { data: [{ matched_items: [0, 2] }] },
    });
    const { body } = await collector.get('/query', { rules: 'nul' });
    expect(body['data']).toMatchObject([{ request: { a: 'x\ufffd' }, abbreviated: true }]);
    expect(await counted(running, 'decision_collector_set_apart_total{reason="not_json"}')).toBe(1);
    expect(await counted(running, 'decision_collector_records_total{outcome="expired"}')).toBe(1);
    await running.stop();
  }, 90_000);

  it.each([
    ['before it stores', 'store', 'before'],
    ['after it has stored', 'store', 'after'],
    ['before it sets apart', 'quarantine', 'before'],
    ['after it has set apart, before it commits', 'quarantine', 'after'],
  ] as const)(
    'that dies %s leaves every decision to the next one, once',
    async (_, name, when) => {
      const topic = await openTopic();
      const slug = `death-${name}-${when}`;
      let held = false;
      const dying = start(
        topic,
        watched((step, moment) => {
          if (step !== name || moment !== when) return Promise.resolve();
          held = true;
          return new Promise(() => undefined);
        }),
      );
      await topic.write(...logs(slug, 30), 'nonsense');
      await waitUntil(() => held);
      await dying.stop(0);
      const next = start(topic);
      await waitUntil(async () => (await countOf(slug)) === 30 && (await quarantined(topic.prefix)).length === 1);
      await next.stop();
      expect(await countOf(slug)).toBe(30);
    },
    90_000,
  );

  it('holds a bounded number of bytes while the database is away, and stores everything once it is back', async () => {
    const topic = await openTopic();
    let isAway = true;
    const running = start(
      topic,
      watched(() => (isAway ? Promise.reject(new Error('The database is away.')) : Promise.resolve())),
      MIB,
    );
    await topic.write(...logs('away', 60, { text: 'x'.repeat(100_000) }));
    const writtenAt = Date.now();
    await waitUntil(() => running.queuedBytes() >= MIB);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(running.queuedBytes()).toBeLessThan(MIB + 200_000);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(running.collectedTo() ?? 0).toBeLessThan(writtenAt);
    isAway = false;
    await waitUntil(async () => (await countOf('away')) === 60);
    await waitUntil(() => (running.collectedTo() ?? 0) > writtenAt);
    await running.stop();
  }, 90_000);

  it('shares the topic with a second one, and hands it over, without losing or repeating a decision', async () => {
    const topic = await openTopic();
    const first = start(topic);
    await topic.write(...logs('shared', 100));
    await waitUntil(() => first.partitions() === 4);
    const second = start(topic);
    const writing = (async () => {
      for (let round = 0; round < 20; round += 1) {
        await topic.write(...logs('shared', 20));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    await waitUntil(() => second.partitions() === 2 && first.partitions() === 2);
    await first.stop();
    await writing;
    await waitUntil(async () => (await countOf('shared')) === 500);
    await waitUntil(() => second.partitions() === 4);
    await second.stop();
    expect(await countOf('shared')).toBe(500);
  }, 120_000);
});
