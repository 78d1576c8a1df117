import { type Broker, createBroker } from '@decision/broker';
import { checkDecisionLogV2, type DecisionLogV2, type SolutionRequestEnvelope, topicName } from '@decision/contracts';
import { testStack } from '@decision/local-stack';
import { createLogger, createMetrics, createStopper, type Metrics, type Stopper } from '@decision/service-kit';
import { type DecisionLogWriter, solvedInput } from '@decision/execution';
import { type Database, dropDatabase, ensureWorkspace, openDatabase } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { Kafka, logLevel } from 'kafkajs';
import { openDecisions } from '../src';

const MIB = 1024 * 1024;
let broker: Broker;
let stopper: Stopper;
let metrics: Metrics;
let writer: DecisionLogWriter;
let database: Database;
let databaseName: string;
let workspaceId: string;
let lines: string[];

beforeAll(async () => {
  const stack = testStack();
  const settings = {
    brokers: stack.mqBrokers.split(','),
    clientId: 'logs',
    topicPrefix: `${stack.uniqueName('logs')}.`,
  };
  lines = [];
  const logger = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line: string) => void lines.push(line) },
  });
  broker = createBroker(settings, logger);
  await broker.ensureTopics('local', { topics: ['logs'] });
  stopper = createStopper();
  metrics = createMetrics('test');
  databaseName = stack.uniqueName('decisions');
  const url = await createMigratedDatabase(stack.databaseUrl, databaseName);
  workspaceId = (await ensureWorkspace(url, { slug: 'decisions', name: 'Decisions' })).id;
  database = openDatabase({ url, applicationName: 'test' });
  const config = { decisionLogs: true, decisionLogBufferBytes: 256 * MIB };
  writer = openDecisions(broker, database, { config, logger, metrics, stopper });
}, 180_000);

afterAll(async () => {
  await stopper.stop(5_000);
  await broker.close();
  await database.close();
  await dropDatabase(testStack().databaseUrl, databaseName);
});

const envelope = (correlationId: string): SolutionRequestEnvelope => ({
  correlationId,
  requester: 'gateway-1',
  replyPartition: 1,
  deadline: Date.now() + 60_000,
  kind: 'solve',
  workspaceId,
  versionId: 'v',
  receivedAt: Date.now(),
  explain: 'none',
  requestId: 'r',
  traceparent: undefined,
  origin: { keyId: 'k', slug: 's', selector: 'latest', firstIndex: 0 },
});
const input = (payload: string) => solvedInput(payload, { ok: true, output: { price: 5 }, matched: [0] }, 1);

const settled = async (outcome: string): Promise<number> => {
  const { text } = await metrics.render();
  return Number(new RegExp(`decision_logs_total\\{outcome="${outcome}"[^}]*\\} (\\d+)`).exec(text)?.[1] ?? 0);
};

const until = async (condition: () => Promise<boolean>): Promise<void> => {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('It did not come true within thirty seconds.');
};

/** Reads the given number of messages from the beginning of the topic. */
const stored = async (count: number): Promise<DecisionLogV2[]> => {
  const kafka = new Kafka({ brokers: [...broker.settings.brokers], clientId: 'reader', logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `${broker.settings.topicPrefix}reader`, maxWaitTimeInMs: 100 });
  const records: DecisionLogV2[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic: topicName(broker.settings.topicPrefix, 'logs'), fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      const checked = checkDecisionLogV2(JSON.parse(String(message.value)));
      if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
      records.push(checked.value);
      return Promise.resolve();
    },
  });
  await until(() => Promise.resolve(records.length >= count));
  await consumer.disconnect();
  return records;
};

it('stores every decision in the topic, also a record of tens of MiB, and drops what exceeds the largest message', async () => {
  for (let index = 0; index < 50; index += 1) writer.write(envelope(`c${index}`), [input(`{"n":${index}}`)]);
  writer.write(
    envelope('many'),
    Array.from({ length: 1_000 }, (_, n) => input(`{"n":${n}}`)),
  );
  const large = `{"padding":"${'x'.repeat(20 * MIB)}"}`;
  writer.write(envelope('large'), [input(large)]);
  await until(async () => (await settled('stored')) === 1_051);
  expect(await settled('dropped')).toBe(0);

  writer.write(envelope('too large'), [input(`{"padding":"${'x'.repeat(64 * MIB)}"}`)]);
  await until(async () => (await settled('dropped')) === 1);
  expect(lines.join('')).toMatch(/"reason":"payload_too_large".*Decision logs were dropped/);

  const records = await stored(52);
  const byId = new Map(records.map((record) => [record.id, record]));
  for (let index = 0; index < 50; index += 1) {
    expect(byId.get(`gateway-1:c${index}`)?.items).toMatchObject([
      { index: 0, request: { n: index }, response: { price: 5 } },
    ]);
  }
  expect(byId.get('gateway-1:many')?.items).toHaveLength(1_000);
  expect(JSON.stringify(byId.get('gateway-1:large')?.items[0]?.request)).toHaveLength(large.length);
}, 180_000);
