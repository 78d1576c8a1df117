import { type RuleTable } from '@decision/contracts';
import { compileRule } from '../compile/compile-rule';
import { evaluateRule } from './evaluate-rule';
import { fieldsReadBy } from './fields-read';

const table: RuleTable = {
  requestSchema: [
    { key: 'weight', type: 'number', defaultValue: { value: 3 } },
    { key: 'country', type: 'string' },
  ],
  responseSchema: [{ key: 'price', type: 'number' }],
  conditions: [
    { request: { weight: { op: 'greater than', args: [2] } }, response: { price: { value: 5 } } },
    { request: {}, response: { price: { value: 1 } } },
  ],
};

it('names the fields of the request schema, and an evaluation needs no others', () => {
  const rule = compileRule(table);
  expect(fieldsReadBy(rule)).toEqual(['weight', 'country']);
  const options = { now: 0, explain: 'none' } as const;
  for (const input of [{}, { weight: 1 }, { weight: 7, country: 'CH' }])
    expect(evaluateRule(rule, input, options)).toEqual(evaluateRule(rule, { ...input, other: [1] }, options));
});

it.each<[string, Partial<RuleTable>]>([
  ['a key has dots', { requestSchema: [{ key: 'order.weight', type: 'number' }], conditions: [] }],
  ['a key means something to a prototype', { requestSchema: [{ key: 'constructor', type: 'string' }], conditions: [] }],
  [
    'an output is a formula',
    {
      responseSchema: [{ key: 'price', type: 'function' }],
      conditions: [{ request: {}, response: { price: { value: 'weight * 2' } } }],
    },
  ],
])('does not tell where %s', (_what, changes) => {
  expect(fieldsReadBy(compileRule({ ...table, ...changes }))).toBeUndefined();
});
