import { compileFormula } from '../compile/compile-formula';
import { FormulaFault } from '../formula-problem';
import { parseFormula } from '../syntax/parser';
import {
  type CompiledFormula,
  defaultFormulaBudget,
  FormulaAllowance,
  type FormulaEnvironment,
  type FormulaOutcome,
  runFormula,
} from './run';

const compile = (text: string): CompiledFormula => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return compileFormula(parsing.formula);
};

const run = (
  text: string,
  fields: Record<string, unknown> = {},
  more: Partial<FormulaEnvironment> = {},
): FormulaOutcome => runFormula(compile(text), { lookup: (key) => fields[key], now: 0, ...more });

describe('F11: messages', () => {
  it.each([
    ['price * quantity', { price: 5 }, '* needs a number, but quantity has no value'],
    ['price + 1', { price: '5' }, '+ needs a string, like its left side (see to_text), but this value is a number'],
    ['1 + price', { price: '5' }, '+ needs a number, like its left side, but price is a string'],
    ['-price', { price: [1] }, '- needs a number, but price is a list'],
    ['a.b.c / 2', { a: {} }, '/ needs a number, but a.b.c has no value'],
    ['1 / a', { a: 0 }, 'the right side of / is zero'],
    ['1e308 * 10', {}, 'the result of * is not a finite number'],
    ['a > 1', {}, '> compares two numbers or two strings, but a has no value'],
    ['a > 1', { a: 'x' }, '> compares a string, like its left side, but this value is a number'],
    ['1 > a', { a: {} }, '> compares a number, like its left side, but a is an object'],
    ['a ? 1 : 2', { a: 'yes' }, 'a condition is true or false, but a is a string'],
    ['1 in a', { a: 5 }, 'in compares a value with a list, or a string with a string, but a is a number'],
    ['upper(a)', { a: 5 }, 'upper needs a string, but a is a number'],
    ['upper(a)', {}, 'upper needs a string, but a has no value'],
    ['sum([1, true])', {}, 'sum: expected a number, but the value at 1 (from 0) is a boolean'],
    ['a[0]', { a: 'x' }, 'only lists and objects are indexed, but a is a string'],
    ['nothing(1)', {}, 'no function is named nothing'],
    ['$nothing(1)', {}, 'no function value is named nothing'],
    ['a', { a: NaN }, 'a is not a finite number'],
    ['`my field` * 2', { 'my field': null }, '* needs a number, but `my field` has no value'],
  ])('of %s describe the fault', (text, fields, message) => {
    expect(run(text, fields)).toMatchObject({ ok: false, problem: { message } });
  });

  it('never show values', () => {
    const secret = 'SECRET-4711';
    for (const text of ['a * 2', 'upper([a])', 'date(a)', 'to_number(a)', 'a ? 1 : 2', 'sum([a])', 'b[a]', 'a < 1']) {
      expect(JSON.stringify(run(text, { a: secret, b: [1] }))).not.toContain(secret);
    }
  });
});

