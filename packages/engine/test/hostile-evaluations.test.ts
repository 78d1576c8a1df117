import { type RuleRow, type RuleTable } from '@decision/contracts';
import { checkRule, compileRule, evaluateRule, type RuleOutcome, type StoredValue } from '../src/index';
import { times } from './support/random';

/* Bounds of one request, whatever the rule: formulas together, values by reference, answers, explanations. */

const solve = (table: RuleTable, input: Record<string, unknown> = {}): RuleOutcome =>
  evaluateRule(compileRule(table), input, { now: 0, explain: 'brief' });
const messageOf = (outcome: RuleOutcome): string => (outcome.ok ? 'ok' : outcome.error.message);

const outputs = (count: number): RuleTable['responseSchema'] =>
  times(count, (index) => ({ key: `o${index}`, type: 'function' }));
const rowOf = (count: number, formula: string): RuleRow => ({
  response: Object.fromEntries(times(count, (index) => [`o${index}`, { value: formula }])),
});
const group = (rows: number, formula: string, accumulator: string): RuleTable => ({
  requestSchema: [
    { key: 'text', type: 'string' },
    { key: 'list', type: 'list' },
  ],
  responseSchema: outputs(1),
  conditions: times(rows, () => ({ ...rowOf(1, formula), settings: { groupId: 'g' } })),
  groups: { g: { hitPolicy: 'compute', accumulators: { o0: accumulator } } },
});

const BUSY = 'count(range(0, 15000), x => x > 1)';
const DOUBLING = 'length(text + text) > 0';

describe('E-164 formulas of one request', () => {
  it.each([
    [
      'a formula',
      { requestSchema: [], responseSchema: outputs(1), conditions: [rowOf(1, 'count(range(0, 100000), x => x > 1)')] },
      'takes more than 100000 steps',
    ],
    [
      'a thousand outputs',
      { requestSchema: [], responseSchema: outputs(1_000), conditions: [rowOf(1_000, BUSY)] },
      '2000000 steps together',
    ],
    [
      'a thousand defaults',
      {
        requestSchema: [],
        responseSchema: outputs(1_000).map((field) => ({ ...field, defaultComputedValue: BUSY })),
        conditions: [],
      },
      '2000000 steps together',
    ],
    [
      'a thousand inputs that are missing',
      {
        requestSchema: times(1_000, (index) => ({ key: `i${index}`, type: 'number', defaultComputedValue: BUSY })),
        responseSchema: [],
        conditions: [],
      },
      '2000000 steps together',
    ],
    ['ten thousand rows of a group', group(10_000, BUSY, 'sum'), '2000000 steps together'],
  ] as [string, RuleTable, string][])('%s end within a budget', (_name, table, message) => {
    expect(messageOf(solve(table))).toContain(message);
  });

  it('share what inputs have used with the outputs', () => {
    const table: RuleTable = {
      requestSchema: times(30, (index) => ({ key: `i${index}`, type: 'number', defaultComputedValue: BUSY })),
      responseSchema: outputs(30),
      conditions: [rowOf(30, BUSY)],
    };
    expect(messageOf(solve({ ...table, responseSchema: [], conditions: [] }))).toBe('ok');
    expect(messageOf(solve(table))).toContain('together');
  });

  it('make text within a budget', () => {
    expect(messageOf(solve(group(10_000, DOUBLING, 'count'), { text: 'x'.repeat(50_000) }))).toContain(
      'characters of text together',
    );
  });

  it('start anew with each request', () => {
    const rule = compileRule(group(100, BUSY, 'count'));
    const ask = () => evaluateRule(rule, {}, { now: 0 }).ok;
    expect([ask(), ask(), ask()]).toEqual([false, false, false]);
    const small = compileRule(group(20, BUSY, 'count'));
    expect(times(5, () => evaluateRule(small, {}, { now: 0 }).ok)).toEqual([true, true, true, true, true]);
  });

  it.each(['$f(1)', '$g(1)', '$h(30)'])('that call one another without end (%s) end', (call) => {
    const bodies = { f: '$f(n) + 1', g: '$f(n)', h: 'n < 1 ? 1 : $h(n - 1) + $h(n - 1)' };
    const values = {
      revision: 1,
      get: (id: string): StoredValue => ({
        id,
        name: id,
        type: 'function',
        value: { parameters: ['n'], formula: Reflect.get(bodies, id) },
      }),
    };
    const settings = { functions: { f: 'f', g: 'g', h: 'h' } };
    const table: RuleTable = {
      requestSchema: [],
      responseSchema: outputs(1),
      conditions: [rowOf(1, call)],
      settings: settings,
    };
    expect(messageOf(evaluateRule(compileRule(table, { values }), {}, { now: 0 }))).toMatch(/deep|steps/);
  });
});

