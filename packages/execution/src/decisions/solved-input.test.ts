import { type RuleTable } from '@decision/contracts';
import { compileRule, evaluateRule } from '@decision/engine';
import { solvedInput } from './solved-input';

const tableOf = (output: string, defaultValue: unknown): RuleTable => ({
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [
    { key: output, type: 'number', ...(defaultValue === undefined ? {} : { defaultValue }) },
    { key: 'after', type: 'string' },
  ],
  conditions: [
    { request: { weight: { op: 'equals', args: [2] } }, response: { [output]: { value: 5 }, after: { value: '"}' } } },
  ],
});

describe('the result of an explained input', () => {
  it.each([
    ['with outputs', tableOf('price', 1), { weight: 2 }],
    ['with a default', tableOf('price', 1), { weight: 'heavy "}' }],
    ['without outputs', tableOf('price', undefined), {}],
    ['with an output that has the name of the explanation', tableOf('$explain', 1), { weight: 2 }],
    ['with an output whose key is a number', tableOf('1', 1), { weight: 2 }],
  ])('is the outputs with the explanation as a member: %s', (_what, table, input) => {
    const outcome = evaluateRule(compileRule(table), input, { now: 0, explain: 'brief' });
    if (!outcome.ok) throw new RangeError(outcome.error.message);
    const whole = JSON.stringify({ ...outcome.output, $explain: outcome.explanation });
    expect(solvedInput('{}', outcome, 1)).toMatchObject({ result: whole, matched: outcome.matched, error: undefined });
    expect(whole).toContain('"$explain":{"matched":');
  });

  it('has no explanation if none was requested', () => {
    const outcome = evaluateRule(compileRule(tableOf('price', 1)), {}, { now: 0 });
    expect(solvedInput('{}', outcome, 1).result).toBe('{"price":1}');
  });
});
