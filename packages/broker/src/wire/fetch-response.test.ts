import fc from 'fast-check';
import { CompressionCodecs, CompressionTypes } from 'kafkajs';
import { snappyCodec } from '../codec/snappy-codec';
import { decodeFetchResponse, type Decompress, type FetchedPartition, type FetchResponse } from './fetch-response';
import { unreadableReason } from './fetched-records';

interface Encoder {
  readonly buffer: Buffer;
}
interface BatchOptions {
  readonly compression: number;
  readonly firstOffset: string;
  readonly firstTimestamp: number;
  readonly maxTimestamp: number;
  readonly partitionLeaderEpoch: number;
  readonly lastOffsetDelta: number;
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  readonly transactional: boolean;
  readonly records: readonly Encoder[];
}

/* eslint-disable @typescript-eslint/no-require-imports -- the library's own encoders and decoder, which have no types */
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch: (options: BatchOptions) => Promise<Encoder>;
};
const libraryRecord = require('kafkajs/src/protocol/recordBatch/record/v0') as (record: object) => Encoder;
const library = require('kafkajs/src/protocol/requests/fetch/v11/response') as {
  decode(bytes: Buffer): Promise<FetchResponse>;
};
/* eslint-enable @typescript-eslint/no-require-imports */

beforeAll(() => {
  CompressionCodecs[CompressionTypes.Snappy] = () => snappyCodec;
});

const decompress: Decompress = (compression) => {
  if (compression === 0) return (bytes) => bytes;
  return compression === 2 ? snappyCodec.decompress : undefined;
};

const numbers = (...parts: readonly (readonly [8 | 16 | 32 | 64, number | bigint])[]): Buffer =>
  Buffer.concat(
    parts.map(([bits, value]) => {
      const bytes = Buffer.alloc(bits / 8);
      if (bits === 64) bytes.writeBigInt64BE(BigInt(value));
      else bytes.writeIntBE(Number(value), 0, bits / 8);
      return bytes;
    }),
  );

const HEAD_BYTES = 61;

interface Partition {
  readonly partition: number;
  readonly errorCode: number;
  readonly offsets: readonly [number, number, number];
  readonly aborted: readonly (readonly [number, number])[];
  readonly replica: number;
  /** Undefined: no length, as brokers write for partitions they cannot read. */
  readonly batches: readonly Buffer[] | undefined;
  /** Bytes that are cut off at the end. */
  readonly cut: number;
}

const partitionBytes = ({ partition, errorCode, offsets, aborted, replica, batches, cut }: Partition): Buffer => {
  const all = Buffer.concat(batches ?? []);
  // A broker sends the first batch whole, or at least its head.
  const messages = all.length - cut < HEAD_BYTES ? Buffer.alloc(0) : all.subarray(0, all.length - cut);
  return Buffer.concat([
    numbers([32, partition], [16, errorCode], ...offsets.map((offset) => [64, offset] as const)),
    numbers([32, aborted.length === 0 ? -1 : aborted.length]),
    ...aborted.map(([producer, offset]) => numbers([64, producer], [64, offset])),
    numbers([32, replica], [32, batches === undefined ? -1 : messages.length]),
    messages,
  ]);
};

