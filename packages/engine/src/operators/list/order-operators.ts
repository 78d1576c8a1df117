import { areEqual } from '@decision/values';
import { anything, list, wholeNumber } from '../argument';
import { type Condition, negate, test } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';
import { exactly, ignoringCase, type List, type Matching } from './matching';

const operator = operatorsOf<List>('list');

/** Whether the wanted values follow one another in a list, others between them or not. */
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
