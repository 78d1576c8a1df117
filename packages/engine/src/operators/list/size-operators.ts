import { nextAbove, nextBelow } from '../../values/double';
import { number } from '../argument';
import { type Condition, ofForm, outside, within } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';
import { type List } from './matching';

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
