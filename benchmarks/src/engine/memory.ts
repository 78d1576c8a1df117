import { setTimeout as wait } from 'node:timers/promises';

/** Bytes that a value keeps alive, including typed arrays: the mean over several values. The process must run with `--expose-gc`. */
export const retainedBytes = async (make: () => unknown, copies: number): Promise<number> => {
  const kept: unknown[] = Array.from({ length: copies }, () => undefined);
  const before = await usedBytes();
  for (let copy = 0; copy < copies; copy += 1) kept[copy] = make();
  const after = await usedBytes();
  kept.length = 0; // kept alive until here
  return (after - before) / copies;
};

const usedBytes = async (): Promise<number> => {
  if (gc === undefined) throw new RangeError('Memory is measured with node --expose-gc.');
  for (let turn = 0; turn < 2; turn += 1) {
    gc();
    await wait(1); // buffers of typed arrays are released later than they are collected
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