const responseBytes = (topics: readonly { name: string; partitions: readonly Partition[] }[]): Buffer =>
  Buffer.concat([
    numbers([32, 5], [16, 0], [32, 77], [32, topics.length]),
    ...topics.flatMap(({ name, partitions }) => [
      numbers([16, Buffer.byteLength(name)]),
      Buffer.from(name),
      numbers([32, partitions.length]),
      ...partitions.map(partitionBytes),
    ]),
  ]);

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const name = fc.oneof(fc.constantFrom('correlation-id', 'toString', 'constructor'), fc.string({ maxLength: 12 }));
const headers = fc.dictionary(
  name.filter((text) => text !== '__proto__'),
  fc.oneof(bytes, fc.array(bytes, { minLength: 2, maxLength: 3 })),
  { maxKeys: 5, noNullPrototype: true },
);
const record = fc.record({
  offsetDelta: fc.nat(1_000),
  timestampDelta: fc.nat(100_000),
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers,
});
const options = fc.record({
  compression: fc.constantFrom(0, 2),
  firstOffset: fc.nat(Number.MAX_SAFE_INTEGER - 2_000),
  firstTimestamp: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  partitionLeaderEpoch: fc.nat(100),
  producerId: fc.integer({ min: -1, max: 1_000_000 }).map(String),
  producerEpoch: fc.integer({ min: -1, max: 0x7fff }),
  firstSequence: fc.integer({ min: -1, max: 0x7fff_ffff }),
  transactional: fc.boolean(),
  records: fc.array(record, { maxLength: 6 }),
});
type Options = typeof options extends fc.Arbitrary<infer Value> ? Value : never;

const batchBytes = async ({ records, firstOffset, firstTimestamp, ...rest }: Options): Promise<Buffer> => {
  const encoded = records.map((one) => libraryRecord(one));
  const times = { firstTimestamp, maxTimestamp: firstTimestamp + 100_000 };
  const lastOffsetDelta = Math.max(0, ...records.map(({ offsetDelta }) => offsetDelta));
  const batch = { ...rest, ...times, firstOffset: String(firstOffset), lastOffsetDelta, records: encoded };
  return (await RecordBatch(batch)).buffer;
};

const partition = fc.record({
  partition: fc.nat(200),
  errorCode: fc.constantFrom(0, 0, 0, 3),
  offsets: fc.tuple(fc.integer({ min: -1 }), fc.integer({ min: -1 }), fc.integer({ min: -1 })),
  aborted: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 2 }),
  replica: fc.constantFrom(-1, -1, 2),
  batches: fc.option(fc.array(options, { maxLength: 3 }), { nil: undefined }),
  cut: fc.constantFrom(0, 0, 1, 30, 70),
});
const topics = fc.array(fc.record({ name: fc.string({ maxLength: 9 }), partitions: fc.array(partition, { maxLength: 4 }) }), { maxLength: 2 }); // prettier-ignore

const hasNews = ({ errorCode, preferredReadReplica, messages }: FetchedPartition): boolean =>
  errorCode !== 0 || preferredReadReplica !== -1 || messages.length > 0;

/** The partition as the library reads it, with headers as text, and without what its headers inherit from objects ("constructor"). */
const withTexts = (partition: FetchedPartition): object => ({
  ...partition,
  messages: partition.messages.map((message) => ({
    ...message,
    headers: Object.fromEntries(Object.entries(message.headers).map(([key, value]) => [key, asText(value)])),
  })),
});

const asText = (header: unknown): unknown => {
  if (!Array.isArray(header)) return String(header);
  const own = header.filter((one) => typeof one !== 'function').map(String);
  return own.length === 1 ? own[0] : own;
};

it('reads what the library reads, with headers as text, without partitions that have nothing to say', async () => {
  await fc.assert(
    fc.asyncProperty(topics, async (made) => {
      const written = await Promise.all(
        made.map(async ({ name: topic, partitions }) => ({
          name: topic,
          partitions: await Promise.all(
            partitions.map(async ({ batches, ...rest }) => ({
              ...rest,
              batches: batches && (await Promise.all(batches.map(batchBytes))),
            })),
          ),
        })),
      );
      const raw = responseBytes(written);
      const expected = await library.decode(raw);
      expect(await decodeFetchResponse(raw, decompress)).toEqual({
        ...expected,
        responses: expected.responses.map(({ topicName, partitions }) => ({
          topicName,
          partitions: partitions.filter(hasNews).map(withTexts),
        })),
      });
    }),
    { numRuns: 300 },
  );
});

const one = (more: Partial<Partition>): Buffer => {
  const plain = {
    partition: 0,
    errorCode: 0,
    offsets: [9, 9, 0],
    aborted: [],
    replica: -1,
    batches: [],
    cut: 0,
  } as const;
  return responseBytes([{ name: 't', partitions: [{ ...plain, ...more }] }]);
};

