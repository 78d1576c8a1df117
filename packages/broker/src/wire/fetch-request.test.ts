import fc from 'fast-check';
import { encodeFetchRequest, type FetchRequest, isPlainFetch } from './fetch-request';

// eslint-disable-next-line @typescript-eslint/no-require-imports -- the library's own encoder, which has no types
const libraryRequest = require('kafkajs/src/protocol/requests/fetch/v11/request') as (request: FetchRequest) => {
  encode(): Promise<{ readonly buffer: Buffer }>;
};

const int32 = fc.integer({ min: -1, max: 0x7fff_ffff });
const int64 = fc.bigInt({ min: -2n, max: 2n ** 63n - 1n }).map(String);
const partition = fc.record(
  { partition: int32, currentLeaderEpoch: int32, fetchOffset: int64, logStartOffset: int64, maxBytes: int32 },
  { requiredKeys: ['partition', 'fetchOffset', 'maxBytes'] },
);
const request: fc.Arbitrary<FetchRequest> = fc.record(
  {
    replicaId: int32,
    maxWaitTime: int32,
    minBytes: int32,
    maxBytes: int32,
    isolationLevel: fc.constantFrom(0, 1),
    sessionId: int32,
    sessionEpoch: int32,
    topics: fc.array(fc.record({ topic: fc.string({ unit: 'binary' }), partitions: fc.array(partition) }), {
      maxLength: 3,
    }),
    rackId: fc.string(),
  },
  { requiredKeys: ['replicaId', 'maxWaitTime', 'minBytes', 'maxBytes', 'topics'] },
);

it('writes, byte for byte, what the library would', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      const expected = await libraryRequest(one).encode();
      expect(encodeFetchRequest(one).equals(expected.buffer)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

it('leaves requests that forget topics to the library', () => {
  const plain = { maxWaitTime: 1, minBytes: 1, maxBytes: 1, topics: [] };
  expect(isPlainFetch(plain)).toBe(true);
  expect(isPlainFetch({ ...plain, forgottenTopics: [] })).toBe(true);
  expect(isPlainFetch({ ...plain, forgottenTopics: [{ topic: 't', partitions: [1] }] })).toBe(false);
});
