import { range, timed } from './beside-sql';

/** Result of one measurement; latencies in ms. */
export interface Measurement {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly errors: number;
}

/** Summarises latencies, ms, measured within the given number of seconds. */
export const summarise = (latencies: readonly number[], seconds: number, errors = 0): Measurement => {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { perSecond: sorted.length / seconds, p50: at(0.5), p99: at(0.99), errors };
};

/** Calls a given number of times, consecutively or a few at once. `call` gets the number of the call, from 1. */
export const latencies = async (
  count: number,
  atOnce: number,
  call: (index: number) => Promise<unknown>,
): Promise<Measurement> => {
  const times: number[] = [];
  let next = 0;
  const began = performance.now();
  const work = async (): Promise<void> => {
    while (next < count) await timed(times, () => call((next += 1)));
  };
  await Promise.all(range(atOnce).map(work));
  return summarise(times, (performance.now() - began) / 1_000);
};

/** The middle of some numbers, the upper one of two; NaN if there are none. */
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The measurement with the median throughput of several rounds. */
export const medianOf = (rounds: readonly Measurement[]): Measurement => {
  const sorted = [...rounds].sort((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new RangeError('There is no median of nothing.');
  return middle;
};
