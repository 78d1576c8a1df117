import { isList } from '@decision/values';
import { type Lambda } from '../run/lambda';
import { type Evaluate, type Run } from '../run/run';
import { type FormulaNode } from '../syntax/nodes';
import { describeKind } from '../values/operands';
import {
  type FunctionDefinition,
  type FunctionEntry,
  MOST_ARGUMENTS,
  type PieceReduction,
  special,
} from './definition';
import { anything, type CallSite, lambda, list, optional } from './parameters';

/** Reduction of many values to one; they may be added in pieces. Faults name the position of a value among all of them. */
interface Reduction {
  add(values: readonly unknown[]): void;
  /** Result for all values so far. */
  result(): unknown;
}

const failValue = (site: CallSite, expected: string, value: unknown, index: number): never =>
  site.fail('wrong_type', `expected ${expected}, but the value at ${index} (from 0) is ${describeKind(value)}`);

/** The sum and count of numbers, added in order; null is skipped. */
class Total {
  private sum = 0;
  private count = 0;
  private index = 0;

  constructor(private readonly site: CallSite) {}

  add(values: readonly unknown[]): void {
    for (const value of values) {
      this.index += 1;
      if (value === null || value === undefined) continue;
      if (typeof value !== 'number') return failValue(this.site, 'a number', value, this.index - 1);
      this.sum += value;
      this.count += 1;
    }
  }

  result(): { readonly sum: number; readonly count: number } {
    const { sum, count, site } = this;
    return Number.isFinite(sum) ? { sum, count } : site.fail('not_finite', 'the sum is not a finite number');
  }
}

class SumReduction implements Reduction {
  private readonly total: Total;

  constructor(site: CallSite) {
    this.total = new Total(site);
  }

  add(values: readonly unknown[]): void {
    this.total.add(values);
  }

  result(): number {
    return this.total.result().sum;
  }
}

/** The mean; null if there is no number. */
class AverageReduction implements Reduction {
  private readonly total: Total;

  constructor(site: CallSite) {
    this.total = new Total(site);
  }

  add(values: readonly unknown[]): void {
    this.total.add(values);
  }

  result(): number | null {
    const { sum, count } = this.total.result();
    return count === 0 ? null : sum / count;
  }
}

type Precedes = <Value extends number | string>(a: Value, b: Value) => boolean;

const isLess: Precedes = (a, b) => a < b;
const isGreater: Precedes = (a, b) => a > b;

/** The first value in the order of numbers or of strings; null is skipped. */
class ExtremeReduction implements Reduction {
  private best: number | string | null = null;
  private index = 0;

  constructor(
    private readonly site: CallSite,
    private readonly precedes: Precedes,
  ) {}

  add(values: readonly unknown[]): void {
    for (const value of values) {
      this.index += 1;
      if (value !== null && value !== undefined) this.best = this.better(value, this.index - 1);
    }
  }

  result(): number | string | null {
    return this.best;
  }

  private better(value: unknown, index: number): number | string {
    const { best, site, precedes } = this;
    if (typeof value !== 'number' && typeof value !== 'string')
      return failValue(site, 'a number or a string', value, index);
    if (best === null) return value;
    if (typeof value === 'number' && typeof best === 'number') return precedes(value, best) ? value : best;
    if (typeof value === 'string' && typeof best === 'string') return precedes(value, best) ? value : best;
    return failValue(site, `${describeKind(best)} like those before`, value, index);
  }
}

type Gather = (run: Run) => readonly unknown[];

export const isSelector = (node: FormulaNode | undefined): boolean =>
  node?.kind === 'lambda' || (node?.kind === 'literal' && typeof node.value === 'string');

/**
 * `sum(list)`, `sum(list, selector)` or `sum(1, 2, 3)`: a second argument that is a lambda or a string literal selects from each element;
 * all others are values to aggregate.
 */
const aggregate = (
  description: Pick<FunctionEntry, 'name' | 'meaning' | 'example' | 'result'>,
  makeReduction: (site: CallSite) => Reduction,
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
    pieces: { of: 'values', begin: (site) => addingPieces(makeReduction(site)) },
    count: ([, second]) => ({ minimum: 1, maximum: isSelector(second) ? 2 : MOST_ARGUMENTS }),
    formOf: (index, node) => (index === 1 && isSelector(node) ? 'lambda' : 'value'),
    build: (site, given) => {
      const gather = gatherValues(site, given);
      return (run) => reduce(makeReduction(site), gather(run));
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

/** The values of each piece go to the same reduction that the call uses. */
const addingPieces = (reduction: Reduction): PieceReduction => ({
  addPiece: (made) => {
    reduction.add(made as readonly unknown[]); // the list that was made of the piece
    return false;
  },
  result: () => reduction.result(),
});

const averageOf = (site: CallSite): Reduction => new AverageReduction(site);

export const aggregateFunctions: readonly FunctionDefinition[] = [
  aggregate(
    {
      name: 'average',
      meaning: 'The mean of the numbers; null ones are passed over; null if there are none.',
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
        'The greatest of the numbers, or the last of the strings; null ones are passed over; null if there are none.',
      example: 'max(3, 8, 5)',
      result: 8,
    },
    (site) => new ExtremeReduction(site, isGreater),
  ),
  aggregate(
    {
      name: 'min',
      meaning:
        'The smallest of the numbers, or the first of the strings; null ones are passed over; null if there are none.',
      example: 'min([3, 8, 5])',
      result: 3,
    },
    (site) => new ExtremeReduction(site, isLess),
  ),
  aggregate(
    {
      name: 'sum',
      meaning: 'The sum of the numbers; null ones are passed over; 0 if there are none.',
      example: 'sum([1, 2, 3], x => x * x)',
      result: 14,
    },
    (site) => new SumReduction(site),
  ),
];
