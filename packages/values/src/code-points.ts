/**
 * Strings are counted in Unicode code points, so that no function cuts a character in half. Most strings hold no surrogates, and
 * for them a code point is a UTF-16 unit.
 */
const SURROGATE = /[\ud800-\udfff]/;

const isPair = (text: string, unit: number): boolean => {
  const high = text.charCodeAt(unit);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(unit + 1);
  return low >= 0xdc00 && low <= 0xdfff;
};

/** Code points of a string; a lone surrogate counts as one. */
export const lengthOfText = (text: string): number => {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let unit = 0; unit < text.length; unit += isPair(text, unit) ? 2 : 1) count += 1;
  return count;
};

/** The code points from `start` up to but not including `end`, both from 0. */
export const sliceText = (text: string, start: number, end: number): string => {
  if (!SURROGATE.test(text)) return text.slice(start, end);
  const from = unitOf(text, 0, start);
  return text.slice(from, unitOf(text, from, end - start));
};

/** The UTF-16 position that lies a number of code points behind another. */
const unitOf = (text: string, from: number, count: number): number => {
  let unit = from;
  for (let passed = 0; passed < count && unit < text.length; passed += 1) unit += isPair(text, unit) ? 2 : 1;
  return unit;
};
