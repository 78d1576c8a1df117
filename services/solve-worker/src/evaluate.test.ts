import { type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { solvedInput } from '@decision/execution';
import { answerBytes, readInput, solveInput } from './evaluate';

const table: RuleTable = {
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [{ key: 'price', type: 'number' }],
  conditions: [
    {
      request: { weight: { op: 'greater than', args: [1] } },
      response: { price: { value: 5 } },
      settings: { schedule: [{ days: [1] }] },
    },
  ],
};
const MONDAY = Date.parse('2026-01-05T12:00:00Z');
const rule = compileRule(table);
const solve = (payload: string | Buffer, explain: 'none' | 'brief' = 'none', receivedAt = MONDAY): unknown => {
  const solved = solveInput(rule, readInput(Buffer.from(payload), 'body'), { receivedAt, explain }, undefined);
  if (solved instanceof Promise) throw new Error('It was not evaluated here.');
  return JSON.parse(answerBytes(solved).toString('utf8'));
};

it('answers the outputs as JSON', () => {
  expect(solve('{"weight": 2}')).toEqual({ price: 5 });
  expect(solve('{"weight": 1}')).toEqual({});
});

it('takes the clock of the request, not its own', () => {
  expect(solve('{"weight": 2}', 'none', MONDAY + 86_400_000)).toEqual({});
});

it('adds the explanation if it is asked for', () => {
  expect(solve('{"weight": 1}', 'brief')).toMatchObject({
    $explain: { matched: [], lost: [{ row: 0, column: 'weight', value: 1 }] },
  });
});

it.each([
  ['{"weight": 2', 'invalid_json', { position: 12, line: 1, column: 13 }],
  ['', 'invalid_json', { position: 0 }],
  ['{"weight": 2}\n}', 'invalid_json', { position: 14, line: 2, column: 1 }],
  ['{"weight": 9007199254740993}', 'number_out_of_range', { position: 11 }],
  ['[]', 'input_not_object', {}],
  ['7', 'input_not_object', {}],
  ['null', 'input_not_object', {}],
])('refuses %j with %s', (payload, code, details) => {
  expect(() => solve(payload)).toThrow(expect.objectContaining({ code, details: expect.objectContaining(details) }));
});

it('refuses bytes that are not UTF-8', () => {
  expect(() => solve(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow(expect.objectContaining({ code: 'invalid_json' }));
});

it('survives nesting of 10,000 levels and keys of prototypes', () => {
  expect(solve(`{"weight": 2, "deep": ${'['.repeat(10_000)}${']'.repeat(10_000)}}`)).toEqual({ price: 5 });
  expect(solve('{"__proto__": {"weight": 2}, "constructor": 1}')).toEqual({});
});

it('says that outputs nest too deeply to be written, instead of failing', () => {
  let nested: unknown = 1;
  for (let level = 0; level < 200_000; level += 1) nested = [nested];
  const solved = solvedInput('{}', { ok: true, output: { nested }, matched: [] }, 0);
  expect(solved.error).toMatchObject({ code: 'evaluation_failed' });
});

describe('the request that is kept', () => {
  it.each([
    ['as it came', ' {"weight" : 1} ', ' {"weight" : 1} '],
    ['also where it is refused', '{"weight":123456789012345678901}', '{"weight":123456789012345678901}'],
    ['also where it is no object', '[1]', '[1]'],
    ['as null where it is not JSON', '{"weight":', 'null'],
  ])('is kept %s', (_how, payload, kept) => {
    expect(readInput(Buffer.from(payload), 'body').request).toBe(kept);
  });

  it('is null if it is not even text', () => {
    expect(readInput(Buffer.from([0xff, 0xfe]), 'body').request).toBe('null');
  });
});
