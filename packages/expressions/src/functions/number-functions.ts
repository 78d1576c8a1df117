import { roundTo } from '../values/round';
import { strict } from './definition';
import { type CallSite, integer, number, optional } from './parameters';

/** A result that is not a finite number ends the run. */
const finite = (site: CallSite, result: number): number =>
  Number.isFinite(result) ? result : site.fail('not_finite', 'the result is not a finite number');

const positive = (site: CallSite, x: number): number =>
  x > 0 ? x : site.fail('out_of_range', 'the number must be greater than 0', 0);

const group = 'number';
const x = number('x');

export const numberFunctions = [
  strict({
    name: 'abs',
    group,
    parameters: [x],
    meaning: 'The number without its sign.',
    example: 'abs(-3)',
    result: 3,
    apply: (_site, _run, value) => Math.abs(value),
  }),
  strict({
    name: 'ceil',
    group,
    parameters: [x],
    meaning: 'The smallest whole number that is not less than x.',
    example: 'ceil(2.1)',
    result: 3,
    apply: (_site, _run, value) => Math.ceil(value),
  }),
  strict({
    name: 'clamp',
    group,
    parameters: [x, number('low'), number('high')],
    meaning: 'x, or the nearer bound if it is outside; both bounds are allowed values.',
    example: 'clamp(120, 0, 100)',
    result: 100,
    apply: (site, _run, value, low, high) =>
      low <= high
        ? Math.min(Math.max(value, low), high)
        : site.fail('out_of_range', 'low must not be greater than high', 1),
  }),
  strict({
    name: 'exp',
    group,
    parameters: [x],
    meaning: 'e to the power of x.',
    example: 'exp(0)',
    result: 1,
    apply: (site, _run, value) => finite(site, Math.exp(value)),
  }),
  strict({
    name: 'floor',
    group,
    parameters: [x],
    meaning: 'The greatest whole number that is not greater than x.',
    example: 'floor(-2.1)',
    result: -3,
    apply: (_site, _run, value) => Math.floor(value),
  }),
  strict({
    name: 'log',
    group,
    parameters: [x],
    meaning: 'The natural logarithm; x must be greater than 0.',
    example: 'log(1)',
    result: 0,
    apply: (site, _run, value) => Math.log(positive(site, value)),
  }),
  strict({
    name: 'log10',
    group,
    parameters: [x],
    meaning: 'The logarithm to base 10; x must be greater than 0.',
    example: 'log10(1000)',
    result: 3,
    apply: (site, _run, value) => Math.log10(positive(site, value)),
  }),
  strict({
    name: 'power',
    group,
    parameters: [number('base'), number('exponent')],
    meaning: 'The base to the power of the exponent, as base ** exponent.',
    example: 'power(2, 10)',
    result: 1024,
    apply: (site, _run, base, exponent) => finite(site, base ** exponent),
  }),
  strict({
    name: 'round',
    group,
    parameters: [x, optional(integer('digits', -15, 15))],
    meaning:
      'x rounded to so many decimal digits (default 0; negative ones round to tens, hundreds, ...); halves away from zero.',
    example: 'round(1.005, 2)',
    result: 1.01,
    apply: (_site, _run, value, digits = 0) => roundTo(value, digits),
  }),
  strict({
    name: 'sign',
    group,
    parameters: [x],
    meaning: '-1, 0 or 1, as x is negative, zero or positive.',
    example: 'sign(-7)',
    result: -1,
    apply: (_site, _run, value) => Math.sign(value),
  }),
  strict({
    name: 'sqrt',
    group,
    parameters: [x],
    meaning: 'The square root; x must not be negative.',
    example: 'sqrt(9)',
    result: 3,
    apply: (site, _run, value) =>
      value >= 0 ? Math.sqrt(value) : site.fail('out_of_range', 'the number must not be negative', 0),
  }),
  strict({
    name: 'truncate',
    group,
    parameters: [x],
    meaning: 'x without its fraction.',
    example: 'truncate(-2.9)',
    result: -2,
    apply: (_site, _run, value) => Math.trunc(value),
  }),
];
