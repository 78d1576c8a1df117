import { KEYS_OF_A_CONTEXT, keyNumberOf } from '../operations/message-keys';
import { CHUNKS_AT_ONCE } from './carry-out-chunk';
import { chunksByKey } from './chunks-by-key';

const instancesOf = (count: number) => Array.from({ length: count }, (_, n) => ({ instanceId: `order-${n}`, n }));
const keysOf = (chunk: readonly { readonly instanceId: string }[]): Set<number> =>
  new Set(chunk.map(({ instanceId }) => keyNumberOf(instanceId)));

it.each([1, 499, 500, 501, 1_200, 1_700, 10_000])(
  'has every one of %i instances in one chunk, in as few chunks as there can be, and those of a key in their order',
  (count) => {
    const instances = instancesOf(count);
    const chunks = chunksByKey(instances, 500);
    expect(chunks).toHaveLength(Math.ceil(count / 500));
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(500);
    expect(chunks.flat().sort((a, b) => a.n - b.n)).toEqual(instances);
    const inOrder = chunks.every((chunk) =>
      [...keysOf(chunk)].every((key) => {
        const numbers = chunk.filter(({ instanceId }) => keyNumberOf(instanceId) === key).map(({ n }) => n);
        return numbers.every((n, index) => index === 0 || n > (numbers[index - 1] ?? n));
      }),
    );
    expect(inOrder).toBe(true);
  },
);

it('has none for no instances', () => {
  expect(chunksByKey([], 500)).toEqual([]);
});

it('sends 10,000 instances in a quarter of the messages, and keeps three quarters of the keys busy', () => {
  const chunks = chunksByKey(instancesOf(10_000), 500);
  const messages = chunks.reduce((sum, chunk) => sum + keysOf(chunk).size, 0);
  expect(messages).toBeLessThanOrEqual(20 * (KEYS_OF_A_CONTEXT / 4) + 3 * (KEYS_OF_A_CONTEXT / 4));
  const busy = chunks.slice(CHUNKS_AT_ONCE).map((_, from) => keysOf(chunks.slice(from, from + CHUNKS_AT_ONCE).flat()));
  expect(Math.min(...busy.map(({ size }) => size))).toBeGreaterThanOrEqual((KEYS_OF_A_CONTEXT * 3) / 4);
});
