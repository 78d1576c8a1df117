import { lengthOfText } from '../../values/text-length';
import { number } from '../argument';
import { type Condition, test } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';

const operator = operatorsOf<string>('string');

const length = (passes: (characters: number) => boolean): Condition<string> =>
  test((value) => passes(lengthOfText(value)));

/** Operators on the number of characters (Unicode code points). */
export const textLengthOperators: readonly Operator[] = [
  operator({
    op: 'is of length',
    args: [number('length')],
    meaning: 'Has so many characters.',
    example: [[3], 'abc', 'ab'],
    condition: (wanted) => length((characters) => characters === wanted),
  }),
  operator({
    op: 'is not of length',
    args: [number('length')],
    meaning: 'Has another number of characters.',
    example: [[3], 'ab', 'abc'],
    condition: (wanted) => length((characters) => characters !== wanted),
  }),
  operator({
    op: 'is longer than',
    args: [number('length')],
    meaning: 'Has more characters.',
    example: [[3], 'abcd', 'abc'],
    condition: (wanted) => length((characters) => characters > wanted),
  }),
  operator({
    op: 'is shorter than',
    args: [number('length')],
    meaning: 'Has fewer characters.',
    example: [[3], 'ab', 'abc'],
    condition: (wanted) => length((characters) => characters < wanted),
  }),
  operator({
    op: 'is longer than or equal to',
    args: [number('length')],
    meaning: 'Has so many characters or more.',
    example: [[3], 'abc', 'ab'],
    condition: (wanted) => length((characters) => characters >= wanted),
  }),
  operator({
    op: 'is shorter than or equal to',
    args: [number('length')],
    meaning: 'Has so many characters or fewer.',
    example: [[3], 'abc', 'abcd'],
    condition: (wanted) => length((characters) => characters <= wanted),
  }),
];
