import { areEqual } from '@decision/values';
import { nextAbove, nextBelow } from '../values/points';
import { anything, list, number, wholeNumber } from './argument';
import { type Condition, negate, ofForm, outside, test, within } from './condition';
import { exactly, ignoringCase, type List, type Matching } from './element-operators';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<List>('list');

const size = (condition: Condition): Condition => ofForm('length', condition);

/** Operators on the number of elements. */
export const listSizeOperators: readonly Operator[] = [
  operator({
    op: 'is empty',
    args: [],
    meaning: 'Has no element.',
    example: [[], [], [null]],
    condition: () => size(within(0, 0)),
  }),
  operator({
    op: 'is not empty',
    args: [],
    meaning: 'Has an element, null included.',
    example: [[], [null], []],
    condition: () => size(within(nextAbove(0), Infinity)),
  }),
  operator({
    op: 'is of length',
    args: [number('length')],
    meaning: 'Has so many elements.',
    example: [[2], [1, 2], [1]],
    condition: (wanted) => size(within(wanted, wanted)),
  }),
  operator({
    op: 'is not of length',
    args: [number('length')],
    meaning: 'Has another number of elements.',
    example: [[2], [1], [1, 2]],
    condition: (wanted) => size(outside(wanted, wanted)),
  }),
  operator({
    op: 'is longer than',
    args: [number('length')],
    meaning: 'Has more elements.',
    example: [[2], [1, 2, 3], [1, 2]],
    condition: (wanted) => size(within(nextAbove(wanted), Infinity)),
  }),
  operator({
    op: 'is shorter than',
    args: [number('length')],
    meaning: 'Has fewer elements.',
    example: [[2], [1], [1, 2]],
    condition: (wanted) => size(within(-Infinity, nextBelow(wanted))),
  }),
  operator({
    op: 'is longer than or equal to',
    args: [number('length')],
    meaning: 'Has so many elements or more.',
    example: [[2], [1, 2], [1]],
    condition: (wanted) => size(within(wanted, Infinity)),
  }),
  operator({
    op: 'is shorter than or equal to',
    args: [number('length')],
    meaning: 'Has so many elements or fewer.',
    example: [[2], [1, 2], [1, 2, 3]],
    condition: (wanted) => size(within(-Infinity, wanted)),
  }),
];

/** Whether the wanted values occur in this order in a list, with or without others between them. */
const inOrder = (wanted: List, matching: Matching): Condition<List> =>
  test((elements) => {
    let found = 0;
    for (const element of elements) {
      if (found === wanted.length) break;
      if (matching.areEqual(element, wanted[found])) found += 1;
    }
    return found === wanted.length;
  });

const itemAt = (index: number, value: unknown, matching: Matching): Condition<List> =>
  test((elements) => index < elements.length && matching.areEqual(elements[index], value));

const orderOperators = (matching: Matching, upper: string): readonly Operator[] => [
  operator({
    op: `contains all elements in order${matching.suffix}`,
    args: [list('sublist')],
    meaning: `Has the listed values in their order${matching.inWords}; others may stand between them.`,
    example: [[['a', 'b']], ['x', upper, 'y', 'b'], ['b', upper]],
    condition: (values) => inOrder(values, matching),
  }),
  operator({
    op: `has item at index${matching.suffix}`,
    args: [wholeNumber('index'), anything('value')],
    meaning: `Has the value at the index, counted from 0${matching.inWords}.`,
    example: [
      [1, 'a'],
      ['x', upper],
      [upper, 'x'],
    ],
    condition: (index, value) => itemAt(index, value, matching),
  }),
  operator({
    op: `does not have item at index${matching.suffix}`,
    args: [wholeNumber('index'), anything('value')],
    meaning: `Has another value at the index, counted from 0, or none${matching.inWords}.`,
    example: [[1, 'a'], [upper], ['x', upper]],
    condition: (index, value) => negate(itemAt(index, value, matching)),
  }),
];

/** Operators on the order of elements. */
export const listOrderOperators: readonly Operator[] = [
  operator({
    op: 'is equal to',
    args: [list('list')],
    meaning: 'Has the same elements in the same order, compared deeply.',
    example: [[[1, { a: 2 }]], [1, { a: 2 }], [{ a: 2 }, 1]],
    condition: (wanted) => test((elements) => areEqual(elements, wanted)),
  }),
  operator({
    op: 'is not equal to',
    args: [list('list')],
    meaning: 'Has other elements, or the same in another order.',
    example: [[[1, 2]], [2, 1], [1, 2]],
    condition: (wanted) => test((elements) => !areEqual(elements, wanted)),
  }),
  ...orderOperators(exactly, 'a'),
  ...orderOperators(ignoringCase, 'A'),
];
