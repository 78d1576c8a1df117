import { type RuleTable } from '@decision/contracts';
import { compileRule, evaluateBriefly, evaluateRule } from '../src/index';
import { times } from './support/random';

const formula = (text: string): RuleTable => ({
  requestSchema: [{ key: 'n', type: 'number' }],
  responseSchema: [{ key: 'out', type: 'function' }],
  conditions: [{ response: { out: { value: text } } }],
});
const contains = (rows: number): RuleTable => ({
  requestSchema: [{ key: 'text', type: 'string' }],
  responseSchema: [],
  conditions: times(rows, (row) => ({ request: { text: { op: 'contains', args: [`no ${row}`] } } })),
});

describe('E-173 a brief evaluation', () => {
  it.each<[string, RuleTable, Record<string, unknown>]>([
    ['a short formula', formula('n + 1'), { n: 1 }],
    ['a failing formula', formula('n / 0'), { n: 1 }],
    ['a formula with few steps', formula('count(range(0, 1000), x => x > n)'), { n: 1 }],
    ['few conditions on a short text', contains(1_000), { text: 'x'.repeat(100) }],
    ['an input of another kind', contains(10), { text: 5 }],
  ])('answers as the whole one does: %s', (_name, table, input) => {
    const rule = compileRule(table);
    expect(evaluateBriefly(rule, input, { now: 0 })).toEqual(evaluateRule(rule, input, { now: 0 }));
  });

  it.each<[string, RuleTable, Record<string, unknown>]>([
    ['a formula with many steps', formula('count(range(0, 15000), x => x > n)'), { n: 1 }],
    ['a formula that ends at its own bound', formula('count(range(0, 100000), x => x > n)'), { n: 1 }],
    ['a long text that many conditions read', contains(1_000), { text: 'x'.repeat(10_000) }],
    ['more tests than a few milliseconds allow', contains(200_000), { text: 'x' }],
  ])('leaves alone what may take long: %s', (_name, table, input) => {
    expect(evaluateBriefly(compileRule(table), input, { now: 0 })).toBeUndefined();
  });
});
