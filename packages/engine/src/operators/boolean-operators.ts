import { type OperatorEntry } from './operator-entry';

type BooleanOperator = OperatorEntry<boolean>;

/** Operators of boolean fields, beside those that every type has. */
export const booleanOperators: readonly BooleanOperator[] = [
  {
    type: 'boolean',
    op: 'is true',
    args: [],
    meaning: 'Is true.',
    example: { args: [], matches: true, misses: false },
    compile: () => (value) => value,
  },
  {
    type: 'boolean',
    op: 'is false',
    args: [],
    meaning: 'Is false.',
    example: { args: [], matches: false, misses: true },
    compile: () => (value) => !value,
  },
  {
    type: 'boolean',
    op: 'equals',
    args: [{ name: 'value', type: 'boolean' }],
    meaning: 'Is the same.',
    example: { args: [true], matches: true, misses: false },
    compile:
      ([wanted]: readonly boolean[]) =>
      (value) =>
        value === wanted,
  },
];