const plainBatch = (more: Partial<Options> = {}): Promise<Buffer> =>
  batchBytes({
    compression: 0,
    firstOffset: 7,
    firstTimestamp: 1,
    partitionLeaderEpoch: 0,
    producerId: '1',
    producerEpoch: 0,
    firstSequence: 0,
    transactional: false,
    records: [{ offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from('v'), headers: {} }],
    ...more,
  });

it.each<[string, (batch: Buffer) => void]>([
  ['an older format', (batch) => batch.writeInt8(1, 16)],
  ['another compression', (batch) => batch.writeInt16BE(1, 21)],
  ['offsets that numbers cannot hold', (batch) => batch.writeBigInt64BE(2n ** 60n, 0)],
])('leaves %s to the library', async (_name, change) => {
  const batch = await plainBatch();
  change(batch);
  expect(await decodeFetchResponse(one({ batches: [batch] }), decompress)).toBeUndefined();
});

it('takes no header for the prototype of the others', async () => {
  const headers = JSON.parse('{"__proto__": "x", "a": "1"}') as Record<string, Buffer<ArrayBuffer>>; // texts, which the library accepts too
  const record = { offsetDelta: 0, timestampDelta: 0, key: null, value: null, headers };
  const answer = await decodeFetchResponse(one({ batches: [await plainBatch({ records: [record] })] }), decompress);
  const [message] = answer?.responses[0]?.partitions[0]?.messages ?? [];
  expect(message?.headers).toEqual({ a: '1' });
});

it('throws for an answer that ends too early', async () => {
  const raw = one({ batches: [await plainBatch()] });
  for (let length = 0; length < raw.length; length += 7)
    await expect(decodeFetchResponse(raw.subarray(0, length), decompress)).rejects.toThrow(RangeError);
});

describe('a batch that cannot be read', () => {
  const messagesOf = async (raw: Buffer, how: Decompress): Promise<FetchedPartition['messages']> =>
    (await decodeFetchResponse(raw, how))?.responses[0]?.partitions[0]?.messages ?? [];
  const record = { offsetDelta: 4, timestampDelta: 0, key: null, value: Buffer.from('v'), headers: {} };

  it.each<[string, Decompress]>([
    ['refuses', () => () => { throw new Error('too many bytes'); }], // prettier-ignore
    ['refuses later', () => () => Promise.reject(new Error('too many bytes'))],
  ])('whose inflation %s is passed over: what lies behind it is read', async (_name, refusing) => {
    const bad = await plainBatch({ compression: 2, firstOffset: 7, records: [record] });
    const good = await plainBatch({ firstOffset: 12, records: [record] });
    const messages = await messagesOf(one({ batches: [bad, good] }), (compression) =>
      compression === 2 ? refusing(compression) : decompress(compression),
    );
    expect(messages).toMatchObject([
      { offset: '11', value: null, headers: {} },
      { offset: '16', value: Buffer.from('v') },
    ]);
    expect(messages.map(unreadableReason)).toEqual(['too many bytes', undefined]);
  });

  it('because its records end too early is passed over as well', async () => {
    const batch = await plainBatch({ compression: 2 });
    const messages = await messagesOf(one({ batches: [batch] }), () => () => Buffer.from([100]));
    expect(messages.map(unreadableReason)).toEqual(['The bytes end too early.']);
  });
});

it('leaves out what would inflate an answer beyond its bound, but never everything', async () => {
  const batch = await plainBatch({ compression: 2 });
  const plain = await decompress(2)?.(batch.subarray(HEAD_BYTES));
  // Nothing is read after the last record of a batch, so spare bytes simulate an inflation of 80 MiB.
  const large = Buffer.alloc(80 * 1024 * 1024);
  plain?.copy(large);
  const answer = await decodeFetchResponse(one({ batches: [batch, batch, batch] }), () => () => large);
  expect(answer?.responses[0]?.partitions[0]?.messages).toHaveLength(2);
});