describe('E-165 answers', () => {
  const list = times(100_000, (index) => index);

  it('are bounded if they repeat an input', () => {
    const table: RuleTable = {
      requestSchema: [{ key: 'list', type: 'list' }],
      responseSchema: outputs(1_000),
      conditions: [rowOf(1_000, 'list')],
    };
    expect(messageOf(solve(table, { list }))).toContain('The answer is larger than 10000000');
    expect(solve({ ...table, responseSchema: outputs(50), conditions: [rowOf(50, 'list')] }, { list }).ok).toBe(true);
  });

  it('are bounded if a group makes them, listed or added', () => {
    expect(messageOf(solve(group(1_000, 'list', 'list'), { list }))).toContain('The answer is larger');
    expect(messageOf(solve(group(1_000, 'text', 'list'), { text: 'x'.repeat(1_000_000) }))).toContain(
      'The answer is larger',
    );
    const adding = (formula: string): RuleTable => ({
      ...group(1_000, formula, ''),
      groups: { g: { hitPolicy: 'add' } },
    });
    expect(messageOf(solve(adding('list'), { list }))).toContain('too large');
    expect(messageOf(solve(adding('text'), { text: 'x'.repeat(1_000_000) }))).toContain('too large');
  });

  it('as deep as their input are refused before they are written', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    const table: RuleTable = {
      requestSchema: [{ key: 'list', type: 'list' }],
      responseSchema: outputs(1),
      conditions: [rowOf(1, 'list')],
    };
    expect(messageOf(solve(table, { list: deep }))).toContain('nests deeper');
  });
});

describe('E-166 values by reference', () => {
  const values = (value: unknown) => ({ revision: 1, get: (id: string) => ({ id, name: id, type: 'list', value }) });
  const reference = { $rb: 'globalValue', id: 'v' };
  const large = times(100_000, (index) => `value ${index}`);

  it('are bounded for a table as a whole, in arguments and outputs', () => {
    const many = times(100, (index) => [...times(index, () => 0), reference]);
    const output: RuleTable = {
      requestSchema: [],
      responseSchema: [{ key: 'out', type: 'list' }],
      conditions: many.map((value) => ({ response: { out: { value } } })),
    };
    const argument: RuleTable = {
      requestSchema: [{ key: 'a', type: 'list' }],
      responseSchema: [],
      conditions: many.map((list) => ({ request: { a: { op: 'contains any of', args: [list] } } })),
    };
    for (const table of [output, argument]) {
      const problems = checkRule(table, { values: values(large) });
      expect(problems[0]).toMatchObject({ code: 'too_large' });
      expect(checkRule(table, { values: values([1]) })).toEqual([]);
    }
  });

  it('count once if they are written alike, and make one condition', () => {
    const table: RuleTable = {
      requestSchema: [{ key: 'a', type: 'string' }],
      responseSchema: [{ key: 'out', type: 'list' }],
      conditions: times(5_000, () => ({
        request: { a: { op: 'is included in', args: [reference] } },
        response: { out: { value: reference } },
      })),
    };
    const rule = compileRule(table, { values: values(large) });
    expect(evaluateRule(rule, { a: 'value 99999' }, { now: 0 })).toMatchObject({ ok: true, matched: [0] });
  });

  it('are a problem if they nest too deep, and later a failure', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200; level += 1) deep = [deep];
    const table: RuleTable = {
      requestSchema: [{ key: 'a', type: 'list' }],
      responseSchema: [],
      conditions: [{ request: { a: { op: 'contains', args: [reference] } } }],
    };
    expect(checkRule(table, { values: values(deep) })).toMatchObject([{ code: 'too_deep', row: 0, column: 'a' }]);
    let current: unknown = [1];
    const changing = { revision: 1, get: (id: string) => ({ id, name: id, type: 'list', value: current }) };
    const rule = compileRule(table, { values: changing });
    expect(evaluateRule(rule, { a: [[1]] }, { now: 0 })).toMatchObject({ ok: true, matched: [0] });
    current = deep;
    changing.revision = 2;
    expect(evaluateRule(rule, { a: [[1]] }, { now: 0 })).toMatchObject({
      ok: false,
      error: { details: { reason: 'value_unusable' } },
    });
  });
});

describe('E-167 explanations', () => {
  const explained = (table: RuleTable, input: Record<string, unknown>, explain: 'brief' | 'all'): string =>
    JSON.stringify(evaluateRule(compileRule(table), input, { now: 0, explain }));

  it('do not repeat large arguments or values', () => {
    const long = times(20_000, (index) => `text ${index}`);
    const table: RuleTable = {
      requestSchema: [{ key: 'a', type: 'string' }],
      responseSchema: [],
      conditions: times(50, () => ({ request: { a: { op: 'is included in', args: [long] } } })),
    };
    expect(explained(table, { a: 'x'.repeat(1_000_000) }, 'brief').length).toBeLessThan(50_000);
    expect(explained(table, { a: 'x' }, 'brief')).toContain('a list of 20000');
  });

  it('show small arguments as they are written', () => {
    const table: RuleTable = {
      requestSchema: [{ key: 'a', type: 'list' }],
      responseSchema: [],
      conditions: [{ request: { a: { op: 'contains', args: [{ k: [1] }] } } }],
    };
    expect(explained(table, { a: [] }, 'brief')).toContain('"args":[{"k":[1]}]');
  });

  it('stop at a size if all rows are asked for, and say how many rows they leave out', () => {
    const table: RuleTable = {
      requestSchema: [{ key: 'a', type: 'string' }],
      responseSchema: [],
      conditions: times(100_000, (row) => ({ request: { a: { op: 'equals', args: [`${'x'.repeat(200)}${row}`] } } })),
    };
    const text = explained(table, { a: 'no' }, 'all');
    expect(text.length).toBeLessThan(4_000_000);
    const { explanation } = JSON.parse(text) as { explanation: { lost: unknown[]; not_listed: number } };
    expect(explanation.lost.length + explanation.not_listed).toBe(100_000);
    expect(explanation.not_listed).toBeGreaterThan(0);
  });
});

