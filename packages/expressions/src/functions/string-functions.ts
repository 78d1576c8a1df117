import { finderOf, lengthOfText, sliceText } from '@decision/values';
import { type Run } from '../run/run';
import { parseDecimal } from '../syntax/scanner';
import { replaceText } from '../text/replace-text';
import { strict } from './definition';
import { anything, type CallSite, integer, list, optional, pattern, resolvePosition, string } from './parameters';

const group = 'string';
const MOST_CODE_POINTS = 1_000_000_000;

/** Fraction of a step that one character costs per instruction. */
const PATTERN_UNITS_PER_STEP = 128;

const LONGEST_NUMBER = 1_000;

/** Answers a new string, and charges for it. */
const made = (site: CallSite, run: Run, text: string): string => {
  run.makeText(text.length, site.node);
  return text;
};

/** Charges for reading a string, and for making one of the same length. */
const payForCopy = (site: CallSite, run: Run, text: string): void => {
  run.chargeText(text, site.node);
  run.makeText(text.length, site.node);
};

/** Changes the case, which may triple the length of a string. */
const changeCase = (site: CallSite, run: Run, text: string, change: (text: string) => string): string => {
  payForCopy(site, run, text);
  const changed = change(text);
  run.makeText(Math.max(0, changed.length - text.length), site.node);
  return changed;
};

/** The string form of a value that texts accept. */
const textOf = (value: unknown, site: CallSite, index: number): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return site.failType(index, 'a string, a number or a boolean', value);
};

/** Charges for comparing a string with another of the same length; always true. */
const comparable = (site: CallSite, run: Run, text: string): true => {
  run.chargeText(text, site.node);
  return true;
};

/** The string without white space at its ends, unless it is too long to be a number anyway. */
const trimShort = (text: string): string => (text.length <= LONGEST_NUMBER ? text.trim() : text);

/** The filling that extends a string to a given number of code points. */
const filling = (site: CallSite, run: Run, text: string, length: number, fill: string): string => {
  if (fill === '') return site.fail('out_of_range', 'the filling must not be empty', 2);
  run.chargeText(text, site.node);
  const missing = length - lengthOfText(text);
  if (missing <= 0) return '';
  run.makeText(text.length + 2 * missing + fill.length, site.node);
  const times = Math.ceil(missing / lengthOfText(fill));
  return sliceText(fill.repeat(times), 0, missing);
};

