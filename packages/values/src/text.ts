/** Finds a string in another, starting at a UTF-16 position; answers its position or -1. */
type FindText = (text: string, from: number) => number;

/**
 * Up to this length the platform's search reads each character a bounded number of times. Beyond it, the search considers only the last 250
 * characters of the sought string, and its time is the product of both lengths: half a minute for 500,000 characters in 1,000,000.
 */
const PLATFORM_SEARCH_LENGTH = 250;

/** Prepares a search in linear time, for any length and repetitiveness of the sought string. */
export const finderOf = (sought: string): FindText =>
  sought.length <= PLATFORM_SEARCH_LENGTH ? (text, from) => text.indexOf(sought, from) : knuthMorrisPratt(sought);

/** Whether a text contains the string of a prepared search. */
export type HoldsText = (text: string) => boolean;

/** As {@link finderOf}, if the position does not matter. */
export const searchFor = (sought: string): HoldsText => {
  if (sought.length <= PLATFORM_SEARCH_LENGTH) return (text) => text.includes(sought);
  const find = knuthMorrisPratt(sought);
  return (text) => find(text, 0) >= 0;
};

const knuthMorrisPratt = (sought: string): FindText => {
  const borders = bordersOf(sought);
  return (text, from) => {
    let matched = 0;
    for (let unit = from; unit < text.length; unit += 1) {
      matched = advance(sought, borders, matched, text.charCodeAt(unit));
      if (matched === sought.length) return unit - matched + 1;
    }
    return -1;
  };
};

/** For each prefix, the length of the longest shorter prefix that also ends it. */
const bordersOf = (sought: string): Int32Array => {
  const borders = new Int32Array(sought.length + 1);
  let matched = 0;
  for (let unit = 1; unit < sought.length; unit += 1) {
    matched = advance(sought, borders, matched, sought.charCodeAt(unit));
    borders[unit + 1] = matched;
  }
  return borders;
};

/** Length of the matched prefix after one more character. */
const advance = (sought: string, borders: Int32Array, matchedBefore: number, unit: number): number => {
  let matched = matchedBefore;
  while (matched > 0 && sought.charCodeAt(matched) !== unit) matched = borders[matched] ?? 0;
  return sought.charCodeAt(matched) === unit ? matched + 1 : matched;
};

/**
 * Strings are counted in Unicode code points, so that no function splits a character. Most strings contain no surrogates, and in them a
 * code point is a UTF-16 unit.
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

/** The UTF-16 position a number of code points after another. */
const unitOf = (text: string, from: number, count: number): number => {
  let unit = from;
  for (let passed = 0; passed < count && unit < text.length; passed += 1) unit += isPair(text, unit) ? 2 : 1;
  return unit;
};
