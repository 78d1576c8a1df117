import { type ValueKey } from '../../values/value-key';
import { anything, list } from '../argument';
import { type Condition, negate, test } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';
import { exactly, ignoringCase, type List, type Matching } from './matching';

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

/** Operators that ask which values a list has, in any order. Elements are compared deeply; 1 and "1" differ. */
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
