import { randomUUID } from 'node:crypto';
import { type Broker, createBroker } from '@decision/broker';
import {
  checkDecisionLogV2,
  type DecisionLogV2,
  type LoggingSettings,
  type RuleSettings,
  ServiceError,
  type SolutionRequestEnvelope,
  topicName,
} from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import { createLogger, createMetrics, createStopper, type Metrics, Secret, type Stopper } from '@decision/service-kit';
import { type DecisionLogWriter, NOTHING_SHOWN, putOnRecord, solvedInput } from '@decision/execution';
import {
  type Database,
  dropDatabase,
  ensureWorkspace,
  insertContext,
  insertAsset,
  openDatabase,
  publishAsset,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { Kafka, logLevel } from 'kafkajs';
import { openDecisions } from '../src';
import { createLoggingPolicies, createMasks } from '../src/logging-policies';

const MIB = 1024 * 1024;
let broker: Broker;
let stopper: Stopper;
let metrics: Metrics;
let writer: DecisionLogWriter;
let database: Database;
let databaseName: string;
let workspaceId: string;
let lines: string[];
let config: Parameters<typeof openDecisions>[2]['config'];

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
  config = {
    ...{ decisionLogs: true, decisionLogBufferBytes: 256 * MIB },
    decisionLogMaskKey: new Secret('a key of the operator'),
    ...{ decisionRecordMaxBytes: 64 * MIB, logMessageBytes: 64 * MIB },
  };
  openVersion = await makeVersion('open', {});
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
  versionId: openVersion,
  receivedAt: Date.now(),
  explain: 'none',
  requestId: 'r',
  traceparent: undefined,
  origin: { keyId: 'k', slug: 's', selector: 'latest', firstIndex: 0 },
});
let openVersion: string;

const EMPTY_DRAFT = {
  ...{ description: null, labels: [], folder: null, testSuite: [], sampleRequest: null, sampleResponse: null },
  ...{ testRequest: null, metadata: {}, context: null, requestSchema: [], responseSchema: [], conditions: [] },
  ...{ groups: {}, userGroups: [] },
};
/** A published version of a rule with a logging policy. */
const makeVersion = (slug: string, settings: RuleSettings): Promise<string> =>
  database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    const [id, versionId] = [randomUUID(), randomUUID()];
    await insertAsset(transaction, 'rule', { ...EMPTY_DRAFT, id, slug, name: slug, settings });
    await publishAsset(transaction, 'rule', id, { versionId });
    return versionId;
  });

const input = (payload: string) => solvedInput(payload, { ok: true, output: { price: 5 }, matched: [0] }, 1);

const settled = async (outcome: string): Promise<number> => {
  const { text } = await metrics.render();
  return Number(new RegExp(`decision_logs_total\\{outcome="${outcome}"[^}]*\\} (\\d+)`).exec(text)?.[1] ?? 0);
};

