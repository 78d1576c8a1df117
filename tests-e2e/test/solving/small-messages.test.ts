import { randomBytes } from 'node:crypto';
import { testStack, waitUntil } from '@decision/local-stack';
import {
  type Call,
  type FleetUnderTest,
  prepareTopics,
  runProgram,
  SOLVING,
  startFleetUnderTest,
} from '../fleet/fleet-under-test';

/*
 * Brokers that accept at most a megabyte per message, as some managed ones do: the sizes of inputs, chunks, messages and records are configured
 * together.
 */

const SECONDS = 1_000;
const MIB = 1_048_576;
const SIZES = {
  EXECUTION_MESSAGE_BYTES: String(MIB),
  CHUNK_BYTES: '65536',
  ITEM_MAX_BYTES: '900000',
  LOG_MESSAGE_BYTES: String(MIB),
  LOG_RECORD_MAX_BYTES: '960000',
};
const PARTITIONS = {
  ...{ TOPIC_SOLUTION_PARTITIONS: '4', TOPIC_SOLUTION_RESPONSE_PARTITIONS: '4', TOPIC_LOGS_PARTITIONS: '2' },
};
let fleet: FleetUnderTest;
let call: Call;

beforeAll(async () => {
  fleet = await startFleetUnderTest({
    ...{
      services: [...SOLVING, 'contexts-api', 'log-collector'],
      examples: ['shipping-price'],
      topics: { ...SIZES, ...PARTITIONS },
    },
    common: { ...SIZES, MAX_WORKERS: '4' },
  });
  ({ call } = fleet);
}, 180 * SECONDS);
afterAll(() => fleet?.stop(), 60 * SECONDS);

/** An incompressible input. */
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
  await waitUntil(async () => {
    ({ body } = await call('GET', '/api/v1/decisions/query?rules=shipping-price&limit=2'));
    const { data } = body as { readonly data: readonly { readonly request: unknown }[] }; // our own answer
    return data.length === 2 && data.every(({ request }) => JSON.stringify(request).includes(large.note));
  }, 'both are on record');
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
  const { code, text } = await prepareTopics(testStack().mqBrokers, fleet.topicPrefix, PARTITIONS);
  expect(code).toBe(1);
  expect(text).toContain('takes messages up to 1048576 bytes, 33554432 are needed');
  expect(text).toContain('takes messages up to 1048576 bytes, 67108864 are needed');
}, 60_000);

it('sizes that do not fit each other are refused at the start, each with the other that it must fit', async () => {
  const { code, text } = await runProgram('services/hps-gateway/dist/main.js', {
    ...{ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' },
    ...{ EXECUTION_MESSAGE_BYTES: String(MIB), LOG_MESSAGE_BYTES: String(MIB) },
  });
  expect(code).toBe(78);
  expect(text).toMatch(/- ITEM_MAX_BYTES is above 917504, which EXECUTION_MESSAGE_BYTES of 1048576 leaves it/);
  expect(text).toMatch(/- CHUNK_BYTES is above 65536, which EXECUTION_MESSAGE_BYTES of 1048576 leaves it/);
  expect(text).toMatch(/- LOG_RECORD_MAX_BYTES is above 1048576, which LOG_MESSAGE_BYTES of 1048576 leaves it/);
}, 30_000);
