import { CompressionTypes } from 'kafkajs';
import { uncompressSync } from 'snappy';
import { quickenProduce } from './quick-produce';

interface Requests {
  protocol(how: { version: number }): (request: object) => { request: { encode(): Promise<{ buffer: Buffer }> } };
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
const requests = require('kafkajs/src/protocol/requests/produce') as Requests;

const request = (more: object = {}, message: object = {}): object => ({
  acks: -1,
  timeout: 30_000,
  producerId: '7',
  producerEpoch: 1,
  compression: CompressionTypes.Snappy,
  topicData: [
    {
      topic: 't',
      partitions: [
        { partition: 3, firstSequence: 5, messages: [{ value: 'quick quick quick', headers: {}, ...message }] },
      ],
    },
  ],
  ...more,
});

const HEAD_OF_REQUEST = 2 + 2 + 4 + 4 + 3 + 4 + 4 + 4;
const HEAD_OF_BATCH = 61;

it('leaves another version of the library alone', () => {
  expect(quickenProduce('2.3.0')).toBe(false);
});

it('writes Snappy records that read as they should, whatever the version of the request', async () => {
  expect([quickenProduce(), quickenProduce()]).toEqual([true, true]);
  for (const version of [3, 5, 7]) {
    const { buffer } = await requests.protocol({ version })(request()).request.encode();
    const records = uncompressSync(buffer.subarray(HEAD_OF_REQUEST + HEAD_OF_BATCH), { asBuffer: true });
    expect(records.toString('latin1')).toBe('\x2e\0\0\0\x01\x22quick quick quick\0');
  }
});

it.each([
  ['gzip', request({ compression: CompressionTypes.GZIP })],
  ['a timestamp', request({ compression: CompressionTypes.None }, { timestamp: '1763000000000' })],
])('leaves %s to the library, which can', async (_name, one) => {
  quickenProduce();
  const { buffer } = await requests.protocol({ version: 7 })(one).request.encode();
  expect(buffer.length).toBeGreaterThan(HEAD_OF_REQUEST + HEAD_OF_BATCH);
});
