import { parseFormula } from '../syntax/parser';
import { formulaReferences, type FormulaReferences } from './formula-references';

const referencesOf = (text: string): FormulaReferences => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return formulaReferences(parsing.formula);
};

const none: FormulaReferences = { fields: [], functions: [], references: [], hostFunctions: [] };

describe('F92: what a formula mentions', () => {
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
