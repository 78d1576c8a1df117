const DECIMAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+$/;

/** Longer strings are no numbers. */
const LONGEST = 400;

/**
 * The number that decimal digits write, or undefined where they write none, or one that a double cannot hold: too large, or an integer
 * that lies between two doubles and is not how the nearest is usually written.
 */
export const parseDecimal = (text: string): number | undefined => {
  if (text.length > LONGEST || !DECIMAL.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  if (Number.isSafeInteger(value) || !INTEGER.test(text) || String(value) === text) return value;
  return BigInt(text.replace('+', '')) === BigInt(value) ? value : undefined;
};
