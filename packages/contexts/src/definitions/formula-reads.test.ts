import { type Formula, formulaFunctions, parseFormula } from '@decision/expressions';
import { base, customersAndOrders, derived, modelOf, NOW } from '../../test/fixtures';
import { aggregatesOver, RelationFolds } from '../derived/aggregates';
import { deriveFacts } from '../derived/derive-facts';
import { type Facts } from '../facts/facts';
import { type FormulaReads, readsOf } from './formula-reads';

const parsed = (text: string): Formula => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(`${text}: ${parsing.problem.message}`);
  return parsing.formula;
};
const reads = (text: string): FormulaReads => readsOf(parsed(text));

/** Every argument position of every function in the catalogue, and of those that contexts add. */
const places = [
  ...formulaFunctions.flatMap(({ name, parameters }) =>
    parameters.map(({ type }, index) => ({ name, index, type, count: parameters.length })),
  ),
  { name: 'history', index: 1, type: 'value', count: 2 },
];

const callOf = (name: string, count: number, argumentAt: (index: number) => string): string =>
  `${name}(${Array.from({ length: count }, (_, index) => argumentAt(index)).join(', ')})`;

describe('a string in a formula is plain text', () => {
  const MISLEADING = ['$relations', '$orders', "history('name')", 'previous(name)', 'total + 1', 'orders.total'];
  const values = places.filter(({ type }) => !/lambda|selector/.test(type));

  it.each(values)('argument $index of $name', ({ name, index, count }) => {
    const call = (text: string): string => callOf(name, count, (at) => (at === index ? JSON.stringify(text) : 'name'));
    for (const text of MISLEADING) expect(reads(call(text))).toEqual(reads(call('text')));
  });

  it.each([
    ['ifelse(vip, "x", "$relations")', false],
    ['contains(name, "history(\'name\')")', false],
    ['name == "$orders"', false],
    ['["$relations"][0]', false],
    ['count($orders, "total > 1")', false],
    ['$relations', true],
    ['count($orders, "length($relations) > 1")', true],
  ])('%s names no relationship: %s', (text, namesNoRelation) => {
    expect(reads(text)).toMatchObject({ namesNoRelation, history: [] });
  });

  it('except selectors, which are formulas in quotes', () => {
    expect([...reads('sum($orders, "total")').related]).toEqual(['total']);
    expect([...reads('filter($orders, "state == \'open\'")').related]).toEqual(['state']);
  });
});

describe('C45 an aggregate computed in pieces from only the facts that it reads equals that of the whole list', () => {
  const ITEMS: readonly Facts[] = [
    { id: '1', customer: 'c', total: 5, state: 'open' },
    { id: '2', customer: 'c', total: 6 },
    { id: '3', customer: 'c' },
  ];
  const { world } = customersAndOrders();

  const compare = (formula: string): boolean => {
    const model = modelOf(
      { slug: 'customers', base: base({ rate: 'number' }), derived: derived({ answer: formula }) },
      world,
    );
    const aggregates = aggregatesOver(model, 'orders');
    if (aggregates.length === 0) return false;
    const read = new Set(aggregates.flatMap(({ facts }) => [...facts]));
    const folds = new RelationFolds(aggregates, NOW);
    for (const item of ITEMS) folds.add([Object.fromEntries(Object.entries(item).filter(([key]) => read.has(key)))]);
    const options = { now: NOW, related: { orders: ITEMS } };
    const whole = deriveFacts(model, { id: 'c' }, options);
    const pieces = deriveFacts(model, { id: 'c' }, { ...options, aggregates: { orders: folds.result() } });
    expect({ formula, derived: pieces.derived }).toEqual({ formula, derived: whole.derived });
    return true;
  };

  const WRAPPERS = [
    'count($orders, o => %)',
    'max($orders, o => %)',
    'any($orders, o => not %)',
    'length(filter($orders, o => %))',
  ];
  const wrapped = (inner: string): readonly string[] => WRAPPERS.map((wrapper) => wrapper.replace('%', inner));

  it.each(formulaFunctions.filter(({ parameters }) => parameters.length > 0))(
    'that calls $name',
    ({ name, parameters }) => {
      const OTHERS = ['o', '1', "'a'", '[1, 2]', 'x => x', '[o]'];
      for (const [index, { type }] of parameters.entries()) {
        for (const other of OTHERS) {
          const inner = callOf(name, parameters.length, (at) =>
            at === index ? (type === 'lambda' ? 'x => o' : 'o') : parameters[at]?.type === 'lambda' ? 'x => x' : other,
          );
          for (const formula of wrapped(inner)) if (isUsable(formula)) compare(formula);
        }
        const alone = callOf(name, Math.max(1, parameters.filter(({ optional }) => !optional).length), () => 'o');
        for (const formula of wrapped(alone)) if (isUsable(formula)) compare(formula);
      }
    },
  );

  /** Some calls are problems of the definition; their answers do not matter. */
  const isUsable = (formula: string): boolean => {
    try {
      modelOf({ slug: 'customers', base: base({ rate: 'number' }), derived: derived({ answer: formula }) }, world);
      return true;
    } catch {
      return false;
    }
  };

  it.each([
    ...wrapped('is_empty(o)'),
    ...wrapped('is_null(o)'),
    ...wrapped('length(keys(o)) > 2'),
    ...wrapped('o == o.x'),
    ...wrapped('is_empty(o) ? o.total : 1'),
    ...wrapped('is_empty(coalesce(o, 1))'),
    ...wrapped('is_empty([o][0])'),
    "count(map($orders, o => is_empty(o) ? 'a' : 'b'))",
    'sum($orders, o => is_empty(o) ? 1 : 2)',
  ])('%s', (formula) => {
    compare(formula);
  });

  it('tells which aggregates read some facts alone', () => {
    expect(compare("sum($orders, 'total')")).toBe(true);
    expect(compare('count($orders, o => is_empty(o.total))')).toBe(true);
  });
});
