import { nextAbove, nextBelow } from '../../values/double';
import { number } from '../argument';
import { type Condition, ofForm, outside, within } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';

const operator = operatorsOf<string>('string');

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
