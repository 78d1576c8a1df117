import { isList } from '@decision/values';
import { type Evaluate, type Run } from '../run/run';
import { type Lambda } from '../run/lambda';
import { type FormulaNode } from '../syntax/nodes';
import { type CallSite } from './call-site';
import { type FunctionDefinition, type FunctionEntry, MOST_ARGUMENTS, special } from './definition';
import { anything, lambda, list, optional } from './parameters';
import { AverageReduction, ExtremeReduction, isGreater, isLess, type Reduction, SumReduction } from './reductions';

type Gather = (run: Run) => readonly unknown[];

export const isSelector = (node: FormulaNode | undefined): boolean =>
  node?.kind === 'lambda' || (node?.kind === 'literal' && typeof node.value === 'string');

/**
 * `sum(list)`, `sum(list, selector)` or `sum(1, 2, 3)`: a second argument that is a lambda, or a string written in the formula, selects
 * from each element; all others are values to aggregate.
 */
const aggregate = (
  description: Pick<FunctionEntry, 'name' | 'meaning' | 'example' | 'result'>,
  answer: (values: readonly unknown[], site: CallSite) => unknown,
): FunctionDefinition =>
  special({
    ...description,
    group: 'list',
    parameters: [
      { ...anything('list'), type: 'list, or numbers' },
      { ...optional(lambda('selector')), type: 'lambda, or number' },
    ],
    variadic: true,
    reads: ['parts'],
    count: ([, second]) => ({ minimum: 1, maximum: isSelector(second) ? 2 : MOST_ARGUMENTS }),
    formOf: (index, node) => (index === 1 && isSelector(node) ? 'lambda' : 'value'),
    build: (site, given) => {
      const gather = gatherValues(site, given);
      return (run) => answer(gather(run), site);
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

const reduce = (reduction: Reduction, values: readonly unknown[]): unknown => {
  reduction.add(values);
  return reduction.result();
};

const averageOf = (values: readonly unknown[], site: CallSite): unknown => reduce(new AverageReduction(site), values);

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
    (values, site) => reduce(new ExtremeReduction(site, isGreater), values),
  ),
  aggregate(
    {
      name: 'min',
      meaning:
        'The smallest of the numbers, or the first of the strings; null ones are passed over; null where there are none.',
      example: 'min([3, 8, 5])',
      result: 3,
    },
    (values, site) => reduce(new ExtremeReduction(site, isLess), values),
  ),
  aggregate(
    {
      name: 'sum',
      meaning: 'The sum of the numbers; null ones are passed over; 0 where there are none.',
      example: 'sum([1, 2, 3], x => x * x)',
      result: 14,
    },
    (values, site) => reduce(new SumReduction(site), values),
  ),
];
