import { type OperatorArgument, type OperatorEntry } from './operator-entry';

type NumberOperator = OperatorEntry<number>;

const number = (name: string): OperatorArgument => ({ name, type: 'number' });

const operator = (entry: Omit<NumberOperator, 'type'>): NumberOperator => ({ type: 'number', ...entry });

/** A multiple is judged exactly for whole numbers and within rounding for decimal ones: 0.3 is a multiple of 0.1. */
const isMultiple = (value: number, of: number): boolean => {
  if (of === 0) return value === 0;
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON * 2;
};

const isPower = (value: number, base: number): boolean => {
  if (value === 1) return base !== 0;
  if (value <= 0 || base <= 0 || base === 1) return value === base;
  const exponent = Math.round(Math.log(value) / Math.log(base));
  return Math.abs(base ** exponent - value) <= value * Number.EPSILON * 4;
};

/** Operators of number fields, beside those that every type has. */
export const numberOperators: readonly NumberOperator[] = [
  operator({
    op: 'equals',
    args: [number('value')],
    meaning: 'Is the same number.',
    example: { args: [5], matches: 5, misses: 6 },
    compile:
      ([wanted]: readonly number[]) =>
      (value) =>
        value === wanted,
  }),
  operator({
    op: 'does not equal',
    args: [number('value')],
    meaning: 'Is another number.',
    example: { args: [5], matches: 6, misses: 5 },
    compile:
      ([wanted]: readonly number[]) =>
      (value) =>
        value !== wanted,
  }),
  operator({
    op: 'greater than',
    args: [number('bound')],
    meaning: 'Lies above the bound.',
    example: { args: [5], matches: 5.1, misses: 5 },
    compile:
      ([bound = 0]: readonly number[]) =>
      (value) =>
        value > bound,
  }),
  operator({
    op: 'less than',
    args: [number('bound')],
    meaning: 'Lies below the bound.',
    example: { args: [5], matches: 4.9, misses: 5 },
    compile:
      ([bound = 0]: readonly number[]) =>
      (value) =>
        value < bound,
  }),
  operator({
    op: 'greater than or equal to',
    args: [number('bound')],
    meaning: 'Is the bound or lies above it.',
    example: { args: [5], matches: 5, misses: 4.9 },
    compile:
      ([bound = 0]: readonly number[]) =>
      (value) =>
        value >= bound,
  }),
  operator({
    op: 'less than or equal to',
    args: [number('bound')],
    meaning: 'Is the bound or lies below it.',
    example: { args: [5], matches: 5, misses: 5.1 },
    compile:
      ([bound = 0]: readonly number[]) =>
      (value) =>
        value <= bound,
  }),
  operator({
    op: 'between',
    args: [number('start'), number('end')],
    isRange: true,
    meaning: 'Lies in the range; both ends belong to it.',
    example: { args: [1, 5], matches: 5, misses: 5.1 },
    compile:
      ([start = 0, end = 0]: readonly number[]) =>
      (value) =>
        value >= start && value <= end,
  }),
  operator({
    op: 'not between',
    args: [number('start'), number('end')],
    isRange: true,
    meaning: 'Lies outside of the range; both ends belong to it.',
    example: { args: [1, 5], matches: 5.1, misses: 5 },
    compile:
      ([start = 0, end = 0]: readonly number[]) =>
      (value) =>
        value < start || value > end,
  }),
  operator({
    op: 'is included in',
    args: [{ name: 'value', type: 'list' }],
    meaning: 'Is one of the listed numbers.',
    example: { args: [[1, 2]], matches: 2, misses: 3 },
    compile: ([list = []]: readonly (readonly unknown[])[]) => {
      const wanted = new Set(list);
      return (value) => wanted.has(value);
    },
  }),
  operator({
    op: 'is even',
    args: [],
    meaning: 'Is a whole number that two divides.',
    example: { args: [], matches: 4, misses: 3 },
    compile: () => (value) => value % 2 === 0,
  }),
  operator({
    op: 'is odd',
    args: [],
    meaning: 'Is a whole number that two does not divide.',
    example: { args: [], matches: -3, misses: 2.5 },
    compile: () => (value) => Math.abs(value % 2) === 1,
  }),
  operator({
    op: 'is positive',
    args: [],
    meaning: 'Lies above zero.',
    example: { args: [], matches: 0.1, misses: 0 },
    compile: () => (value) => value > 0,
  }),
  operator({
    op: 'is negative',
    args: [],
    meaning: 'Lies below zero.',
    example: { args: [], matches: -0.1, misses: 0 },
    compile: () => (value) => value < 0,
  }),
  operator({
    op: 'is zero',
    args: [],
    meaning: 'Is zero.',
    example: { args: [], matches: 0, misses: 0.1 },
    compile: () => (value) => value === 0,
  }),
  operator({
    op: 'is not zero',
    args: [],
    meaning: 'Is not zero.',
    example: { args: [], matches: 0.1, misses: 0 },
    compile: () => (value) => value !== 0,
  }),
  operator({
    op: 'is a multiple of',
    args: [number('multiple')],
    meaning: 'The argument divides it without rest.',
    example: { args: [3], matches: 9, misses: 10 },
    compile:
      ([of = 0]: readonly number[]) =>
      (value) =>
        isMultiple(value, of),
  }),
  operator({
    op: 'is not a multiple of',
    args: [number('multiple')],
    meaning: 'The argument does not divide it without rest.',
    example: { args: [3], matches: 10, misses: 9 },
    compile:
      ([of = 0]: readonly number[]) =>
      (value) =>
        !isMultiple(value, of),
  }),
  operator({
    op: 'is a power of',
    args: [number('base')],
    meaning: 'Is the base raised to a whole number.',
    example: { args: [2], matches: 8, misses: 9 },
    compile:
      ([base = 0]: readonly number[]) =>
      (value) =>
        isPower(value, base),
  }),
];