/** Reads the topic from the start, until the records of these requests were there. */
const stored = async (...requests: readonly string[]): Promise<DecisionLogV2[]> => {
  const kafka = new Kafka({ brokers: [...broker.settings.brokers], clientId: 'reader', logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({
    groupId: `${broker.settings.topicPrefix}reader-${randomUUID()}`,
    maxWaitTimeInMs: 100,
  });
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
  const isRead = (request: string): boolean => records.some(({ id }) => id === `gateway-1:${request}`);
  await waitUntil(() => requests.every(isRead), 'all records are read');
  await consumer.disconnect();
  return records;
};

it('stores every decision in the topic, also a record of tens of MiB, and cuts what exceeds the largest message', async () => {
  for (let index = 0; index < 50; index += 1) writer.write(envelope(`c${index}`), [input(`{"n":${index}}`)]);
  writer.write(
    envelope('many'),
    Array.from({ length: 1_000 }, (_, n) => input(`{"n":${n}}`)),
  );
  const large = `{"padding":"${'x'.repeat(20 * MIB)}"}`;
  writer.write(envelope('large'), [input(large)]);
  await waitUntil(async () => (await settled('stored')) === 1_051);
  expect(await settled('dropped')).toBe(0);

  writer.write(envelope('too large'), [input(`{"padding":"${'x'.repeat(64 * MIB)}"}`)]);
  await waitUntil(async () => (await settled('stored')) === 1_052);
  expect(await settled('dropped')).toBe(0);

  const records = await stored(...Array.from({ length: 50 }, (_, n) => `c${n}`), 'many', 'large', 'too large');
  const byId = new Map(records.map((record) => [record.id, record]));
  for (let index = 0; index < 50; index += 1) {
    expect(byId.get(`gateway-1:c${index}`)?.items).toMatchObject([
      { index: 0, request: { n: index }, response: { price: 5 } },
    ]);
  }
  expect(byId.get('gateway-1:many')?.items).toHaveLength(1_000);
  expect(JSON.stringify(byId.get('gateway-1:large')?.items[0]?.request)).toHaveLength(large.length);
  expect(byId.get('gateway-1:large')?.items[0]?.abbreviated).toBeUndefined();
  expect(byId.get('gateway-1:too large')?.items).toMatchObject([
    { request: null, response: { price: 5 }, status: 200, abbreviated: true },
  ]);
}, 180_000);

it('logs what the rule lets be logged: masks and omissions are made before the topic', async () => {
  const marker = 'DE02-0001';
  const masked = await makeVersion('masked', { logging: { mask: ['request.iban', 'response.iban'] } });
  const hidden = await makeVersion('hidden', { logging: { request: 'none', response: ['tier'] } });
  const solve = (id: string, versionId: string, iban: string, of = workspaceId) => {
    const outcome = { ok: true as const, output: { tier: 'gold', iban }, matched: [] };
    const one = solvedInput(JSON.stringify({ iban, weight: 12 }), outcome, 1);
    writer.write({ ...envelope(id), versionId, workspaceId: of }, [one]);
  };
  const before = await settled('stored');
  for (const [id, iban] of [
    ['m1', marker],
    ['m2', marker],
    ['m3', 'another'],
  ] as const)
    solve(id, masked, iban);
  solve('h1', hidden, marker);
  solve('gone', randomUUID(), marker);
  await waitUntil(async () => (await settled('stored')) === before + 5);
  const records = await stored('m1', 'm2', 'm3', 'h1', 'gone');
  const itemOf = (id: string) => records.find((record) => record.id === `gateway-1:${id}`)?.items[0];
  expect(itemOf('m1')).toMatchObject({
    request: { iban: expect.stringMatching(/^hmac:[0-9a-f]{32}$/) as unknown, weight: 12 },
    response: { tier: 'gold', iban: expect.stringMatching(/^hmac:/) as unknown },
  });
  expect(itemOf('m1')?.request).toEqual(itemOf('m2')?.request);
  expect(itemOf('m1')?.request).not.toEqual(itemOf('m3')?.request);
  expect(itemOf('h1')).toMatchObject({ request: {}, response: { tier: 'gold' }, abbreviated: true });
  expect(itemOf('gone')).toMatchObject({ request: {}, response: {}, status: 200 });
  const text = JSON.stringify(records.filter(({ id }) => /:(m\d|h1|gone)$/.test(id)));
  expect(text).not.toContain(marker);
  expect(lines.join('')).not.toContain(marker);
  expect((await metrics.render()).text).not.toContain(marker);
});

it('answers a decision that must be on record once it is, and none if nothing is logged', async () => {
  const versionId = await makeVersion('on-record', { logging: { delivery: 'required' } });
  const before = await settled('stored');
  await putOnRecord(writer, { ...envelope('on record'), versionId }, [input('{"n":1}')]);
  expect(await settled('stored')).toBe(before + 1);
  expect((await metrics.render()).text).toMatch(/decision_logs_wait_seconds_count\{[^}]*outcome="recorded"[^}]*\} 1\n/);
  expect(putOnRecord(writer, envelope('not required'), [input('{"n":1}')])).toBeUndefined();
  await waitUntil(async () => (await settled('stored')) === before + 2);

  const logger = createLogger({ service: 'test', level: 'silent' });
  const silent = openDecisions(broker, database, {
    config: { ...config, decisionLogs: false },
    ...{ logger, metrics: createMetrics('test'), stopper },
  });
  const refused = putOnRecord(silent, { ...envelope('refused'), versionId }, [input('{"n":1}')]);
  await expect(refused).rejects.toMatchObject({ code: 'decision_not_recorded' });
  await putOnRecord(silent, envelope('not required'), [input('{"n":1}')]);
});

