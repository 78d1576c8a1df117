import { parseFormula } from './parser';
import { printNode } from './printer';

const print = (text: string): string => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return printNode(parsing.formula.root);
};

describe('F10: the canonical spelling', () => {
  it.each([
    ['1+2*3', '1 + 2 * 3'],
    ['(1+2)*3', '(1 + 2) * 3'],
    ['((1+2))', '1 + 2'],
    ['1-(2-3)', '1 - (2 - 3)'],
    ['(1-2)-3', '1 - 2 - 3'],
    ['2**3**2', '2 ** 3 ** 2'],
    ['(2**3)**2', '(2 ** 3) ** 2'],
    ['-2**2', '-2 ** 2'],
    ['(-2)**2', '(-2) ** 2'],
    ['2**-1', '2 ** (-1)'],
    ['- -a', '--a'],
    ['a- -b', 'a - -b'],
    ['a=b', 'a == b'],
    ['a<>b', 'a != b'],
    ['a&&b||!c', 'a and b or not c'],
    ['a and (b or c)', 'a and (b or c)'],
    ['!a == b', '(not a) == b'],
    ['not a == b', 'not a == b'],
    ['a not in [1]', 'not a in [1]'],
    ['(a<b)==c', '(a < b) == c'],
    ['a?b:c?d:e', 'a ? b : c ? d : e'],
    ['(a?b:c)?d:e', '(a ? b : c) ? d : e'],
    ['a?(b?1:2):3', 'a ? b ? 1 : 2 : 3'],
    ['1+(a?b:c)', '1 + (a ? b : c)'],
    ["'it''s'".replace("''", "\\'"), '"it\'s"'],
    ["'a\\nb\\u0000'", '"a\\nb\\u0000"'],
    ['"\\ud800"', '"\\ud800"'],
    ['1e21', '1e+21'],
    ['.50', '0.5'],
    ['[ ]', '[]'],
    ['f( )', 'f()'],
    ['$f( 1,2 )', '$f(1, 2)'],
    ['$a . b(1)', '$a.b(1)'],
    ['$`a b`(1)', '$`a b`(1)'],
    ['`$a b`.c', '`$a b`.c'],
    ['`abc`', 'abc'],
    ['`a.b`', '`a.b`'],
    ['`not`', '`not`'],
    ['a.not', 'a.not'],
    ['`a\\`"\\\\b`', '`a\\`\\"\\\\b`'],
    ['(a).b', '(a).b'],
    ['(1).a', '(1).a'],
    ['"x".a', '"x".a'],
    ['(a+b).c', '(a + b).c'],
    ['(a+b)[0]', '(a + b)[0]'],
    ['map(a,x=>x.b+1)', 'map(a, x => x.b + 1)'],
    ['map(a,`x y`=>`x y`?1:2)', 'map(a, `x y` => `x y` ? 1 : 2)'],
    ['map(a,x=>map(x,y=>y))', 'map(a, x => map(x, y => y))'],
  ])('of %s is %s', (text, canonical) => {
    expect(print(text)).toBe(canonical);
    expect(print(canonical)).toBe(canonical);
  });
});
