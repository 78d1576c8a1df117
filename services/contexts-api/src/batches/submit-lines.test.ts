import { UnreadableRecord } from '@decision/contexts';
import { chunkLines, type LineChunk, readLine } from './submit-lines';

const LIMITS = { chunkItems: 3, chunkBytes: 100, lineMaxBytes: 50 };

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  await Promise.resolve();
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

const chunksOf = async (text: string | Buffer, size = 7, limits = LIMITS): Promise<LineChunk[]> => {
  const chunks: LineChunk[] = [];
  for await (const chunk of chunkLines(inPieces(Buffer.from(text), size), limits)) chunks.push(chunk);
  return chunks;
};
const textsOf = (chunks: readonly LineChunk[]) => chunks.map(({ lines }) => lines.map(String));

it.each([1, 2, 3, 7, 1_000])('cuts the same lines from pieces of %i bytes', async (size) => {
  const chunks = await chunksOf('{"a":1}\n\n  \r\n{"ü":"€"}\r\n3\n4\n5', size);
  expect(textsOf(chunks)).toEqual([
    ['{"a":1}', '{"ü":"€"}\r', '3'],
    ['4', '5'],
  ]);
  expect(chunks.map(({ firstPosition }) => firstPosition)).toEqual([0, 3]);
});

it.each(['', '\n', ' \r\n\t\n'])('finds nothing in %j', async (text) => {
  expect(await chunksOf(text)).toEqual([]);
});

it('ends a chunk that holds enough bytes', async () => {
  const line = 'x'.repeat(50);
  expect(textsOf(await chunksOf(`${line}\n${line}\n1\n`))).toEqual([[line, line], ['1']]);
});

it.each(['\n', ''])('refuses a line above the limit, by its position, ended by %j', async (end) => {
  await expect(chunksOf(`1\n2\n3\n4\n${'x'.repeat(51)}${end}`)).rejects.toMatchObject({
    code: 'payload_too_large',
    details: { index: 4, limit_bytes: 50 },
  });
});

it('does not look at a half line of a body that breaks off', async () => {
  const seen: LineChunk[] = [];
  async function* broken(): AsyncGenerator<Buffer> {
    yield* inPieces(Buffer.from('1\n2\n3\n4'), 4);
    throw new Error('broken off');
  }
  const read = async () => {
    for await (const chunk of chunkLines(broken(), LIMITS)) seen.push(chunk);
  };
  await expect(read()).rejects.toThrow('broken off');
  expect(textsOf(seen)).toEqual([['1', '2', '3']]);
});

it.each<[string, Buffer, string]>([
  ['half a record', Buffer.from('{"order_id":"a"'), 'The line is not JSON'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'The line is not UTF-8'],
  ['two records', Buffer.from('{} {}'), 'The line is not JSON'],
  ['a number out of range', Buffer.from('{"total":1e400}'), 'cannot be held exactly'],
  ['too many levels', Buffer.from('['.repeat(1_500) + ']'.repeat(1_500)), 'nests deeper'],
])('says why %s is no record', (_, line, sentence) => {
  const record = readLine(line);
  expect(record).toBeInstanceOf(UnreadableRecord);
  expect(record).toMatchObject({ error: expect.stringContaining(sentence) as unknown });
});

it('reads a record behind a byte order mark', () => {
  expect(readLine(Buffer.from('\uFEFF{"a":1}\r'))).toEqual({ a: 1 });
});
