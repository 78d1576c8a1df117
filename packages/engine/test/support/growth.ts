/** Number of failed comparisons of times that count as a failure: a garbage collection makes one of them longer. */
const ATTEMPTS = 3;
/** Shorter times are not compared, ms. */
const FLOOR = 8;
/** Maximum growth of the time at four times the size: n log n takes 5, a square 16. */
const MOST_GROWTH = 10;

/** Processor time of this process, ms: unlike wall-clock time, it excludes other work on the machine. */
const processorTime = (work: () => void): number => {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
};

/**
 * Compares the times of the same work at one size and at four times that size. Returns undefined if it grows no faster than n log n, and
 * otherwise the measurement of the best attempt.
 */
export const growthFault = (workAt: (size: number) => () => void, size: number): string | undefined => {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const [small, large] = [workAt(size), workAt(size * 4)];
    const ratio = processorTime(large) / Math.max(FLOOR, processorTime(small));
    if (ratio < MOST_GROWTH) return undefined;
    least = Math.min(least, ratio);
  }
  return `four times the size took ${least.toFixed(1)} times as long`;
};
