import { PointSet } from '../values/point-set';
import { nextAbove, nextBelow } from '../values/points';
import { number, numbers } from './argument';
import { negate, outside, test, within } from './condition';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<number>('number');

const ordered = (start: number, end: number): boolean => start <= end;

/** From this multiple of the argument on, the rounding error of a division is no longer far below a half. */
const MOST_ROUNDED = 2 ** 30;

/** The check of a multiple is exact for whole numbers and within rounding for decimal ones: 0.3 is a multiple of 0.1. */
const isMultiple = (value: number, of: number): boolean => {
  if (of === 0 || !Number.isFinite(value)) return value === of;
  if (Number.isInteger(value) && Number.isInteger(of)) return value % of === 0;
  const quotient = value / of;
  if (Math.abs(quotient) >= MOST_ROUNDED) return isDecimalMultiple(value, of);
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON * 2;
};

/** Compares the shortest decimal representations of the numbers. */
const isDecimalMultiple = (value: number, of: number): boolean => {
  const [a, b] = [decimalOf(value), decimalOf(of)];
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = [a, b].map((decimal) => decimal.digits * 10n ** BigInt(decimal.exponent - exponent));
  return (scaled[0] ?? 0n) % (scaled[1] ?? 1n) === 0n;
};

/** A finite number as digits times a power of ten. */
const decimalOf = (value: number): { readonly digits: bigint; readonly exponent: number } => {
  const [significand = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = significand.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
};

/** Powers of negative bases and of fractions count: -8 of -2, 0.25 of 0.5, and 0.25 of 2. */
const isPower = (value: number, base: number): boolean => {
  if (value === 1 && base !== 0) return true;
  const size = Math.abs(base);
  if (value === 0 || size === 0 || size === 1 || !Number.isFinite(value)) return value === base;
  if (Number.isInteger(base)) return isPowerOfWhole(value, base);
  if (Number.isInteger(1 / base)) return isPowerOfWhole(value, 1 / base);
  // No other fraction has a whole power.
  if (Number.isSafeInteger(value)) return false;
  return isNear(value, base ** exponentOf(value, base));
};

/** The only whole exponent that can produce the value. */
const exponentOf = (value: number, base: number): number =>
  Math.round(Math.log(Math.abs(value)) / Math.log(Math.abs(base)));

const isNear = (value: number, power: number): boolean =>
  Math.abs(power - value) <= Math.abs(value) * Number.EPSILON * 4;

/** For a whole base, the power is computed exactly, and the value must be the nearest double. */
const isPowerOfWhole = (value: number, base: number): boolean => {
  const exponent = exponentOf(value, base);
  if (!isNear(value, base ** exponent)) return false;
  const power = BigInt(base) ** BigInt(Math.abs(exponent));
  const nearest = Number(power);
  if (exponent >= 0) return value === nearest;
  const inverse = Number.isFinite(nearest) ? 1 / nearest : base ** exponent;
  // The inverse of a rounded power may differ by one double.
  const isRounded = !Number.isFinite(nearest) || BigInt(nearest) !== power;
  return value === inverse || (isRounded && isBeside(value, inverse));
};

const isBeside = (a: number, b: number): boolean => a === nextAbove(b) || a === nextBelow(b);

/** Operators of number fields, in addition to those of every type. */
export const numberOperators: readonly Operator[] = [
  operator({
    op: 'equals',
    args: [number('value')],
    meaning: 'Is the same number.',
    example: [[5], 5, 6],
    condition: (value) => within(value, value),
  }),
  operator({
    op: 'does not equal',
    args: [number('value')],
    meaning: 'Is another number.',
    example: [[5], 6, 5],
    condition: (value) => outside(value, value),
  }),
  operator({
    op: 'greater than',
    args: [number('bound')],
    meaning: 'Lies above the bound.',
    example: [[5], 5.1, 5],
    condition: (bound) => within(nextAbove(bound), Infinity),
  }),
  operator({
    op: 'less than',
    args: [number('bound')],
    meaning: 'Lies below the bound.',
    example: [[5], 4.9, 5],
    condition: (bound) => within(-Infinity, nextBelow(bound)),
  }),
  operator({
    op: 'greater than or equal to',
    args: [number('bound')],
    meaning: 'Is the bound or lies above it.',
    example: [[5], 5, 4.9],
    condition: (bound) => within(bound, Infinity),
  }),
  operator({
    op: 'less than or equal to',
    args: [number('bound')],
    meaning: 'Is the bound or lies below it.',
    example: [[5], 5, 5.1],
    condition: (bound) => within(-Infinity, bound),
  }),
  operator({
    op: 'between',
    args: [number('start'), number('end')],
    meaning: 'Lies between start and end, both included.',
    example: [[1, 5], 5, 5.1],
    isInOrder: ordered,
    condition: within,
  }),
  operator({
    op: 'not between',
    args: [number('start'), number('end')],
    meaning: 'Lies below start or above end.',
    example: [[1, 5], 5.1, 5],
    isInOrder: ordered,
    condition: outside,
  }),
  operator({
    op: 'is included in',
    args: [numbers('value')],
    meaning: 'Is one of the listed numbers.',
    example: [[[1, 2]], 2, 3],
    condition: (values) => ({ kind: 'among', values: new PointSet(values) }),
  }),
  operator({
    op: 'is even',
    args: [],
    meaning: 'Is a whole number that 2 divides.',
    example: [[], 4, 3],
    condition: () => test((value) => value % 2 === 0),
  }),
  operator({
    op: 'is odd',
    args: [],
    meaning: 'Is a whole number that 2 does not divide.',
    example: [[], 3, 4],
    condition: () => test((value) => Math.abs(value % 2) === 1),
  }),
  operator({
    op: 'is positive',
    args: [],
    meaning: 'Lies above zero.',
    example: [[], 1, 0],
    condition: () => within(nextAbove(0), Infinity),
  }),
  operator({
    op: 'is negative',
    args: [],
    meaning: 'Lies below zero.',
    example: [[], -1, 0],
    condition: () => within(-Infinity, nextBelow(0)),
  }),
  operator({
    op: 'is zero',
    args: [],
    meaning: 'Is zero.',
    example: [[], 0, 1],
    condition: () => within(0, 0),
  }),
  operator({
    op: 'is not zero',
    args: [],
    meaning: 'Is another number than zero.',
    example: [[], 1, 0],
    condition: () => outside(0, 0),
  }),
  operator({
    op: 'is a multiple of',
    args: [number('multiple')],
    meaning: 'Is a whole number of times the argument, rounding errors of decimals aside; of 0 only 0 is.',
    example: [[5], 15, 16],
    condition: (of) => test((value) => isMultiple(value, of)),
  }),
  operator({
    op: 'is not a multiple of',
    args: [number('multiple')],
    meaning: 'Is not a whole number of times the argument.',
    example: [[5], 16, 15],
    condition: (of) => negate(test((value) => isMultiple(value, of))),
  }),
  operator({
    op: 'is a power of',
    args: [number('base')],
    meaning: 'Is the base to the power of some whole number.',
    example: [[2], 8, 6],
    condition: (base) => test((value) => isPower(value, base)),
  }),
];