describe('F21: values of the host', () => {
  it.each([Infinity, -Infinity, NaN])('are refused if they are %d', (value) => {
    expect(run('a', { a: value })).toMatchObject({ ok: false, problem: { code: 'not_finite' } });
    expect(run('a.b', { a: { b: value } })).toMatchObject({ ok: false, problem: { code: 'not_finite' } });
    expect(run('(a).b', { a: { b: value } })).toMatchObject({ ok: false, problem: { code: 'not_finite' } });
    expect(run('a.b + 1', { a: { b: value } })).toMatchObject({ ok: false, problem: { code: 'not_finite' } });
  });

  it.each([[() => 1], [Symbol('a')], [5n], [new Date(0)], [new Map()]])(
    'that JSON cannot hold are refused: %p',
    (value) => {
      expect(run('a', { a: value })).toMatchObject({ ok: false, problem: { code: 'wrong_type' } });
      expect(run('a + 1', { a: value })).toMatchObject({ ok: false, problem: { code: 'wrong_type' } });
      expect(run('a and true', { a: value })).toMatchObject({ ok: false, problem: { code: 'wrong_type' } });
    },
  );

  it('are looked up once for each name that is evaluated, longest key first', () => {
    const asked: string[] = [];
    const lookup = (key: string): unknown => {
      asked.push(key);
      return key === 'a' ? { b: { c: 1 } } : undefined;
    };
    runFormula(compile('a.b.c + a.b.c'), { lookup, now: 0 });
    expect(asked).toEqual(['a.b.c', 'a.b', 'a', 'a.b.c', 'a.b', 'a']);
    asked.length = 0;
    runFormula(compile('true or x > 1'), { lookup, now: 0 });
    expect(asked).toEqual([]);
  });

  it('may come from a look-up method that uses `this`', () => {
    class Fields {
      private readonly values = new Map([['a', 2]]);
      readonly now = 0;
      lookup(key: string): unknown {
        return this.values.get(key);
      }
    }
    expect(runFormula(compile('a * 2'), new Fields())).toEqual({ ok: true, value: 4 });
  });
});

describe('F73: failures of the host', () => {
  const failure = new TypeError('secret of the host');

  it('become a problem with a cause in a lookup', () => {
    const outcome = runFormula(compile('1 + a'), {
      now: 0,
      lookup: () => {
        throw failure;
      },
    });
    expect(outcome).toMatchObject({ ok: false, problem: { code: 'host_failure' }, cause: failure });
    expect(JSON.stringify(!outcome.ok && outcome.problem)).not.toContain('secret');
  });

  it("become a problem with a cause in a value's getter too", () => {
    const hostile = {
      get b(): never {
        throw failure;
      },
    };
    expect(run('a.b', { a: hostile })).toMatchObject({ ok: false, problem: { code: 'host_failure' }, cause: failure });
  });

  it('name the call in a function of the host', () => {
    const call = (): never => {
      throw failure;
    };
    const hostFunctions = new Map([['history', { minimum: 1, maximum: 1, call }]]);
    expect(run("1 + history('a')", {}, { hostFunctions })).toMatchObject({
      ok: false,
      problem: { code: 'host_failure', message: 'history failed', position: 4 },
      cause: failure,
    });
  });
});

describe('F73: functions of the host', () => {
  const functions = (call: (values: readonly unknown[]) => unknown): Partial<FormulaEnvironment> => ({
    hostFunctions: new Map([['history', { minimum: 1, maximum: 2, call }]]),
  });

  it('get their arguments', () => {
    expect(
      run(
        "history('price', a) + 1",
        { a: 5 },
        functions(([name, a]) => (name === 'price' ? a : 0)),
      ),
    ).toEqual({
      ok: true,
      value: 6,
    });
  });

  it('answer null if they return nothing', () => {
    expect(
      run(
        "history('a')",
        {},
        functions(() => undefined),
      ),
    ).toEqual({ ok: true, value: null });
  });

  it('count their arguments', () => {
    expect(
      run(
        'history()',
        {},
        functions(() => 1),
      ),
    ).toMatchObject({ problem: { code: 'wrong_argument_count' } });
    expect(
      run(
        'history(1, 2, 3)',
        {},
        functions(() => 1),
      ),
    ).toMatchObject({ problem: { code: 'wrong_argument_count' } });
  });

  it('report faults of their own at the call', () => {
    const refuse = (): never => {
      throw new FormulaFault('out_of_range', 'no history is kept of this fact');
    };
    expect(run("1 + history('a')", {}, functions(refuse))).toMatchObject({
      problem: { code: 'out_of_range', message: 'history: no history is kept of this fact', position: 4, length: 12 },
    });
  });

  it('do not replace those of the catalogue', () => {
    const hostFunctions = new Map([['abs', { minimum: 1, maximum: 1, call: () => 'replaced' }]]);
    expect(run('abs(-1)', {}, { hostFunctions })).toEqual({ ok: true, value: 1 });
  });
});

