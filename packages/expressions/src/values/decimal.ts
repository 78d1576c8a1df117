const DECIMAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+$/;

/** Longer strings are no numbers. */
const LONGEST = 400;

/**
 * The number that decimal digits write, or undefined where they write none, or one that a double cannot hold: too large, or an integer
 * between two doubles.
 */
export const parseDecimal = (text: string): number | undefined => {
  if (text.length > LONGEST || !DECIMAL.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  if (Number.isSafeInteger(value) || !INTEGER.test(text)) return value;
  return BigInt(text.replace('+', '')) === BigInt(value) ? value : undefined;
};
