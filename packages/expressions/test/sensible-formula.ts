import fc from 'fast-check';
import { type FunctionEntry, formulaFunctions, type FormulaNode } from '../src';

/*
 * Trees whose operands mostly have the right types, so that most of them have an answer. They exercise the functions, while arbitrary trees
 * stop at the first wrong type.
 */

/** Fields that `sensibleNode` refers to. */
export const sensibleFields: Readonly<Record<string, unknown>> = {
  n: 7,
  m: -2.5,
  t: 'some text',
  flag: true,
  numbers: [3, 1, 2, 1],
  words: ['b', 'a', 'b'],
  items: [
    { n: 1, t: 'x', when: '2024-02-29' },
    { n: 5, t: 'y' },
  ],
  o: { n: 1, 'odd key': [true] },
  when: '2024-05-01T10:00:00+02:00',
};

const nowhere = { position: 0, length: 0 } as const;
const literal = (value: string | number | boolean | null): FormulaNode => ({ kind: 'literal', value, ...nowhere });
const name = (...parts: readonly string[]): FormulaNode => ({ kind: 'name', parts, ...nowhere });
const literals = (...values: readonly (string | number | boolean | null)[]): fc.Arbitrary<FormulaNode> =>
  fc.constantFrom(...values.map(literal));

type Sort = 'number' | 'string' | 'boolean' | 'list' | 'any';
type Tie = (sort: Sort) => fc.Arbitrary<FormulaNode>;

const binary = (
  operators: readonly string[],
  left: fc.Arbitrary<FormulaNode>,
  right = left,
): fc.Arbitrary<FormulaNode> =>
  fc
    .tuple(fc.constantFrom(...operators), left, right)
    .map(([operator, a, b]) => ({ kind: 'binary', operator, left: a, right: b, ...nowhere }) as FormulaNode); // an operator by its name

const RESULTS: Readonly<Record<string, Sort>> = {
  object: 'list',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
};
const sortOf = (entry: FunctionEntry): Sort => RESULTS[typeof entry.result] ?? 'any';

const selectorFor = (entry: FunctionEntry, tie: Tie): fc.Arbitrary<FormulaNode> => {
  const condition = /^(all|any|count|filter|first|last|list)$/.test(entry.name);
  const body = condition ? tie('boolean') : tie('number');
  const lambda = body.map((node): FormulaNode => ({ kind: 'lambda', parameter: 'n', body: node, ...nowhere }));
  return fc.oneof(lambda, literals(condition ? 'n > 1' : 'n'));
};

const argumentFor = (type: string, entry: FunctionEntry, tie: Tie): fc.Arbitrary<FormulaNode> => {
  if (type.startsWith('lambda')) return selectorFor(entry, tie);
  if (type === 'regular expression') return literals('a+', '^[a-z ]*$', '');
  if (type === 'number') return tie('number');
  if (type === 'whole number') return literals(0, 1, 2, 5);
  if (type === 'string') return tie('string');
  if (type === 'date') return fc.oneof(literals('2024-02-29', '1969-07-20T20:17Z', 0), fc.constant(name('when')));
  if (type === 'object') return fc.constant(name('o'));
  return type.startsWith('list') ? tie('list') : tie('any');
};

const call = (sort: Sort, tie: Tie): fc.Arbitrary<FormulaNode> => {
  const entries = formulaFunctions.filter((entry) => sort === 'any' || sortOf(entry) === sort);
  return fc.constantFrom(...entries).chain((entry) => {
    const required = entry.parameters.filter((parameter) => !parameter.optional).length;
    const given = entry.parameters.map((parameter) => argumentFor(parameter.type, entry, tie));
    return fc
      .tuple(fc.integer({ min: required, max: given.length }), fc.tuple(...given))
      .map(([count, nodes]): FormulaNode => ({
        kind: 'call',
        name: entry.name,
        arguments: nodes.slice(0, count),
        ...nowhere,
      }));
  });
};

const conditional = (sort: Sort, tie: Tie): fc.Arbitrary<FormulaNode> =>
  fc
    .tuple(tie('boolean'), tie(sort), tie(sort))
    .map(([test, yes, no]) => ({ kind: 'conditional', test, yes, no, ...nowhere }));

const negation = (tie: Tie): fc.Arbitrary<FormulaNode> =>
  tie('boolean').map((operand) => ({ kind: 'unary', operator: 'not', operand, ...nowhere }));

const element = (tie: Tie): fc.Arbitrary<FormulaNode> =>
  fc.tuple(tie('list'), literals(0, 1)).map(([object, index]) => ({ kind: 'index', object, index, ...nowhere }));

const shape = { maxDepth: 5, depthIdentifier: 'sensible' } as const;

/** A tree over `sensibleFields`, without positions. */
export const sensibleNode: fc.Arbitrary<FormulaNode> = fc.letrec<Record<Sort, FormulaNode>>((tie) => ({
  number: fc.oneof(
    shape,
    literals(0, 1, 2, 3.5, 100),
    fc.constantFrom(name('n'), name('m'), name('o', 'n')),
    binary(['+', '-', '*', '/', '%'], tie('number')),
    call('number', tie),
    conditional('number', tie),
  ),
  string: fc.oneof(
    shape,
    literals('', 'a', 'x y', '😀', '12'),
    fc.constant(name('t')),
    binary(['+'], tie('string')),
    call('string', tie),
    conditional('string', tie),
  ),
  boolean: fc.oneof(
    shape,
    literals(true, false),
    fc.constantFrom(name('flag'), name('missing')),
    binary(['<', '<=', '>', '>='], tie('number')),
    binary(['==', '!='], tie('any')),
    binary(['in'], tie('any'), tie('list')),
    binary(['and', 'or'], tie('boolean')),
    negation(tie),
    call('boolean', tie),
  ),
  list: fc.oneof(
    shape,
    fc.constantFrom(name('numbers'), name('words'), name('items')),
    fc.array(tie('number'), { maxLength: 3 }).map((items): FormulaNode => ({ kind: 'list', items, ...nowhere })),
    call('list', tie),
    conditional('list', tie),
  ),
  any: fc.oneof(shape, literals(null, 1, 'a'), tie('number'), tie('string'), tie('boolean'), tie('list'), element(tie)),
})).any;
