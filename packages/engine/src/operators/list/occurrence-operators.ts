import { type ValueKey } from '../../values/value-key';
import { anything, number, wholeNumber } from '../argument';
import { type Condition, negate, test } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';
import { countOf, exactly, ignoringCase, type List, type Matching } from './matching';

const operator = operatorsOf<List>('list');

const hasDuplicates = (elements: List): boolean => {
  const seen = new Set<ValueKey>();
  for (const element of elements) {
    const key = exactly.keyOf(element);
    if (seen.has(key)) return true;
    seen.add(key);
  }
  return false;
};

const repeats = (value: unknown, matching: Matching): Condition<List> =>
  test((elements) => countOf(elements, value, matching, 2) === 2);

const occurrences = (value: unknown, count: number, passes: (found: number) => boolean): Condition<List> =>
  test((elements) => passes(countOf(elements, value, exactly, count + 1)));

/** Operators that count equal elements. */
export const occurrenceOperators: readonly Operator[] = [
  operator({
    op: 'contains N occurrences of',
    args: [anything('value'), wholeNumber('occurrences')],
    meaning: 'Has the value exactly so often.',
    example: [
      ['a', 2],
      ['a', 'b', 'a'],
      ['a', 'b'],
    ],
    condition: (value, count) => occurrences(value, count, (found) => found === count),
  }),
  operator({
    op: 'contains at least N occurrences of',
    args: [anything('value'), wholeNumber('occurrences')],
    meaning: 'Has the value so often or more.',
    example: [
      ['a', 2],
      ['a', 'a', 'a'],
      ['a', 'b'],
    ],
    condition: (value, count) => occurrences(value, count, (found) => found >= count),
  }),
  operator({
    op: 'contains at most N occurrences of',
    args: [anything('value'), wholeNumber('occurrences')],
    meaning: 'Has the value so often or less.',
    example: [
      ['a', 1],
      ['a', 'b'],
      ['a', 'b', 'a'],
    ],
    condition: (value, count) => occurrences(value, count, (found) => found <= count),
  }),
  operator({
    op: 'contains duplicates',
    readingCost: 100,
    args: [],
    meaning: 'Has two equal elements.',
    example: [[], [1, { a: 2 }, { a: 2 }], [1, '1']],
    condition: () => test(hasDuplicates),
  }),
  operator({
    op: 'does not contain duplicates',
    readingCost: 100,
    args: [],
    meaning: 'Has no two equal elements.',
    example: [[], [1, '1'], [1, 2, 1]],
    condition: () => negate(test(hasDuplicates)),
  }),
  operator({
    op: 'has unique elements',
    readingCost: 100,
    args: [],
    meaning: 'Has no two equal elements; the same as "does not contain duplicates".',
    example: [[], [1, '1'], [1, 2, 1]],
    condition: () => negate(test(hasDuplicates)),
  }),
  operator({
    op: 'contains duplicates of value',
    args: [anything('value')],
    meaning: 'Has the value twice or more.',
    example: [['a'], ['a', 'b', 'a'], ['a', 'b', 'b']],
    condition: (value) => repeats(value, exactly),
  }),
  operator({
    op: 'contains duplicates of value (case-insensitive)',
    args: [anything('value')],
    meaning: 'Has the value twice or more, whatever the case of texts.',
    example: [['a'], ['a', 'b', 'A'], ['a', 'b', 'B']],
    condition: (value) => repeats(value, ignoringCase),
  }),
  operator({
    op: 'contains numbers in range (inclusive)',
    args: [number('min'), number('max')],
    meaning: 'Has a number between the two, both included.',
    example: [
      [1, 5],
      ['x', 5],
      [0, 6, '3'],
    ],
    isInOrder: (min, max) => min <= max,
    condition: (min, max) =>
      test((elements) => elements.some((element) => typeof element === 'number' && element >= min && element <= max)),
  }),
];
