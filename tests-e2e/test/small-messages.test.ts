import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Fleet, prepareServers, startFleet } from '@decision/launcher';
import { testStack } from '@decision/local-stack';
import { createDatabase, dropDatabase } from '@decision/persistence';
import { becomes } from './becomes';
import { type Call, callWith, publishExample, repositoryRoot } from './fleet-under-test';

/* Brokers that take no more than a megabyte a message, as some that are rented do: the sizes of inputs, chunks, messages and records are set together. */

const SECONDS = 1_000;
const MIB = 1_048_576;
const SIZES = {
  EXECUTION_MESSAGE_BYTES: String(MIB),
  CHUNK_BYTES: '65536',
  ITEM_MAX_BYTES: '900000',
  LOG_MESSAGE_BYTES: String(MIB),
  LOG_RECORD_MAX_BYTES: '960000',
};
const run = promisify(execFile);
const node = (file: string, env: Readonly<Record<string, string>>) =>
  run(process.execPath, [join(repositoryRoot, file)], { env: { PATH: process.env['PATH'], ...env } }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, text: stdout + stderr }),
  );

const { databaseUrl: serverUrl, cacheUrl, mqBrokers, uniqueName } = testStack();
const name = uniqueName('small');
const names = { topicPrefix: `${name}.`, cachePrefix: `${name}:` };
let fleet: Fleet;
let call: Call;

const prepare = (env: Readonly<Record<string, string>>) =>
  node('packages/infrastructure/dist/cli/prepare-topics.js', {
    ...{ MQ_BROKERS: mqBrokers, MQ_TOPIC_PREFIX: names.topicPrefix, ...env },
    ...{ TOPIC_SOLUTION_PARTITIONS: '4', TOPIC_SOLUTION_RESPONSE_PARTITIONS: '4', TOPIC_LOGS_PARTITIONS: '2' },
  });

beforeAll(async () => {
  expect(await prepare(SIZES)).toMatchObject({ code: 0, text: expect.stringContaining('The topics fit.') as string });
  const addresses = { cacheUrl, mqBrokers, databaseUrl: await createDatabase(serverUrl, name) };
  const prepared = await prepareServers({
    ...{ addresses, names, knownApiKey: undefined, serviceLogin: `${name}_services`, onProgress: () => undefined },
  });
  const lines: string[] = [];
  fleet = await startFleet({
    ...{ root: repositoryRoot, addresses: { ...addresses, databaseUrl: prepared.databaseUrl }, names, ingressPort: 0 },
    common: { ...SIZES, MAX_WORKERS: '4' },
    onLine: (service, line) => lines.push(`[${service}] ${line}`),
    onNotice: (sentence) => lines.push(sentence),
  });
  await fleet.ready(120 * SECONDS).catch((error: unknown) => {
    throw new Error(`The fleet did not start:\n${lines.slice(-40).join('\n')}`, { cause: error });
  });
  call = callWith({ baseUrl: fleet.baseUrl, apiKey: prepared.apiKey });
  await publishExample(call, 'shipping-price');
}, 180 * SECONDS);
afterAll(async () => {
  await fleet?.stop();
  await dropDatabase(serverUrl, name);
}, 60 * SECONDS);

/** An input whose bytes no compression makes fewer. */
const parcel = (bytes: number) => ({
  ...{ destination: { country: 'DE' }, weight: 2.4, express: false },
  note: randomBytes(bytes / 2).toString('hex'),
});

it('lists of any length are solved in messages that the brokers take', async () => {
  const answer = await call(
    'POST',
    '/api/v1/bulk-solve/shipping-price',
    Array.from({ length: 400 }, () => parcel(10_000)),
  );
  expect(answer).toMatchObject({ status: 200 });
  expect(answer.body).toHaveLength(400);
}, 60_000);

it('an input of nearly the largest size is solved and put on record whole, and a larger one is refused', async () => {
  const large = parcel(860_000);
  expect(await call('POST', '/api/v1/solve/shipping-price', large)).toMatchObject({ status: 200 });
  expect(await call('POST', '/api/v1/bulk-solve/shipping-price', [large])).toMatchObject({ status: 200 });
  let body: unknown;
  await becomes('both are on record', async () => {
    ({ body } = await call('GET', '/api/v1/decisions/query?rules=shipping-price&limit=2'));
    const { data } = body as { readonly data: readonly { readonly request: unknown }[] }; // our own answer
    return data.length === 2 && data.every(({ request }) => JSON.stringify(request).includes(large.note));
  });
  expect(await call('POST', '/api/v1/bulk-solve/shipping-price', [parcel(100), parcel(900_000)])).toMatchObject({
    status: 413,
    body: { limit_bytes: 900_000 },
  });
}, 60_000);

it('a batch of contexts is settled in messages of that size', async () => {
  const context = {
    name: 'notes',
    identity_fact: 'id',
    schema: {
      base: [
        { key: 'id', type: 'string' },
        { key: 'note', type: 'string' },
      ],
    },
  };
  expect(await call('POST', '/api/v1/admin/contexts', context)).toMatchObject({ status: 200 });
  const instances = Array.from({ length: 60 }, (_, index) => ({ id: `n-${index}`, note: parcel(30_000).note }));
  const answer = await call('POST', '/api/v1/contexts/batch/notes', instances);
  expect(answer).toMatchObject({ status: 200, body: { accepted: 60, rejected: 0 } });
}, 60_000);

it('topics that take less than the settings say are named, with what to change', async () => {
  const { code, text } = await prepare({});
  expect(code).toBe(1);
  expect(text).toContain('takes messages up to 1048576 bytes, 33554432 are needed');
  expect(text).toContain('takes messages up to 1048576 bytes, 67108864 are needed');
}, 60_000);

it('sizes that do not fit each other are refused at the start, each with the other that it must fit', async () => {
  const { code, text } = await node('services/hps-gateway/dist/main.js', {
    ...{ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' },
    ...{ EXECUTION_MESSAGE_BYTES: String(MIB), LOG_MESSAGE_BYTES: String(MIB) },
  });
  expect(code).toBe(78);
  expect(text).toMatch(/- ITEM_MAX_BYTES is above 917504, which EXECUTION_MESSAGE_BYTES of 1048576 leaves it/);
  expect(text).toMatch(/- CHUNK_BYTES is above 65536, which EXECUTION_MESSAGE_BYTES of 1048576 leaves it/);
  expect(text).toMatch(/- LOG_RECORD_MAX_BYTES is above 1048576, which LOG_MESSAGE_BYTES of 1048576 leaves it/);
}, 30_000);