it('counts evaluations by outcome, recorded or not', async () => {
  const counted = async (outcome: string): Promise<number> => {
    const { text } = await metrics.render();
    const line = new RegExp(`decision_evaluations_total\\{asset="rule",outcome="${outcome}"[^}]*\\} (\\d+)`);
    return Number(line.exec(text)?.[1] ?? 0);
  };
  const before = { solved: await counted('solved'), failed: await counted('evaluation_failed') };
  const stored = await settled('stored');
  const failed = { ...input('{"n":1}'), error: new ServiceError('evaluation_failed', 'It divides by zero.') };
  writer.write(envelope('counted'), [input('{"n":1}'), failed, input('{"n":2}')]);
  await putOnRecord(writer, envelope('counted too'), [failed]);
  expect(await counted('solved')).toBe(before.solved + 2);
  expect(await counted('evaluation_failed')).toBe(before.failed + 2);
  await waitUntil(async () => (await settled('stored')) === stored + 4);
});

it('logs of a run within an operation what rule and context both let be logged', async () => {
  const marker = 'CTX-0001';
  const insert = (slug: string, logging: LoggingSettings | null) =>
    database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
      insertContext(transaction, {
        ...{
          id: randomUUID(),
          slug,
          name: slug,
          description: null,
          schema: { base: [{ key: 'id', type: 'string' }], derived: [] },
        },
        ...{
          identityFact: 'id',
          autoExecuteDecisions: true,
          ttlSeconds: null,
          historyLimit: 100,
          onSchemaMismatch: 'ignore',
        },
        ...{ sourceObjects: [], userGroups: [], folderId: null, logging },
      }),
    );
  await insert('guarded', { mask: ['request.iban'], response: ['tier'], delivery: 'required' });
  await insert('open-context', null);
  const shown = await makeVersion('shown-in-context', { logging: { request: ['iban', 'weight'] } });
  const before = await settled('stored');
  const run = (id: string, context: string) => {
    const outcome = { ok: true as const, output: { tier: 'gold', iban: marker }, matched: [] };
    const one = solvedInput(JSON.stringify({ iban: marker, weight: 12, note: marker }), outcome, 1);
    const origin = { keyId: 'k', slug: 's', selector: 'latest', firstIndex: 0, context };
    return putOnRecord(writer, { ...envelope(id), versionId: shown, origin }, [one]);
  };
  await run('guarded', 'guarded');
  expect(await settled('stored')).toBe(before + 1);
  await run('open', 'open-context');
  await run('no-context', 'not-there');
  await waitUntil(async () => (await settled('stored')) === before + 3);
  const found = await stored('guarded', 'open', 'no-context');
  const itemOf = (id: string) => found.find((record) => record.id === `gateway-1:${id}`)?.items[0];
  expect(itemOf('guarded')).toMatchObject({ response: { tier: 'gold' }, abbreviated: true });
  expect(itemOf('guarded')?.request).toEqual({ iban: expect.stringMatching(/^hmac:/) as unknown, weight: 12 });
  expect(JSON.stringify(itemOf('guarded'))).not.toContain(marker);
  expect(itemOf('open')?.request).toEqual({ iban: marker, weight: 12 });
  expect(itemOf('no-context')).toMatchObject({ request: {}, response: {} });
});

it('keys masks by workspace', () => {
  const masks = createMasks('a key of the operator');
  expect(masks('one')?.('"a"')).not.toBe(masks('other')?.('"a"'));
  expect(createMasks(undefined)('one')).toBeUndefined();
});

it('shows no part of a decision while the database does not say what may be shown', async () => {
  const errors: unknown[] = [];
  const away = { inWorkspace: () => Promise.reject(new ServiceError('database_unavailable', 'It is away.')) };
  const policyOf = createLoggingPolicies({ database: away, onUnknown: (error) => errors.push(error) });
  expect(await policyOf({ workspaceId, versionId: openVersion, context: undefined })).toEqual(NOTHING_SHOWN);
  expect(await policyOf({ workspaceId, versionId: openVersion, context: undefined })).toEqual(NOTHING_SHOWN);
  expect(errors).toHaveLength(2);
  const silent = { inWorkspace: () => new Promise<never>(() => undefined) };
  const impatient = createLoggingPolicies({ database: silent, lookupMs: 10, onUnknown: (error) => errors.push(error) });
  expect(await impatient({ workspaceId, versionId: openVersion, context: undefined })).toEqual(NOTHING_SHOWN);
  expect(errors[2]).toMatchObject({ code: 'database_unavailable' });
  errors.length = 0;
  const there = createLoggingPolicies({ database, onUnknown: (error) => errors.push(error) });
  expect(await there({ workspaceId, versionId: openVersion, context: undefined })).toBeUndefined();
  expect(there({ workspaceId, versionId: openVersion, context: undefined })).toBeUndefined();
});
