const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** The smallest number that is larger. Doubles are discrete, so "above b" is "from `nextAbove(b)` on": all bounds can be closed. */
export const nextAbove = (value: number): number => {
  if (Number.isNaN(value) || value === Infinity) return value;
  if (value === 0) return Number.MIN_VALUE;
  double[0] = value;
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? 1n : -1n);
  return double[0];
};

/** The largest number that is smaller. */
export const nextBelow = (value: number): number => -nextAbove(-value);
