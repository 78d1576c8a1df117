import { areEqual } from '@decision/values';
import { areEqualFolded, foldedKeyOf, keyOf, type KeyOf, type ValueKey } from '../values/equality';
import { anything, list, number, wholeNumber } from './argument';
import { type Condition, negate, test } from './condition';
import { type Operator, operatorsOf } from './operator-entry';

/** Equality of two elements: the same value, or texts that differ only in case. */
export interface Matching {
  /** Suffix of the operator's name. */
  readonly suffix: '' | ' (case-insensitive)';
  /** Words for the operator's meaning. */
  readonly inWords: string;
  readonly areEqual: (left: unknown, right: unknown) => boolean;
  readonly keyOf: KeyOf;
}

export const exactly: Matching = { suffix: '', inWords: '', areEqual, keyOf };

export const ignoringCase: Matching = {
  suffix: ' (case-insensitive)',
  inWords: ', whatever the case of texts',
  areEqual: areEqualFolded,
  keyOf: foldedKeyOf,
};

export type List = readonly unknown[];

/** Elements of a list that equal a value, counted up to a bound. */
export const countOf = (list: List, value: unknown, matching: Matching, bound = Infinity): number => {
  let count = 0;
  for (const element of list) {
    if (matching.areEqual(element, value)) count += 1;
    if (count >= bound) break;
  }
  return count;
};

const operator = operatorsOf<List>('list');

const contains = (value: unknown, { areEqual }: Matching): Condition<List> =>
  test((elements) => elements.some((element) => areEqual(element, value)));

const containsAny = (wanted: List, { keyOf }: Matching): Condition<List> => {
  const keys = new Set(wanted.map(keyOf));
  return test((elements) => elements.some((element) => keys.has(keyOf(element))));
};

const containsAll = (wanted: List, { keyOf }: Matching): Condition<List> => {
  const keys = new Set(wanted.map(keyOf));
  return test((elements) => holdsAll(elements, keys, keyOf));
};

const holdsAll = (elements: List, wanted: ReadonlySet<ValueKey>, keyOf: Matching['keyOf']): boolean => {
  const missing = new Set(wanted);
  for (const element of elements) {
    if (missing.size === 0) return true;
    missing.delete(keyOf(element));
  }
  return missing.size === 0;
};

const containsOperators = (matching: Matching, upper: string): readonly Operator[] => [
  operator({
    op: `contains${matching.suffix}`,
    args: [anything('value')],
    meaning: `Has an element that equals the value${matching.inWords}.`,
    example: [['a'], [1, upper], [1, 'b']],
    condition: (value) => contains(value, matching),
  }),
  operator({
    op: `does not contain${matching.suffix}`,
    args: [anything('value')],
    meaning: `Has no element that equals the value${matching.inWords}.`,
    example: [['a'], [1, 'b'], [1, upper]],
    condition: (value) => negate(contains(value, matching)),
  }),
];

const setOperators = (matching: Matching, upper: string): readonly Operator[] => [
  operator({
    op: `contains all of${matching.suffix}`,
    readingCost: 100,
    args: [list('values')],
    meaning: `Has every listed value${matching.inWords}; every list has all of none.`,
    example: [[['a', 2]], [2, 3, upper], [upper, 3]],
    condition: (values) => containsAll(values, matching),
  }),
  operator({
    op: `contains any of${matching.suffix}`,
    readingCost: 100,
    args: [list('values')],
    meaning: `Has one of the listed values${matching.inWords}.`,
    example: [[['a', 2]], [upper, 3], [3, 4]],
    condition: (values) => containsAny(values, matching),
  }),
  operator({
    op: `contains none of${matching.suffix}`,
    readingCost: 100,
    args: [list('values')],
    meaning: `Has none of the listed values${matching.inWords}.`,
    example: [[['a', 2]], [3, 4], [upper, 3]],
    condition: (values) => negate(containsAny(values, matching)),
  }),
];

/** Operators that check which values a list contains, in any order. Elements are compared deeply; 1 and "1" differ. */
export const membershipOperators: readonly Operator[] = [
  ...containsOperators(exactly, 'a'),
  ...containsOperators(ignoringCase, 'A'),
  ...setOperators(exactly, 'a'),
  ...setOperators(ignoringCase, 'A'),
  operator({
    op: 'is a sublist of',
    readingCost: 100,
    args: [list('superlist')],
    meaning: 'Has no element that the listed values lack; order and repetitions do not matter.',
    example: [[['a', 'b', 'c']], ['c', 'a'], ['a', 'd']],
    condition: (values) => {
      const keys = new Set(values.map(exactly.keyOf));
      return test((elements) => elements.every((element) => keys.has(exactly.keyOf(element))));
    },
  }),
  operator({
    op: 'is a superlist of',
    readingCost: 100,
    args: [list('sublist')],
    meaning: 'Has every listed value; order and repetitions do not matter.',
    example: [[['a', 'b']], ['c', 'b', 'a'], ['a', 'c']],
    condition: (values) => containsAll(values, exactly),
  }),
];

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
