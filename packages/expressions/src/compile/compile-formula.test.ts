import { type CompiledFormula, runFormula } from '../run/run';
import { parseFormula } from '../syntax/parser';
import { compileFormula } from './compile-formula';

const compile = (text: string): CompiledFormula => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return compileFormula(parsing.formula);
};

const nothing = { lookup: () => undefined, now: 0 };
const valueOf = (compiled: CompiledFormula, now = 0): unknown => {
  const outcome = runFormula(compiled, { ...nothing, now });
  return outcome.ok ? outcome.value : outcome.problem.code;
};

describe('F86: constants', () => {
  it('are computed once and shared, so lists are frozen', () => {
    const compiled = compile('[1, [2, 1 + 2], split("a,b", ",")]');
    const [first, second] = [valueOf(compiled), valueOf(compiled)] as [readonly unknown[], unknown]; // a list of three
    expect(first).toEqual([1, [2, 3], ['a', 'b']]);
    expect(first).toBe(second);
    expect([first, ...first.slice(1)].every((list) => Object.isFrozen(list))).toBe(true);
  });

  it('fail when the formula runs and reaches them, not when it is compiled', () => {
    expect(valueOf(compile('1 / 0'))).toBe('division_by_zero');
    expect(valueOf(compile('true ? 5 : 1 / 0'))).toBe(5);
  });

  it('exclude values that depend on the clock', () => {
    const compiled = compile('[now(), today()]');
    expect(valueOf(compiled, 5)).toEqual([5, 0]);
    expect(valueOf(compiled, 86_400_007)).toEqual([86_400_007, 86_400_000]);
  });

  it('are computed when the formula runs if they are large', () => {
    const compiled = compile('range(0, 50000)');
    expect(valueOf(compiled)).not.toBe(valueOf(compiled));
  });

  it('cost little to compute: a formula with many expensive constants compiles quickly', () => {
    const text = Array.from({ length: 150 }, () => 'length(range(0,99999))').join('+');
    expect(valueOf(compile(text))).toBe('steps_exhausted');
  });
});

describe('compiled formulas', () => {
  it('are frozen and keep their formula', () => {
    const compiled = compile('a + 1');
    expect(Object.isFrozen(compiled)).toBe(true);
    expect(compiled.formula.text).toBe('a + 1');
  });

  it('know their cost, depth and variables', () => {
    expect(compile('a')).toMatchObject({ cost: 1, depth: 1, slots: 0 });
    expect(compile('a + b * 2')).toMatchObject({ cost: 5, depth: 3, slots: 0 });
    expect(compile('map(a, x => x + 1)')).toMatchObject({ cost: 2, depth: 3, slots: 1 });
    expect(compile('map(a, x => map(x, y => y)) == map(b, z => z)')).toMatchObject({ slots: 2 });
    expect(compile("map(a, 'b + 1')")).toMatchObject({ cost: 2, slots: 1 });
  });

  it('end runs at faults that a check would have reported', () => {
    expect(valueOf(compile('abs()'))).toBe('wrong_argument_count');
    expect(valueOf(compile('nothing()'))).toBe('unknown_function');
    expect(valueOf(compile('false and abs()'))).toBe(false);
    expect(valueOf(compile(Array.from({ length: 21 }, (_, index) => `matches('', '${index}')`).join(' or ')))).toBe(
      'formula_too_large',
    );
  });
});
