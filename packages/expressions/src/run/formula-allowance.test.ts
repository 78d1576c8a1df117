import { compileFormula } from '../compile/compile-formula';
import { parseFormula } from '../syntax/parser';
import { FormulaAllowance } from './budget';
import { type FormulaOutcome, runFormula } from './run-formula';

const run = (text: string, allowance: FormulaAllowance): FormulaOutcome => {
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
  it('take their steps from it until one finds too little', () => {
    const allowance = new FormulaAllowance(size);
    expect(run('b + b + b', allowance).ok).toBe(true);
    expect(allowance.steps).toBe(5);
    expect(run('b + b + b', allowance).ok).toBe(true);
    const outcome = run('b + b', allowance);
    expect(outcome).toMatchObject({ ok: false, problem: { code: 'steps_exhausted' } });
    expect(outcome.ok ? '' : outcome.problem.message).toContain('one evaluation take more than 10 steps together');
    expect(allowance.steps).toBe(0);
  });

  it('take their text from it', () => {
    const allowance = new FormulaAllowance({ ...size, steps: 1_000 });
    expect(run('a + a', allowance).ok).toBe(true);
    expect(allowance.textLength).toBe(200);
    const outcome = run('a + a', allowance);
    expect(outcome).toMatchObject({ ok: false, problem: { code: 'text_too_long' } });
    expect(outcome.ok ? '' : outcome.problem.message).toContain('1000 characters of text together');
  });

  it('name their own budget where that is what they exceed', () => {
    const outcome = run('count(range(0, 100000), x => x > 1)', new FormulaAllowance({ steps: 1e6, textLength: 1 }));
    expect(outcome.ok ? '' : outcome.problem.message).toContain('the formula takes more than 100000 steps');
  });
});
