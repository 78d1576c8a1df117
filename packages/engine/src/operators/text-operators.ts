import { type Pattern } from '@decision/expressions';
import { searchFor } from '@decision/values';
import { fold } from '../values/equality';
import { searchForAny } from '../values/find-any-text';
import { nextAbove, nextBelow } from '../values/points';
import { number, pattern, text, texts } from './argument';
import { type Condition, negate, ofForm, outside, test, testOfForm, within } from './condition';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<string>('string');

const is = (value: string): Condition<string> => ({ kind: 'is', text: value });
const among = (values: readonly string[]): Condition<string> => ({ kind: 'among', values: new Set(values) });

const isFolded = (value: string): Condition => ofForm('folded', { kind: 'is', text: fold(value) });

const contains = (part: string): Condition<string> => test(searchFor(part));

const containsAny = (parts: readonly string[]): Condition<string> => test(searchForAny(parts));

const matches = ({ test: isFoundIn, size }: Pattern): Condition<string> => ({
  kind: 'test',
  test: isFoundIn,
  costPerCharacter: size,
});

/** Nanoseconds per character for searches in the folded text, which may be three times as long. */
const FOLDED = 3;

/** Operators that compare texts. */
export const textOperators: readonly Operator[] = [
  operator({
    op: 'contains',
    readingCost: 1,
    args: [text('value')],
    meaning: 'Holds the text; every text holds the empty one.',
    example: [['el'], 'hello', 'world'],
    condition: contains,
  }),
  operator({
    op: 'does not contain',
    readingCost: 1,
    args: [text('value')],
    meaning: 'Does not hold the text.',
    example: [['el'], 'world', 'hello'],
    condition: (part) => negate(contains(part)),
  }),
  operator({
    op: 'equals',
    args: [text('value')],
    meaning: 'Is the same text, character by character.',
    example: [['a'], 'a', 'A'],
    condition: is,
  }),
  operator({
    op: 'equals (case-insensitive)',
    args: [text('value')],
    meaning: 'Is the same text in any case.',
    example: [['a'], 'A', 'b'],
    condition: isFolded,
  }),
  operator({
    op: 'does not equal',
    args: [text('value')],
    meaning: 'Is another text.',
    example: [['a'], 'A', 'a'],
    condition: (value) => negate(is(value)),
  }),
  operator({
    op: 'does not equal (case-insensitive)',
    args: [text('value')],
    meaning: 'Is another text whatever the case.',
    example: [['a'], 'b', 'A'],
    condition: (value) => negate(isFolded(value)),
  }),
  operator({
    op: 'is empty',
    args: [],
    meaning: 'Has no character; a space is one.',
    example: [[], '', ' '],
    condition: () => is(''),
  }),
  operator({
    op: 'is not empty',
    args: [],
    meaning: 'Has a character.',
    example: [[], ' ', ''],
    condition: () => negate(is('')),
  }),
  operator({
    op: 'starts with',
    readingCost: 1,
    args: [text('value')],
    meaning: 'Begins with the text.',
    example: [['he'], 'hello', 'the'],
    condition: (part) => ({ kind: 'starts with', text: part }),
  }),
  operator({
    op: 'ends with',
    readingCost: 1,
    args: [text('value')],
    meaning: 'Ends with the text.',
    example: [['lo'], 'hello', 'low'],
    condition: (part) => ({ kind: 'ends with', text: part }),
  }),
  operator({
    op: 'is included in',
    args: [texts('value')],
    meaning: 'Is one of the listed texts.',
    example: [[['a', 'b']], 'b', 'c'],
    condition: among,
  }),
  operator({
    op: 'is not included in',
    args: [texts('value')],
    meaning: 'Is none of the listed texts.',
    example: [[['a', 'b']], 'c', 'b'],
    condition: (values) => negate(among(values)),
  }),
  operator({
    op: 'contains any of',
    args: [texts('value')],
    meaning: 'Holds one of the listed texts.',
    example: [[['el', 'or']], 'world', 'tree'],
    condition: containsAny,
  }),
  operator({
    op: 'does not contain any of',
    args: [texts('value')],
    meaning: 'Holds none of the listed texts.',
    example: [[['el', 'or']], 'tree', 'world'],
    condition: (parts) => negate(containsAny(parts)),
  }),
  operator({
    op: 'starts with (case-insensitive)',
    readingCost: FOLDED,
    args: [text('prefix')],
    meaning: 'Begins with the text in any case.',
    example: [['HE'], 'hello', 'the'],
    condition: (part) => ofForm('folded', { kind: 'starts with', text: fold(part) }),
  }),
  operator({
    op: 'ends with (case-insensitive)',
    readingCost: FOLDED,
    args: [text('suffix')],
    meaning: 'Ends with the text in any case.',
    example: [['LO'], 'hello', 'low'],
    condition: (part) => ofForm('folded', { kind: 'ends with', text: fold(part) }),
  }),
  operator({
    op: 'contains (case-insensitive)',
    readingCost: FOLDED,
    args: [text('substring')],
    meaning: 'Holds the text in any case.',
    example: [['EL'], 'hello', 'world'],
    condition: (part) => testOfForm('folded', searchFor(fold(part))),
  }),
  operator({
    op: 'matches RegEx',
    args: [pattern('regex')],
    meaning: 'The regular expression (RE2 syntax) matches some part of it; `^` and `$` tie it to the ends.',
    example: [['^[0-9]+$'], '123', '12a'],
    condition: matches,
  }),
  operator({
    op: 'does not match RegEx',
    args: [pattern('regex')],
    meaning: 'The regular expression matches no part of it.',
    example: [['^[0-9]+$'], '12a', '123'],
    condition: (regex) => negate(matches(regex)),
  }),
];

const length = (condition: Condition): Condition => ofForm('length', condition);

/** Operators on the number of characters (Unicode code points). */
export const textLengthOperators: readonly Operator[] = [
  operator({
    op: 'is of length',
    args: [number('length')],
    meaning: 'Has so many characters.',
    example: [[3], 'abc', 'ab'],
    condition: (wanted) => length(within(wanted, wanted)),
  }),
  operator({
    op: 'is not of length',
    args: [number('length')],
    meaning: 'Has another number of characters.',
    example: [[3], 'ab', 'abc'],
    condition: (wanted) => length(outside(wanted, wanted)),
  }),
  operator({
    op: 'is longer than',
    args: [number('length')],
    meaning: 'Has more characters.',
    example: [[3], 'abcd', 'abc'],
    condition: (wanted) => length(within(nextAbove(wanted), Infinity)),
  }),
  operator({
    op: 'is shorter than',
    args: [number('length')],
    meaning: 'Has fewer characters.',
    example: [[3], 'ab', 'abc'],
    condition: (wanted) => length(within(-Infinity, nextBelow(wanted))),
  }),
  operator({
    op: 'is longer than or equal to',
    args: [number('length')],
    meaning: 'Has so many characters or more.',
    example: [[3], 'abc', 'ab'],
    condition: (wanted) => length(within(wanted, Infinity)),
  }),
  operator({
    op: 'is shorter than or equal to',
    args: [number('length')],
    meaning: 'Has so many characters or fewer.',
    example: [[3], 'abc', 'abcd'],
    condition: (wanted) => length(within(-Infinity, wanted)),
  }),
];
