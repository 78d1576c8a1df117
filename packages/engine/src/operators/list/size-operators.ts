import { number } from '../argument';
import { type Condition, test } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';
import { type List } from './matching';

const operator = operatorsOf<List>('list');

const size = (passes: (elements: number) => boolean): Condition<List> => test((elements) => passes(elements.length));

/** Operators on the number of elements. */
export const listSizeOperators: readonly Operator[] = [
  operator({
    op: 'is empty',
    args: [],
    meaning: 'Has no element.',
    example: [[], [], [null]],
    condition: () => size((elements) => elements === 0),
  }),
  operator({
    op: 'is not empty',
    args: [],
    meaning: 'Has an element, null included.',
    example: [[], [null], []],
    condition: () => size((elements) => elements > 0),
  }),
  operator({
    op: 'is of length',
    args: [number('length')],
    meaning: 'Has so many elements.',
    example: [[2], [1, 2], [1]],
    condition: (wanted) => size((elements) => elements === wanted),
  }),
  operator({
    op: 'is not of length',
    args: [number('length')],
    meaning: 'Has another number of elements.',
    example: [[2], [1], [1, 2]],
    condition: (wanted) => size((elements) => elements !== wanted),
  }),
  operator({
    op: 'is longer than',
    args: [number('length')],
    meaning: 'Has more elements.',
    example: [[2], [1, 2, 3], [1, 2]],
    condition: (wanted) => size((elements) => elements > wanted),
  }),
  operator({
    op: 'is shorter than',
    args: [number('length')],
    meaning: 'Has fewer elements.',
    example: [[2], [1], [1, 2]],
    condition: (wanted) => size((elements) => elements < wanted),
  }),
  operator({
    op: 'is longer than or equal to',
    args: [number('length')],
    meaning: 'Has so many elements or more.',
    example: [[2], [1, 2], [1]],
    condition: (wanted) => size((elements) => elements >= wanted),
  }),
  operator({
    op: 'is shorter than or equal to',
    args: [number('length')],
    meaning: 'Has so many elements or fewer.',
    example: [[2], [1, 2], [1, 2, 3]],
    condition: (wanted) => size((elements) => elements <= wanted),
  }),
];
