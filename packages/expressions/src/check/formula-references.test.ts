import { formulaFunctions } from '../functions/catalogue';
import { parseFormula } from '../syntax/parser';
import { formulaReferences, type FormulaReferences, readingOfArgument } from './formula-references';

const referencesOf = (text: string): FormulaReferences => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return formulaReferences(parsing.formula);
};

const none: FormulaReferences = { fields: [], functions: [], references: [], hostFunctions: [] };

describe('F92: the names in a formula', () => {
  it.each<[string, Partial<FormulaReferences>]>([
    ['1 + 2', {}],
    ['a + b.c + a', { fields: ['a', 'b.c'] }],
    ['`my field`', { fields: ['my field'] }],
    ['(a).b[c]', { fields: ['a', 'c'] }],
    ['round(a)', { fields: ['a'] }],
    ['$f(a) + $g.h($f(1))', { fields: ['a'], functions: ['f', 'g.h'] }],
    ['$rate + $relations.orders.total', { references: ['$rate', '$relations.orders.total'] }],
    ['map(a, x => x.y + z)', { fields: ['a', 'z'] }],
    ['[map(a, x => x), x]', { fields: ['a', 'x'] }],
    ["filter(a, 'b > $rate + $f(c)')", { fields: ['a'], functions: ['f'], references: ['$rate'] }],
    ["filter(a, 'b >')", { fields: ['a'] }],
    ["history('a') + b", { fields: ['b'], hostFunctions: ['history'] }],
    ["contains(a, 'b')", { fields: ['a'] }],
  ])('%s', (text, expected) => {
    expect(referencesOf(text)).toEqual({ ...none, ...expected });
  });
});

const readingsOf = (text: string): readonly string[] => {
  const parsing = parseFormula(text);
  if (!parsing.ok || parsing.formula.root.kind !== 'call') throw new Error(`${text} is no call.`);
  const { root } = parsing.formula;
  return root.arguments.map((_argument, index) => readingOfArgument(root, index));
};

describe('the part of its arguments that a call reads', () => {
  it.each([
    ['sum(list, o => o.total)', ['parts', 'parts']],
    ['max(a, b, c)', ['parts', 'parts', 'parts']],
    ['filter(list, o => o.open)', ['answered', 'parts']],
    ['map(list, o => o)', ['parts', 'answered']],
    ['sort(list, o => o.total)', ['answered', 'whole']],
    ['first(list)', ['answered']],
    ["first(list, 'total')", ['parts', 'whole']],
    ["first(list, 'total > 1')", ['answered', 'whole']],
    ['first(list, o => o.open)', ['answered', 'whole']],
    ['contains(list, o)', ['whole', 'whole']],
    ["history('name')", ['whole']],
    ['none(list)', ['whole']],
  ])('%s', (text, readings) => {
    expect(readingsOf(text)).toEqual(readings);
  });

  it('is all of them, unless the catalogue says otherwise', () => {
    const lessThanWhole = formulaFunctions
      .map(({ name }) => name)
      .filter((name) => readingsOf(`${name}(a)`).some((reading) => reading !== 'whole'));
    expect(lessThanWhole).toEqual([
      ...[
        'all',
        'any',
        'average',
        'avg',
        'count',
        'filter',
        'first',
        'is_null',
        'last',
        'length',
        'list',
        'map',
        'max',
      ],
      ...['min', 'reverse', 'slice', 'sort', 'sum', 'unique'],
    ]);
  });
});