export const stringFunctions = [
  strict({
    name: 'ends_with',
    group,
    parameters: [string(), string('end')],
    meaning: 'Whether the text ends with the other.',
    example: 'ends_with("invoice.pdf", ".pdf")',
    result: true,
    apply: (site, run, text, end) => end.length <= text.length && comparable(site, run, end) && text.endsWith(end),
  }),
  strict({
    name: 'join',
    group,
    parameters: [list(), optional(string('separator'))],
    meaning:
      'The elements (strings, numbers, booleans; null is empty) as one text, with the separator (default none) between them.',
    example: 'join(["a", 1, true], "-")',
    result: 'a-1-true',
    apply: (site, run, items, separator = '') => {
      run.chargeList(items, site.node);
      const parts = items.map((item) => textOf(item ?? '', site, 0));
      const length = parts.reduce((sum, part) => sum + part.length, separator.length * Math.max(0, parts.length - 1));
      run.makeText(length, site.node);
      return parts.join(separator);
    },
  }),
  strict({
    name: 'lower',
    group,
    parameters: [string()],
    meaning: 'The text in lower case, by the rules of Unicode and of no language.',
    example: 'lower("ÀB")',
    result: 'àb',
    apply: (site, run, text) => changeCase(site, run, text, (given) => given.toLowerCase()),
  }),
  strict({
    name: 'matches',
    group,
    parameters: [string(), pattern()],
    meaning:
      'Whether some part of the text matches the regular expression (RE2 syntax, written as a string in the formula; ^ and $ bind it to the ends).',
    example: 'matches("AB-123", "^[A-Z]{2}-\\\\d+$")',
    result: true,
    apply: (site, run, text, expression) => {
      run.charge((text.length * expression.size) / PATTERN_UNITS_PER_STEP, site.node);
      return expression.test(text);
    },
  }),
  strict({
    name: 'pad_end',
    group,
    parameters: [string(), integer('length', 0, MOST_CODE_POINTS), optional(string('fill'))],
    meaning: 'The text, filled up behind to so many characters (default filling: spaces).',
    example: 'pad_end("7", 3, ".")',
    result: '7..',
    apply: (site, run, text, length, fill = ' ') => text + filling(site, run, text, length, fill),
  }),
  strict({
    name: 'pad_start',
    group,
    parameters: [string(), integer('length', 0, MOST_CODE_POINTS), optional(string('fill'))],
    meaning: 'The text, filled up in front to so many characters (default filling: spaces).',
    example: 'pad_start("7", 3, "0")',
    result: '007',
    apply: (site, run, text, length, fill = ' ') => filling(site, run, text, length, fill) + text,
  }),
  strict({
    name: 'replace',
    group,
    parameters: [string(), string('sought'), string('replacement')],
    meaning: 'The text with every occurrence of the sought string replaced; both are taken literally.',
    example: 'replace("1.000.000", ".", " ")',
    result: '1 000 000',
    apply: (site, run, text, sought, replacement) => {
      if (sought === '') return site.fail('out_of_range', 'the sought string must not be empty', 1);
      run.chargeText(text, site.node);
      run.chargeText(sought, site.node);
      return replaceText(text, sought, replacement, (length) => run.makeText(length, site.node));
    },
  }),
  strict({
    name: 'split',
    group,
    parameters: [string(), string('separator')],
    meaning: 'The parts of the text between the separators; an empty separator gives its characters.',
    example: 'split("a,b,,c", ",")',
    result: ['a', 'b', '', 'c'],
    apply: (site, run, text, separator) => {
      run.chargeText(text, site.node);
      const parts = splitText(text, separator, run.budget.listLength + 1);
      run.makeList(parts.length, site.node);
      return parts;
    },
  }),
  strict({
    name: 'starts_with',
    group,
    parameters: [string(), string('start')],
    meaning: 'Whether the text starts with the other.',
    example: 'starts_with("+49 30", "+49")',
    result: true,
    apply: (site, run, text, start) =>
      start.length <= text.length && comparable(site, run, start) && text.startsWith(start),
  }),
  strict({
    name: 'substring',
    group,
    parameters: [
      string(),
      integer('start', -MOST_CODE_POINTS, MOST_CODE_POINTS),
      optional(integer('end', -MOST_CODE_POINTS, MOST_CODE_POINTS)),
    ],
    meaning:
      'The characters from start (from 0) up to but not including end (default: the end); negative ones count from the end.',
    example: 'substring("decision", 0, 3)',
    result: 'dec',
    apply: (site, run, text, start, end) => {
      run.chargeText(text, site.node);
      const length = lengthOfText(text);
      const from = resolvePosition(start, length);
      const to = end === undefined ? length : resolvePosition(end, length);
      return made(site, run, from < to ? sliceText(text, from, to) : '');
    },
  }),
  strict({
    name: 'to_number',
    group,
    parameters: [anything(), optional(anything('otherwise'))],
    meaning:
      'The number that a string writes in decimal digits (spaces around it are ignored); numbers stay. Without such a number: otherwise, or a fault where that is left out.',
    example: 'to_number(" 12.50 ")',
    result: 12.5,
    apply: (site, _run, value, otherwise) => {
      if (typeof value === 'number') return value;
      const parsed = typeof value === 'string' ? parseDecimal(trimShort(value)) : undefined;
      if (parsed !== undefined) return parsed;
      if (otherwise !== undefined) return otherwise;
      if (typeof value !== 'string') return site.failType(0, 'a string or a number', value);
      return site.fail('invalid_value', 'the string is no decimal number', 0);
    },
  }),
  strict({
    name: 'to_text',
    group,
    parameters: [anything()],
    meaning: 'A number or boolean as a string; strings stay.',
    example: 'to_text(12.5) + " EUR"',
    result: '12.5 EUR',
    apply: (site, run, value) => (typeof value === 'string' ? value : made(site, run, textOf(value, site, 0))),
  }),
  strict({
    name: 'trim',
    group,
    parameters: [string()],
    meaning: 'The text without white space at its ends.',
    example: 'trim("  a b ")',
    result: 'a b',
    apply: (site, run, text) => {
      payForCopy(site, run, text);
      return text.trim();
    },
  }),
  strict({
    name: 'upper',
    group,
    parameters: [string()],
    meaning: 'The text in upper case, by the rules of Unicode and of no language.',
    example: 'upper("straße")',
    result: 'STRASSE',
    apply: (site, run, text) => changeCase(site, run, text, (given) => given.toUpperCase()),
  }),
];

/** At most the given number of parts, split in linear time. */
const splitText = (text: string, separator: string, most: number): string[] => {
  if (separator === '') return charactersOf(text, most);
  const find = finderOf(separator);
  const parts: string[] = [];
  let from = 0;
  for (let at = find(text, from); at >= 0 && parts.length < most; at = find(text, from)) {
    parts.push(text.slice(from, at));
    from = at + separator.length;
  }
  parts.push(text.slice(from));
  return parts;
};

const charactersOf = (text: string, most: number): string[] => {
  const characters: string[] = [];
  for (const character of text) {
    if (characters.length >= most) break;
    characters.push(character);
  }
  return characters;
};