it('E-168 a wide input costs one copy, however many defaults it gets', () => {
  const wide = Object.fromEntries(times(200_000, (index) => [`k${index}`, index]));
  const table: RuleTable = {
    requestSchema: times(1_000, (index) => ({ key: `d${index}`, type: 'number', defaultValue: index })),
    responseSchema: outputs(1),
    conditions: [{ request: { d999: { op: 'equals', args: [999] } }, response: { o0: { value: 'd0 + d999' } } }],
  };
  expect(solve(table, wide)).toMatchObject({ ok: true, output: { o0: 999 } });
});

describe('E-169 values that many conditions read', () => {
  const table = (op: string, rows: number, type: 'string' | 'list' = 'string', keys = ['a']): RuleTable => ({
    requestSchema: keys.map((key) => ({ key, type })),
    responseSchema: [{ key: 'row', type: 'number' }],
    conditions: times(rows, (row) => ({
      request: Object.fromEntries(keys.map((key) => [key, { op, args: op.startsWith('is ') ? [] : [`no ${row}`] }])),
      response: { row: { value: row } },
    })),
  });
  const ask = (rules: RuleTable, a: unknown) => evaluateRule(compileRule(rules), { a }, { now: 0 });

  it.each([
    ['contains', 50_000, 40_000],
    ['contains (case-insensitive)', 50_000, 13_331],
  ])('%s in %d rows allows %d characters', (op, rows, limit) => {
    const rules = table(op, rows);
    expect(ask(rules, 'x'.repeat(limit + 1))).toMatchObject({
      ok: false,
      error: { column: 'a', details: { reason: 'value_too_large', field: 'a', limit } },
    });
    expect(ask(rules, 'x'.repeat(1_000))).toMatchObject({ ok: true, matched: [] });
  });

  it('refuses fields that are small enough alone and too large together, and says which cost how much', () => {
    const keys = times(6, (index) => `f${index}`);
    const rule = compileRule(table('contains', 20_000, 'string', keys));
    const solveWith = (lengths: readonly number[]) =>
      evaluateRule(rule, Object.fromEntries(keys.map((key, at) => [key, 'x'.repeat(lengths[at] ?? 0)])), { now: 0 });
    // 20,000 conditions at a nanosecond per character: 100,000 characters over all fields take the two seconds.
    expect(solveWith([10_000, 10_000, 10_000, 10_000, 10_000, 10_000])).toMatchObject({ ok: true });
    const refused = solveWith([20_000, 20_000, 20_000, 20_000, 20_000, 30_000]);
    expect(refused).toMatchObject({
      ok: false,
      error: {
        code: 'evaluation_failed',
        column: 'f5',
        details: {
          reason: 'value_too_large',
          field: 'f5',
          work_ms: 2_600,
          limit_ms: 2_000,
          fields: [{ field: 'f5', size: 30_000, conditions: 20_000, work_ms: 600 }, {}, {}, {}, {}],
        },
      },
    });
    expect(messageOf(refused)).toContain(
      '"f5" of 30000 characters and elements, read by 20000 conditions (600 ms); "f0" of 20000',
    );
    expect(messageOf(refused)).toContain('and 1 more field.');
  });

  it('lists count with all that they hold', () => {
    const rules = table('contains', 50_000, 'list');
    const rule = compileRule(rules);
    const answer = (a: unknown) => evaluateRule(rule, { a }, { now: 0 });
    expect(answer([...times(10, () => 'x'.repeat(500)), 1])).toMatchObject({ ok: false });
    expect(answer(['no 49999', 'x'])).toMatchObject({ ok: true, matched: [49_999] });
  });

  it('few conditions read what a request can bring, and equality reads nothing', () => {
    const long = 'x'.repeat(6_000_000);
    expect(ask(table('contains', 200), long)).toMatchObject({ ok: true, matched: [] });
    expect(ask(table('equals', 50_000), long)).toMatchObject({ ok: true, matched: [] });
    expect(ask(table('equals (case-insensitive)', 50_000), long)).toMatchObject({ ok: true, matched: [] });
    expect(ask(table('is a valid email address', 50_000), long)).toMatchObject({ ok: true, matched: [] });
  });

  it('a value of another type is not read', () => {
    expect(
      ask(
        table('contains', 50_000),
        times(200_000, () => 1),
      ),
    ).toMatchObject({ ok: true, matched: [] });
  });
});
