import fc from 'fast-check';
import { encodeProduceRequest, isEncodable, type ProduceRequest } from './produce-request';

interface LibraryEncoder {
  encode(): Promise<{ readonly buffer: Buffer }>;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- the library's own encoder, which has no types
const libraryRequest = require('kafkajs/src/protocol/requests/produce/v7/request') as (
  request: ProduceRequest,
) => LibraryEncoder;

const NOW = 1_763_000_000_123;
const uncompressed = (): Buffer => Buffer.alloc(0);

beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 300 }));
const message = fc.record({
  key: fc.option(fc.oneof(bytes, text)),
  value: fc.option(fc.oneof(bytes, text)),
  headers: fc.dictionary(text, fc.oneof(bytes, text), { maxKeys: 6 }),
});
const partition = fc.record({
  partition: fc.nat(10_000),
  firstSequence: fc.nat(0x7fff_ffff),
  messages: fc.array(message, { minLength: 1, maxLength: 70 }),
});
const request: fc.Arbitrary<ProduceRequest> = fc.record({
  acks: fc.constantFrom(-1, 1),
  timeout: fc.nat(60_000),
  producerId: fc.bigInt({ min: -1n, max: 2n ** 62n }).map(String),
  producerEpoch: fc.nat(0x7fff),
  topicData: fc.array(
    fc.record({ topic: fc.string({ minLength: 1, maxLength: 20 }), partitions: fc.array(partition, { maxLength: 4 }) }),
    { maxLength: 3 },
  ),
});

it('writes, byte for byte, what the library would', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      const expected = await libraryRequest(one).encode();
      expect(isEncodable(one)).toBe(true);
      expect((await encodeProduceRequest(one, NOW, uncompressed)).equals(expected.buffer)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

const of = (messages: readonly object[], more: object = {}): ProduceRequest =>
  // Shapes that the type forbids and the library's callers may send.
  ({
    acks: -1,
    timeout: 1,
    topicData: [{ topic: 't', partitions: [{ partition: 0, firstSequence: 0, messages }] }],
    ...more,
  }) as unknown as ProduceRequest;

it.each([
  ['a timestamp', of([{ value: 'x', timestamp: '1763000000000' }])],
  ['a header that repeats', of([{ value: 'x', headers: { a: ['1', '2'] } }])],
  ['a header without a value', of([{ value: 'x', headers: { a: undefined } }])],
  ['a value that is no bytes', of([{ value: { text: 'x' } }])],
  ['a key that is no bytes', of([{ key: 7, value: 'x' }])],
  ['a transaction', of([{ value: 'x' }], { transactionalId: 'mine' })],
])('leaves %s to the library', (_name, one) => {
  expect(isEncodable(one)).toBe(false);
});
