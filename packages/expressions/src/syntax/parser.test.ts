import { childrenOf, formulaLimits, type FormulaNode } from './nodes';
import { parseFormula } from './parser';

const rootOf = (text: string): FormulaNode => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return parsing.formula.root;
};

const problemOf = (text: string): { code: string; message: string; caret: string; position: number } => {
  const parsing = parseFormula(text);
  if (parsing.ok) throw new Error(`parsed: ${text}`);
  return parsing.problem;
};

const allNodes = (node: FormulaNode): FormulaNode[] => [node, ...childrenOf(node).flatMap(allNodes)];

describe('nodes', () => {
  it('have the range of their text', () => {
    const text = 'a.b + sum([1, "x"], v => (v) * 2)[0] ? not c : -d.e';
    const spelled = allNodes(rootOf(text)).map((node) => text.slice(node.position, node.position + node.length));
    expect(spelled).toEqual([
      text,
      'a.b + sum([1, "x"], v => (v) * 2)[0]',
      'a.b',
      'sum([1, "x"], v => (v) * 2)[0]',
      'sum([1, "x"], v => (v) * 2)',
      '[1, "x"]',
      '1',
      '"x"',
      'v => (v) * 2',
      '(v) * 2',
      'v',
      '2',
      '0',
      'not c',
      'c',
      '-d.e',
      'd.e',
    ]);
  });

  it('are frozen, and so are their lists', () => {
    for (const node of allNodes(rootOf('f(a, [1, b], x => x.y) and $g(`q r`.s)'))) {
      expect(Object.isFrozen(node)).toBe(true);
      expect(Object.values(node).filter((value) => Array.isArray(value) && !Object.isFrozen(value))).toEqual([]);
    }
  });

  it('make one name of dotted parts, and members of anything else', () => {
    expect(rootOf('a.b.c')).toMatchObject({ kind: 'name', parts: ['a', 'b', 'c'] });
    expect(rootOf('(a).b')).toMatchObject({ kind: 'member', key: 'b', object: { kind: 'name', parts: ['a'] } });
    expect(rootOf('a[0].b')).toMatchObject({ kind: 'member', key: 'b', object: { kind: 'index' } });
    expect(rootOf('`a.b`.c')).toMatchObject({ kind: 'name', parts: ['a.b', 'c'] });
  });

  it('distinguish function values from functions', () => {
    expect(rootOf('f(1)')).toMatchObject({ kind: 'call', name: 'f' });
    expect(rootOf('$f(1)')).toMatchObject({ kind: 'value-call', name: 'f' });
    expect(rootOf('$a.b.c(1)')).toMatchObject({ kind: 'value-call', name: 'a.b.c' });
    expect(rootOf('$f')).toMatchObject({ kind: 'name', parts: ['$f'] });
  });
});

describe('F11: faults', () => {
  it('show the position', () => {
    expect(problemOf('price *\n  (quantity + )')).toMatchObject({
      code: 'unexpected_text',
      message: 'expected a value, found ")"',
      line: 2,
      column: 15,
      caret: '  (quantity + )\n              ^',
    });
  });

  it.each([
    ['1 +', 'expected a value, found the end of the formula'],
    ['1 2', 'expected an operator or the end of the formula, found a number'],
    ['a "b"', 'expected an operator or the end of the formula, found a string'],
    ['a b', 'expected an operator or the end of the formula, found the name b'],
    ['a AND b', 'expected an operator or the end of the formula, found the name AND (the operator is written and)'],
    ['f(1 2)', 'expected a comma or the closing ")", found a number'],
    ['a => 1', 'expected an operator or the end of the formula, found "=>" (to compare, write >=)'],
    ['[1, 2)', 'expected a comma or the closing "]", found ")"'],
    ['a ? b', 'expected the ":" of the conditional, found the end of the formula'],
    ['a[1', 'expected the closing "]", found the end of the formula'],
    ['and', 'expected a value (a field named and is written in backticks), found "and"'],
    ['a === b', '"===" means nothing here; equality is written =='],
    ['a !== b', '"!==" means nothing here; inequality is written !='],
    ['2 ^ 3', '"^" means nothing here; a power is written **'],
    ['a | b', '"|" means nothing here; "or" is written || or or'],
    ['a @ b', '"@" means nothing here'],
    ['a \u0000', 'the character U+0000 means nothing here'],
    ['1 < 2 < 3', 'a comparison cannot follow a comparison: write a < b and b < c, or add parentheses'],
    ['items.map(1)', 'members cannot be called; a function takes what it works on as an argument: map(...)'],
    ['f(a + b => 1)', 'before => stands one name: item => item.price'],
    ['f($a => 1)', 'before => stands one name: item => item.price'],
    ["'abc", "the closing ' is missing"],
    ['1e999', 'the number cannot be held exactly in double precision'],
    ['`$`(1)', 'expected an operator after the name $, found "("'],
  ])('describe the fault of %s', (text, message) => {
    expect(problemOf(text).message).toBe(message);
  });
});

describe('F1: bounds', () => {
  const longest = formulaLimits.length;

  it('accept the longest formula and refuse a longer one', () => {
    expect(parseFormula('1'.padEnd(longest))).toMatchObject({ ok: true });
    expect(problemOf('1'.padEnd(longest + 1))).toMatchObject({ code: 'formula_too_long', position: longest });
  });

  it('answer a megabyte quickly', () => {
    expect(problemOf('('.repeat(1_000_000)).code).toBe('formula_too_long');
  });

  it.each([
    ['parentheses', (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`],
    ['lists', (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['signs', (depth: number) => `${'-'.repeat(depth)}1`],
    ['negations', (depth: number) => `${'not '.repeat(depth)}a`],
    ['calls', (depth: number) => `${'f('.repeat(depth)}${')'.repeat(depth)}`],
    ['powers', (depth: number) => `1${'**1'.repeat(depth)}`],
    ['sums', (depth: number) => `1${'+1'.repeat(depth)}`],
    ['indexes', (depth: number) => `a${'[0]'.repeat(depth)}`],
    ['conditionals', (depth: number) => `${'a?1:'.repeat(depth)}1`],
    ['lambdas', (depth: number) => `${'f(x=>'.repeat(depth)}1${')'.repeat(depth)}`],
    ['members', (depth: number) => `(1)${'.a'.repeat(depth)}`],
  ])('refuse only %s that nest too deep', (_name, nest) => {
    expect(parseFormula(nest(90))).toMatchObject({ ok: true });
    expect(problemOf(nest(formulaLimits.depth * 3)).code).toBe('formula_too_deep');
  });

  it('count levels exactly', () => {
    const sum = (terms: number): string => Array.from({ length: terms }, () => '1').join('+');
    expect(parseFormula(sum(formulaLimits.depth))).toMatchObject({ ok: true });
    expect(problemOf(sum(formulaLimits.depth + 1))).toMatchObject({ code: 'formula_too_deep' });
  });

  it('count nodes exactly', () => {
    const list = (items: number): string => `[${Array.from({ length: items }, () => '1').join(',')}]`;
    expect(parseFormula(list(formulaLimits.nodes - 1))).toMatchObject({ ok: true });
    expect(problemOf(list(formulaLimits.nodes)).code).toBe('formula_too_large');
  });

  it('count parts of a name exactly', () => {
    const name = (parts: number): string => Array.from({ length: parts }, () => 'a').join('.');
    expect(parseFormula(name(formulaLimits.nameParts))).toMatchObject({ ok: true });
    expect(problemOf(name(formulaLimits.nameParts + 1)).code).toBe('formula_too_large');
  });
});
