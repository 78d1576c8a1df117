import { truth } from './argument';
import { within } from './condition';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<number>('boolean');

/** True is 1 and false is 0 on the line of an index. */
const only = (value: boolean) => within(Number(value), Number(value));

/** Operators of boolean fields, beside those that every type has. */
export const booleanOperators: readonly Operator[] = [
  operator({ op: 'is true', args: [], meaning: 'Is true.', example: [[], true, false], condition: () => only(true) }),
  operator({
    op: 'is false',
    args: [],
    meaning: 'Is false.',
    example: [[], false, true],
    condition: () => only(false),
  }),
  operator({
    op: 'equals',
    args: [truth('value')],
    meaning: 'Is the same.',
    example: [[true], true, false],
    condition: only,
  }),
];
