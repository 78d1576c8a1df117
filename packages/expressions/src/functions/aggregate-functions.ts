import { type Evaluate, type Run } from '../run/run';
import { type Lambda } from '../run/lambda';
import { type FormulaNode } from '../syntax/nodes';
import { describeKind, isList } from '../values/kind';
import { type CallSite } from './call-site';
import { type FunctionDefinition, type FunctionEntry, MOST_ARGUMENTS, special } from './definition';
import { anything, lambda, list, optional } from './parameters';

type Gather = (run: Run) => readonly unknown[];

const isSelector = (node: FormulaNode | undefined): boolean =>
  node?.kind === 'lambda' || (node?.kind === 'literal' && typeof node.value === 'string');

/**
 * `sum(list)`, `sum(list, selector)` or `sum(1, 2, 3)`: a second argument that is a lambda, or a string written in the formula, selects
 * from each element; all others are values to aggregate.
 */
const aggregate = (
  description: Pick<FunctionEntry, 'name' | 'meaning' | 'example' | 'result'>,
  reduce: (values: readonly unknown[], site: CallSite) => unknown,
): FunctionDefinition =>
  special({
    ...description,
    group: 'list',
    parameters: [
      { ...anything('list'), type: 'list, or numbers' },
      { ...optional(lambda('selector')), type: 'lambda, or number' },
    ],
    variadic: true,
    count: ([, second]) => ({ minimum: 1, maximum: isSelector(second) ? 2 : MOST_ARGUMENTS }),
    formOf: (index, node) => (index === 1 && isSelector(node) ? 'lambda' : 'value'),
    build: (site, given) => {
      const gather = gatherValues(site, given);
      return (run) => reduce(gather(run), site);
    },
  });

const gatherValues = (site: CallSite, given: readonly Evaluate[]): Gather => {
  const [first, second] = given;
  if (first && second && isSelector(site.node.arguments[1])) {
    return (run) => mapItems(list().read(first(run), site, 0), second(run) as Lambda, run, site); // compiled from a selector
  }
  if (first && !second) return (run) => readListOrNumber(first(run), run, site);
  return (run) => given.map((evaluate) => evaluate(run));
};

const mapItems = (items: readonly unknown[], selector: Lambda, run: Run, site: CallSite): unknown[] => {
  run.makeList(items.length, site.node);
  return items.map((item) => selector.apply(run, item));
};

const readListOrNumber = (value: unknown, run: Run, site: CallSite): readonly unknown[] => {
  if (typeof value === 'number') return [value];
  if (!isList(value)) return site.failType(0, 'a list or numbers', value);
  run.chargeList(value, site.node);
  return value;
};

const failValue = (site: CallSite, expected: string, value: unknown, index: number): never =>
  site.fail('wrong_type', `expected ${expected}, but the value at ${index} (from 0) is ${describeKind(value)}`);

/** The sum and count of the numbers; null is passed over. */
const addUp = (values: readonly unknown[], site: CallSite): { readonly sum: number; readonly count: number } => {
  let sum = 0;
  let count = 0;
  values.forEach((value, index) => {
    if (value === null || value === undefined) return;
    if (typeof value !== 'number') return failValue(site, 'a number', value, index);
    sum += value;
    count += 1;
  });
  return Number.isFinite(sum) ? { sum, count } : site.fail('not_finite', 'the sum is not a finite number');
};

const averageOf = (values: readonly unknown[], site: CallSite): number | null => {
  const { sum, count } = addUp(values, site);
  return count === 0 ? null : sum / count;
};

/** The value that no other precedes, by a comparison of numbers or of strings; null is passed over. */
const extremeOf = (
  values: readonly unknown[],
  site: CallSite,
  precedes: <Value extends number | string>(a: Value, b: Value) => boolean,
): number | string | null => {
  let best: number | string | null = null;
  values.forEach((value, index) => {
    if (value === null || value === undefined) return;
    if (typeof value !== 'number' && typeof value !== 'string')
      return failValue(site, 'a number or a string', value, index);
    if (best === null) best = value;
    else if (typeof value === 'number' && typeof best === 'number') best = precedes(value, best) ? value : best;
    else if (typeof value === 'string' && typeof best === 'string') best = precedes(value, best) ? value : best;
    else failValue(site, `${describeKind(best)} like those before`, value, index);
  });
  return best;
};

export const aggregateFunctions: readonly FunctionDefinition[] = [
  aggregate(
    {
      name: 'average',
      meaning: 'The mean of the numbers; null ones are passed over; null where there are none.',
      example: 'average([1, 2, 6])',
      result: 3,
    },
    averageOf,
  ),
  aggregate({ name: 'avg', meaning: 'The same as average.', example: 'avg(1, 2, 6)', result: 3 }, averageOf),
  aggregate(
    {
      name: 'max',
      meaning:
        'The greatest of the numbers, or the last of the strings; null ones are passed over; null where there are none.',
      example: 'max(3, 8, 5)',
      result: 8,
    },
    (values, site) => extremeOf(values, site, (a, b) => a > b),
  ),
  aggregate(
    {
      name: 'min',
      meaning:
        'The smallest of the numbers, or the first of the strings; null ones are passed over; null where there are none.',
      example: 'min([3, 8, 5])',
      result: 3,
    },
    (values, site) => extremeOf(values, site, (a, b) => a < b),
  ),
  aggregate(
    {
      name: 'sum',
      meaning: 'The sum of the numbers; null ones are passed over; 0 where there are none.',
      example: 'sum([1, 2, 3], x => x * x)',
      result: 14,
    },
    (values, site) => addUp(values, site).sum,
  ),
];