describe('F72: faults inside function values', () => {
  it('keep the inner position', () => {
    const functions = new Map([
      ['outer', { parameters: ['a'], body: compile('1 + $inner(a)') }],
      ['inner', { parameters: ['b'], body: compile('10 *\n  (1 / b)') }],
    ]);
    expect(run('2 * $outer(zero)', { zero: 0 }, { functions })).toEqual({
      ok: false,
      problem: {
        code: 'division_by_zero',
        message: 'in $inner, line 2, column 8: the right side of / is zero',
        position: 4,
        length: 12,
        line: 1,
        column: 5,
        caret: '2 * $outer(zero)\n    ^^^^^^^^^^^^',
        inner: expect.objectContaining({ code: 'division_by_zero', line: 2, column: 8, caret: '  (1 / b)\n       ^' }),
      },
    });
  });

  it('keep the position inside a selector too', () => {
    expect(run("map([1], 'a * 2')")).toMatchObject({
      problem: { code: 'missing_value', position: 9, inner: { position: 0, length: 1, caret: 'a * 2\n^' } },
    });
  });
});

describe('runs', () => {
  it('may be nested', () => {
    const inner = compile('sum(map([1, 2], x => x * 10))');
    const environment: FormulaEnvironment = {
      now: 0,
      lookup: () => {
        const outcome = runFormula(inner, { lookup: () => undefined, now: 0 });
        return outcome.ok ? outcome.value : undefined;
      },
    };
    expect(runFormula(compile('map([1, 2], x => x + a)'), environment)).toEqual({ ok: true, value: [31, 32] });
  });

  it('do not share budgets', () => {
    const compiled = compile('sum(map(a, x => x))');
    const environment: FormulaEnvironment = {
      lookup: () => [1, 2, 3],
      now: 0,
      budget: { ...defaultFormulaBudget, steps: 20 },
    };
    for (let time = 0; time < 10; time += 1) expect(runFormula(compiled, environment)).toEqual({ ok: true, value: 6 });
  });
});

const runWith = (text: string, allowance: FormulaAllowance): FormulaOutcome => {
  const parsing = parseFormula(text);
  if (!parsing.ok) return parsing;
  return runFormula(compileFormula(parsing.formula), {
    lookup: (key) => (key === 'a' ? 'x'.repeat(400) : 1),
    now: 0,
    allowance,
  });
};

const size = { steps: 10, textLength: 1_000 };

describe('F88: runs that share an allowance', () => {
  it('take their steps from it until it is used up', () => {
    const allowance = new FormulaAllowance(size);
    expect(runWith('b + b + b', allowance).ok).toBe(true);
    expect(allowance.steps).toBe(5);
    expect(runWith('b + b + b', allowance).ok).toBe(true);
    const outcome = runWith('b + b', allowance);
    expect(outcome).toMatchObject({ ok: false, problem: { code: 'steps_exhausted' } });
    expect(outcome.ok ? '' : outcome.problem.message).toContain('one evaluation take more than 10 steps together');
    expect(allowance.steps).toBe(0);
  });

  it('take their text from it', () => {
    const allowance = new FormulaAllowance({ ...size, steps: 1_000 });
    expect(runWith('a + a', allowance).ok).toBe(true);
    expect(allowance.textLength).toBe(200);
    const outcome = runWith('a + a', allowance);
    expect(outcome).toMatchObject({ ok: false, problem: { code: 'text_too_long' } });
    expect(outcome.ok ? '' : outcome.problem.message).toContain('1000 characters of text together');
  });

  it('name their own budget if they exceed that', () => {
    const outcome = runWith('count(range(0, 100000), x => x > 1)', new FormulaAllowance({ steps: 1e6, textLength: 1 }));
    expect(outcome.ok ? '' : outcome.problem.message).toContain('the formula takes more than 100000 steps');
  });
});
