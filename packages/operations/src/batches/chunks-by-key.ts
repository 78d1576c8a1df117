import { KEYS_OF_A_CONTEXT, keyNumberOf } from '../operations/message-keys';

/**
 * Groups of keys that the chunks of a batch alternate between. Chunks are settled three at once, so that three quarters of the keys of a
 * context have work at any time, and each chunk sends a quarter of the messages.
 */
const MOST_GROUPS = 4;

/**
 * The chunks of a batch: as few as their size allows, each with instances that share few message keys, and with other keys than the chunks
 * that follow it. Instances of a key stay in their order.
 */
export const chunksByKey = <T extends { readonly instanceId: string }>(
  instances: readonly T[],
  chunkSize: number,
): readonly (readonly T[])[] => {
  const count = Math.ceil(instances.length / chunkSize);
  const groups = Math.min(MOST_GROUPS, count);
  const byGroup = Array.from({ length: groups }, (): T[] => []);
  for (const instance of instances)
    byGroup[Math.floor((keyNumberOf(instance.instanceId) * groups) / KEYS_OF_A_CONTEXT)]?.push(instance);
  const sorted = byGroup.flat();
  const chunks = Array.from({ length: count }, (_, index) => sorted.slice(index * chunkSize, (index + 1) * chunkSize));
  const ofEach = Math.ceil(count / groups);
  const turns = Array.from({ length: ofEach }, (_, turn) => chunks.filter((_chunk, index) => index % ofEach === turn));
  return turns.flat();
};
