import { quickenFetch } from './quick-fetch';

interface Requests {
  protocol(how: { version: number }): (request: object) => {
    request: { apiName: string; encode(): Promise<{ buffer: Buffer }> };
    response: { decode(bytes: Buffer): Promise<unknown>; parse(data: unknown): Promise<unknown> };
  };
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
const requests = require('kafkajs/src/protocol/requests/fetch') as Requests;

const request = {
  maxWaitTime: 1,
  minBytes: 1,
  maxBytes: 1,
  topics: [{ topic: 't', partitions: [{ partition: 0, fetchOffset: '3', maxBytes: 9 }] }],
};

/** Head of an answer with one topic "t". */
const HEAD = '00000000' + '0000' + '00000000' + '00000001' + '0001' + '74';
/** A partition by number, error code and message bytes, in hexadecimal. */
const partition = (number: number, errorCode: number, messages: string): string =>
  [
    number.toString(16).padStart(8, '0'),
    errorCode.toString(16).padStart(4, '0'),
    '0'.repeat(48),
    'ffffffff',
    'ffffffff',
    (messages.length / 2).toString(16).padStart(8, '0'),
    messages,
  ].join('');
const answer = (...partitions: readonly string[]): Buffer =>
  Buffer.from(HEAD + partitions.length.toString(16).padStart(8, '0') + partitions.join(''), 'hex');

it('leaves another version of the library alone', () => {
  expect(quickenFetch('2.3.0')).toBe(false);
});

it('writes fetches and leaves out empty partitions, once', async () => {
  const library = requests.protocol({ version: 10 })(request).response;
  expect([quickenFetch(), quickenFetch()]).toEqual([true, true]);
  const { request: made, response } = requests.protocol({ version: 11 })(request);
  expect(made.apiName).toBe('Fetch');
  expect((await made.encode()).buffer.length).toBe(4 * 4 + 1 + 4 * 4 + 3 + 4 + 28 + 2);
  const decoded = await response.decode(answer(partition(0, 0, ''), partition(1, 0, '')));
  expect(decoded).toMatchObject({ responses: [{ topicName: 't', partitions: [] }] });
  expect(requests.protocol({ version: 10 })(request).response).toBe(library);
});

it('shows errors of partitions to the library, which throws them', async () => {
  quickenFetch();
  const { response } = requests.protocol({ version: 11 })(request);
  const decoded = await response.decode(answer(partition(0, 0, ''), partition(5, 1, '')));
  await expect(response.parse(decoded)).rejects.toMatchObject({ type: 'OFFSET_OUT_OF_RANGE', partition: 5 });
});

it('leaves records of older formats to the library', async () => {
  quickenFetch();
  const { response } = requests.protocol({ version: 11 })(request);
  // Offset, size, checksum, format 1, attributes, time, a key of no bytes and a value of twenty.
  const head =
    '0000000000000007' + '0000002a' + '00000000' + '01' + '00' + '0000000000000001' + '00000000' + '00000014';
  const decoded = await response.decode(answer(partition(0, 0, head + '76'.repeat(20))));
  expect(decoded).toMatchObject({ responses: [{ partitions: [{ messages: [{ offset: '7' }] }] }] });
});
