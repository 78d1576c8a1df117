import { type RuleTable } from '@decision/contracts';
import { checkRule, compileRule, evaluateRule, type RuleOutcome } from '../src/index';

/*
 * Keys that are special on JavaScript's prototypes are ordinary keys: prototypes are neither read nor changed.
 */

const WORDS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
const KEYS = [...WORDS, ...WORDS.flatMap((word) => [`a.${word}`, `${word}.a`, `${word}.__proto__.b`])];

/** As parsed from a request: `__proto__` is an own member. */
const json = <T>(text: string): T => JSON.parse(text) as T;
const record = (key: string, value: unknown): Record<string, unknown> =>
  json(`{${JSON.stringify(key)}: ${JSON.stringify(value)}}`);

/** An input that has the value under the parts of a dotted key. */
const nested = (key: string, value: unknown): Record<string, unknown> =>
  key.split('.').reduceRight<unknown>((inner, part) => record(part, inner), value) as Record<string, unknown>;

const solve = (table: RuleTable, input: Record<string, unknown>): RuleOutcome =>
  evaluateRule(compileRule(table), input, { now: 0, explain: 'brief' });
const textOf = (outcome: RuleOutcome): string => JSON.stringify(outcome.ok ? outcome.output : outcome.error);

const untouched = Object.getOwnPropertyNames(Object.prototype).sort().join();

afterEach(() => {
  expect(Object.getOwnPropertyNames(Object.prototype).sort().join()).toBe(untouched);
  expect(Object.prototype.toString.call([])).toBe('[object Array]');
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

describe.each(KEYS)('the key %s', (key) => {
  const table: RuleTable = {
    requestSchema: [{ key, type: 'string' }],
    responseSchema: [{ key, type: 'string', defaultValue: 'none' }],
    conditions: [
      {
        request: record(key, { op: 'equals', args: ['yes'] }) as never,
        response: record(key, { value: 'hit' }) as never,
      },
    ],
  };

  it("is read from an input's own members only", () => {
    for (const input of [{}, { a: {} }, { a: 'text' }, { a: [] }])
      expect(solve(table, input)).toMatchObject({ ok: true, matched: [] });
    expect(solve(table, nested(key, 'yes'))).toMatchObject({ ok: true, matched: [0] });
    expect(solve(table, record(key, 'yes'))).toMatchObject({ ok: true, matched: [0] });
  });

  it("becomes an own member of the output's JSON", () => {
    expect(textOf(solve(table, nested(key, 'yes')))).toBe(JSON.stringify(nested(key, 'hit')));
    expect(textOf(solve(table, {}))).toBe(JSON.stringify(nested(key, 'none')));
  });

  it('changes no prototype in a default input or a strict one', () => {
    const [field] = table.requestSchema;
    const filled: RuleTable = { ...table, requestSchema: [{ key, type: 'string', ...field, defaultValue: 'yes' }] };
    expect(solve(filled, {})).toMatchObject({ ok: true, matched: [0] });
    const strict: RuleTable = { ...table, settings: { strictInput: true } };
    expect(solve(strict, {})).toMatchObject({ ok: true, matched: [] });
    expect(solve(strict, nested(key, 5))).toMatchObject({ ok: false, error: { column: key } });
  });

  it('is a key like any other in groups and their accumulators', () => {
    const grouped: RuleTable = {
      requestSchema: [],
      responseSchema: [{ key, type: 'number' }],
      conditions: [1, 2].map((value) => ({ response: record(key, { value }) as never, settings: { groupId: key } })),
      groups: record(key, { hitPolicy: 'compute', accumulators: record(key, 'sum') }) as never,
    };
    expect(textOf(solve(grouped, {}))).toBe(JSON.stringify(nested(key, 3)));
    const unknown: RuleTable = { ...grouped, groups: {}, responseSchema: [] };
    expect(new Set(checkRule(unknown).map(({ code }) => code))).toEqual(new Set(['unknown_field', 'unknown_group']));
  });

  it('is a problem if the table does not have it', () => {
    const bare: RuleTable = { ...table, requestSchema: [], responseSchema: [] };
    expect(checkRule(bare).map(({ code, column }) => [code, column])).toEqual([
      ['unknown_field', key],
      ['unknown_field', key],
    ]);
  });
});

describe('names of values', () => {
  it.each(WORDS)('%s is the name of a function only if one is bound', (word) => {
    const table: RuleTable = {
      requestSchema: [],
      responseSchema: [{ key: 'out', type: 'function' }],
      conditions: [{ response: { out: { value: `$\`${word}\`(2)` } } }],
    };
    expect(checkRule(table)).toMatchObject([{ code: 'unknown_function' }]);
    const bound: RuleTable = { ...table, settings: json(`{"functions": {${JSON.stringify(word)}: "id"}}`) };
    const stored = {
      id: 'id',
      name: word,
      type: 'function',
      value: { parameters: [word], formula: `\`${word}\` * 2` },
    };
    const values = { revision: 1, get: (id: string) => (id === 'id' ? stored : undefined) };
    expect(textOf(evaluateRule(compileRule(bound, { values }), {}, { now: 0 }))).toBe('{"out":4}');
  });
});

describe('keys that list operators are given', () => {
  const matches = (op: string, args: readonly unknown[], list: unknown): boolean => {
    const outcome = solve(
      {
        requestSchema: [{ key: 'list', type: 'list' }],
        responseSchema: [],
        conditions: [{ request: { list: { op, args: [...args] } } }],
      },
      { list },
    );
    return outcome.ok && outcome.matched.length === 1;
  };

  it.each(WORDS)('%s is no key of an object that has no such member', (word) => {
    const own = [record(word, 'x')];
    expect(matches('contains object with key', [word], [{}, [], 'text'])).toBe(false);
    expect(matches('contains object with key', [word], own)).toBe(true);
    expect(matches('contains only objects with keys', [[word]], [{}])).toBe(false);
    expect(matches('contains only objects with keys', [[word, word]], own)).toBe(true);
    expect(matches('object at index has keys', [0, [word]], [{}])).toBe(false);
    expect(matches('contains object with key & value', [word, null], [{}])).toBe(false);
    expect(matches('contains object with key & value', [word, 'x'], own)).toBe(true);
    expect(matches('has object with key & value at index (case-insensitive)', [0, word, 'X'], own)).toBe(true);
    expect(matches('contains object with data', [record(word, 'x')], own)).toBe(true);
    expect(matches('contains object with data', [record(word, {})], [{}])).toBe(false);
    expect(matches('contains', [record(word, 1)], [{}])).toBe(false);
    expect(matches('contains', [{}], [record(word, 1)])).toBe(false);
    expect(matches('contains any of', [[record(word, 1)]], [{}])).toBe(false);
  });
});
