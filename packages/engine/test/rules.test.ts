import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RuleField, type RuleRow, type RuleTable } from '@decision/contracts';
import fc from 'fast-check';
import { checkRule, compileRule, evaluateMany, evaluateRule, type RuleOutcome } from '../src/index';

const field = (key: string, type: RuleField['type'] = 'number', more: Partial<RuleField> = {}): RuleField => ({
  key,
  type,
  ...more,
});

const table = (conditions: RuleRow[], more: Partial<RuleTable> = {}): RuleTable => ({
  requestSchema: [field('a'), field('b', 'string')],
  responseSchema: [field('out', 'string')],
  conditions,
  ...more,
});

const row = (request: RuleRow['request'], out: unknown, settings: RuleRow['settings'] = {}): RuleRow => ({
  request,
  response: { out: { value: out } },
  settings,
});
const equals = (value: number) => ({ op: 'equals', args: [value] });
const evaluate = (document: RuleTable, input: Record<string, unknown>, now = 0): RuleOutcome =>
  evaluateRule(compileRule(document), input, { now });
const outputOf = (outcome: RuleOutcome): unknown => outcome.ok && outcome.output;

describe('order', () => {
  it('the first row of the table that matches wins', () => {
    expect(
      outputOf(
        evaluate(table([row({ a: equals(2) }, 'no'), row({ a: equals(1) }, 'first'), row({}, 'second')]), { a: 1 }),
      ),
    ).toEqual({ out: 'first' });
  });

  it('a higher priority goes before table order, a missing one counts as 0', () => {
    const document = table([
      row({}, 'low', { priority: -1 }),
      row({}, 'none'),
      row({}, 'high', { priority: 5 }),
      row({}, 'also high', { priority: 5 }),
    ]);
    expect(evaluate(document, {})).toMatchObject({ output: { out: 'high' }, matched: [2] });
  });

  it('E-65 rows of distinct priority may stand in any order', () => {
    const rows = [3, 2, 1].map((priority) =>
      row({ a: { op: 'less than or equal to', args: [4 - priority] } }, `p${priority}`, { priority }),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: 3 }), fc.integer({ min: 0, max: 5 }), (shuffled, a) => {
        expect(outputOf(evaluate(table(shuffled), { a }))).toEqual(outputOf(evaluate(table(rows), { a })));
      }),
    );
  });
});

describe('rows', () => {
  it('need all their cells, or any of them where they are joined with OR', () => {
    const request = { a: equals(1), b: { op: 'equals', args: ['x'] } };
    expect(outputOf(evaluate(table([row(request, 'hit')]), { a: 1, b: 'y' }))).toEqual({});
    expect(outputOf(evaluate(table([row(request, 'hit', { or: true })]), { a: 1, b: 'y' }))).toEqual({ out: 'hit' });
    expect(outputOf(evaluate(table([row(request, 'hit', { or: true })]), { a: 2, b: 'y' }))).toEqual({});
  });

  it.each<RuleRow['request']>([undefined, {}, { a: { op: 'any' } }])(
    'match everything with the request %j',
    (request) => {
      expect(outputOf(evaluate(table([row(request, 'hit')]), {}))).toEqual({ out: 'hit' });
      expect(outputOf(evaluate(table([row(request, 'hit', { or: true })]), {}))).toEqual({ out: 'hit' });
    },
  );

  it('that are disabled take no part', () => {
    expect(outputOf(evaluate(table([row({}, 'off', { enabled: false }), row({}, 'on')]), {}))).toEqual({ out: 'on' });
  });
});

describe('schedules', () => {
  const at = (text: string) => Date.parse(text);
  const inForce = (schedule: NonNullable<NonNullable<RuleRow['settings']>['schedule']>, now: string) =>
    outputOf(evaluate(table([row({}, 'yes', { schedule })]), {}, at(now)));

  // 2026-01-05 is a Monday.
  it.each([
    [{ days: [1], start: '09:00', end: '17:00' }, '2026-01-05T09:00:00Z', true],
    [{ days: [1], start: '09:00', end: '17:00' }, '2026-01-05T16:59:59.999Z', true],
    [{ days: [1], start: '09:00', end: '17:00' }, '2026-01-05T17:00:00Z', false],
    [{ days: [1], start: '09:00', end: '17:00' }, '2026-01-06T12:00:00Z', false],
    [{ days: [1], start: '22:00', end: '06:00' }, '2026-01-05T23:00:00Z', true],
    [{ days: [1], start: '22:00', end: '06:00' }, '2026-01-06T05:59:00Z', true],
    [{ days: [1], start: '22:00', end: '06:00' }, '2026-01-05T05:00:00Z', false],
    [{ days: [0, 6] }, '2026-01-04T00:00:00Z', true],
    [{ start: '12:00' }, '1969-12-31T12:00:00Z', true],
    [{ days: [3] }, '1969-12-31T23:59:59Z', true],
    [{ days: [5], start: '08:00', end: '08:00' }, '2026-01-09T03:00:00Z', true],
  ])('%j at %s: %s', (window, now, expected) => {
    expect(inForce([window], now)).toEqual(expected ? { out: 'yes' } : {});
  });

  it('need one of their windows, and none at all when there are none', () => {
    expect(inForce([{ days: [2] }, { days: [1] }], '2026-01-05T00:00:00Z')).toEqual({ out: 'yes' });
    expect(inForce([], '2026-01-05T00:00:00Z')).toEqual({ out: 'yes' });
  });
});

describe('outputs', () => {
  const responseSchema = [
    field('x', 'number', { defaultValue: 7 }),
    field('deep.one'),
    field('deep.two', 'list', { defaultValue: [1] }),
  ];

  it('fall back to defaults where the row gives nothing, and where no row matches', () => {
    const document = table([{ request: { a: equals(1) }, response: { 'deep.one': { value: 1 } } }], { responseSchema });
    expect(outputOf(evaluate(document, { a: 1 }))).toEqual({ x: 7, deep: { one: 1, two: [1] } });
    expect(outputOf(evaluate(document, { a: 2 }))).toEqual({ x: 7, deep: { two: [1] } });
  });

  it('keep null as a value', () => {
    expect(outputOf(evaluate(table([row({}, null)]), {}))).toEqual({ out: null });
  });

  it('are an empty object where nothing matches and nothing has a default', () => {
    expect(evaluate(table([row({ a: equals(1) }, 'x')]), {})).toEqual({ ok: true, output: {}, matched: [] });
  });

  it('E-142 cannot be changed for the next request by changing them', () => {
    const compiled = compileRule(
      table([{ response: { out: { value: { list: [1] } } } }], { responseSchema: [field('out', 'object')] }),
    );
    const first = evaluateRule(compiled, {}, { now: 0 });
    expect(() => ((first.ok ? first.output['out'] : undefined) as { list: number[] }).list.push(2)).toThrow(
      /not extensible/,
    );
    expect(outputOf(evaluateRule(compiled, {}, { now: 0 }))).toEqual({ out: { list: [1] } });
  });
});

describe('inputs', () => {
  const nested = table([row({ 'p.q': equals(1) }, 'hit')], { requestSchema: [field('p.q')] });

  it.each([
    [{ p: { q: 1 } }, true],
    [{ 'p.q': 1 }, true],
    [{ 'p.q': 1, p: { q: 2 } }, true],
    [{ 'p.q': 2, p: { q: 1 } }, false],
    [{ p: null }, false],
    [{ p: 'text' }, false],
    [{ p: [1] }, false],
  ])('dotted keys read %j: %s', (input, expected) => {
    expect(outputOf(evaluate(nested, input))).toEqual(expected ? { out: 'hit' } : {});
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__proto__.x', 'constructor.prototype'])(
    'the key %s is a key like any other, in and out',
    (key) => {
      const document = table([{ request: { [key]: equals(1) }, response: { [key]: { value: 2 } } }], {
        requestSchema: [field(key)],
        responseSchema: [field(key)],
      });
      // A literal `__proto__` in an object literal would set the prototype; text does not.
      const own = JSON.parse(JSON.stringify(document).replaceAll('"PROTO"', JSON.stringify(key))) as RuleTable;
      if (key === '__proto__')
        own.conditions = JSON.parse(
          '[{"request":{"__proto__":{"op":"equals","args":[1]}},"response":{"__proto__":{"value":2}}}]',
        ) as RuleRow[];
      expect(outputOf(evaluate(own, {}))).toEqual({});
      const output = outputOf(
        evaluate(own, JSON.parse(`{${JSON.stringify(key)}:1}`) as Record<string, unknown>),
      ) as object;
      expect(Object.getPrototypeOf(output)).toBe(Object.prototype);
      expect(JSON.stringify(output)).toContain('2');
      expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    },
  );

  it('of another type do not match, unless the rule is strict: then they are refused by name', () => {
    const rows = [row({ a: equals(1) }, 'one')];
    expect(outputOf(evaluate(table(rows), { a: '1' }))).toEqual({});
    expect(evaluate(table(rows, { settings: { strictInput: true } }), { a: '1' })).toEqual({
      ok: false,
      error: {
        code: 'evaluation_failed',
        message: 'The field "a" is of type number, but a value of type string came.',
        column: 'a',
        details: { reason: 'wrong_type', field: 'a', expected: 'number', came: 'string' },
      },
    });
    expect(evaluate(table(rows, { settings: { strictInput: true } }), { a: null })).toMatchObject({ ok: true });
  });
});

describe('explanations', () => {
  const document = table([
    row({ a: equals(9) }, 'x'),
    row({ a: { op: 'any' }, b: { op: 'starts with', args: ['z'] } }, 'x'),
    row({ a: equals(1), b: equals(2) }, 'x', { enabled: false }),
    row({ a: equals(5) }, 'x', { schedule: [{ days: [] }] }),
    row({ a: equals(7), b: { op: 'equals', args: ['q'] } }, 'x', { or: true }),
    row({ a: equals(1) }, 'won'),
    row({}, 'never asked'),
  ]);
  document.conditions.splice(2, 1);

  it('name the winner and for each row before it the first cell that failed', () => {
    const outcome = evaluateRule(compileRule(document), { a: 1, b: 5 }, { now: 0, explain: 'brief' });
    expect(outcome).toMatchObject({
      output: { out: 'won' },
      explanation: {
        matched: [4],
        lost: [
          { row: 0, column: 'a', op: 'equals', args: [9], value: 1, because: 'cell' },
          { row: 1, column: 'b', op: 'starts with', value: 5, came: 'number', because: 'wrong_type' },
          { row: 2, because: 'schedule' },
          { row: 3, because: 'no_cell_of_or_row' },
        ],
        not_listed: 0,
      },
    });
  });

  it('E-133 list 50 losing rows, or all of them', () => {
    const many = compileRule(table(Array.from({ length: 80 }, (_, index) => row({ a: equals(index) }, 'x'))));
    const brief = evaluateRule(many, {}, { now: 0, explain: 'brief' });
    const all = evaluateRule(many, {}, { now: 0, explain: 'all' });
    expect(brief.ok && [brief.explanation?.lost.length, brief.explanation?.not_listed]).toEqual([50, 30]);
    expect(all.ok && [all.explanation?.lost.length, all.explanation?.not_listed]).toEqual([80, 0]);
    expect(brief.ok && brief.explanation?.lost[0]).toMatchObject({ because: 'missing' });
  });

  it('E-134 do not repeat large values', () => {
    const compiled = compileRule(table([row({ b: { op: 'equals', args: ['x'] } }, 'x')]));
    const outcome = evaluateRule(compiled, { b: 'y'.repeat(1_000_000) }, { now: 0, explain: 'all' });
    expect(JSON.stringify(outcome).length).toBeLessThan(1_000);
  });

  it('E-135 have the same winner as the answer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.array(fc.integer({ min: 0, max: 9 })), (a, wanted) => {
        const outcome = evaluateRule(
          compileRule(table(wanted.map((value) => row({ a: equals(value) }, 'x')))),
          { a },
          { now: 0, explain: 'all' },
        );
        expect(outcome.ok && outcome.explanation?.matched).toEqual(outcome.ok && outcome.matched);
      }),
    );
  });
});

describe('checkRule', () => {
  const problemsOf = (document: RuleTable) =>
    checkRule(document).map(({ code, row: at, column }) => [code, at, column]);

  it.each<[string, RuleTable, unknown]>([
    ['an unknown operator', table([row({ a: { op: 'is huge' } }, 'x')]), [['unknown_operator', 0, 'a']]],
    [
      'an operator of another type',
      table([row({ a: { op: 'starts with', args: ['x'] } }, 'x')]),
      [['unknown_operator', 0, 'a']],
    ],
    ['an unknown input', table([row({ z: equals(1) }, 'x')]), [['unknown_field', 0, 'z']]],
    ['an unknown output', table([{ response: { z: { value: 1 } } }]), [['unknown_field', 0, 'z']]],
    ['too few arguments', table([row({ a: { op: 'between', args: [1] } }, 'x')]), [['wrong_argument_count', 0, 'a']]],
    [
      'an argument of another type',
      table([row({ a: { op: 'equals', args: ['1'] } }, 'x')]),
      [['wrong_argument_type', 0, 'a']],
    ],
    [
      'a range the wrong way round',
      table([row({ a: { op: 'between', args: [5, 1] } }, 'x')]),
      [['wrong_range', 0, 'a']],
    ],
    [
      'a pattern with look-ahead',
      table([row({ b: { op: 'matches RegEx', args: ['a(?=b)'] } }, 'x')]),
      [['invalid_pattern', 0, 'b']],
    ],
    ['a row id twice', table([{ id: 'r' }, { id: 'r' }]), [['duplicate_row_id', 1, undefined]]],
    ['a field twice', table([], { requestSchema: [field('a'), field('a')] }), [['duplicate_field', undefined, 'a']]],
    [
      'colliding outputs',
      table([], { responseSchema: [field('a'), field('a.b')] }),
      [['colliding_fields', undefined, 'a.b']],
    ],
    [
      'a reference by name',
      table([row({ a: { op: 'equals', args: [{ $ref: 'limit' }] } }, 'x')]),
      [['unbound_value', 0, 'a']],
    ],
  ])('finds %s', (_what, document, expected) => {
    expect(problemsOf(document)).toEqual(expected);
    expect(() => compileRule(document)).toThrow(expect.objectContaining({ code: 'rule_invalid' }));
  });

  it('lists the valid operators of the type', () => {
    expect(checkRule(table([row({ a: { op: 'is huge' } }, 'x')]))[0]?.message).toMatch(
      /number do not have; valid are: any; .*greater than/,
    );
  });

  it('E-150 reports all problems at once, at most 100', () => {
    expect(
      checkRule(table(Array.from({ length: 300 }, () => row({ z: equals(1), a: { op: '?' } }, 'x')))),
    ).toHaveLength(100);
  });
});

it('E-141 evaluateMany answers each input by itself, in order', () => {
  const compiled = compileRule(table([row({ a: equals(1) }, 'one')]));
  expect(evaluateMany(compiled, [{ a: 1 }, [1], { a: 2 }, null], { now: 0 }).map((outcome) => outcome.ok)).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

describe('examples', () => {
  const root = join(__dirname, '../../../examples');
  it.each(['shipping-price', 'loan-pre-check', 'customer-discount'])('%s answers its sample', (name) => {
    const { rule } = JSON.parse(readFileSync(join(root, `${name}.json`), 'utf8')) as {
      rule: RuleTable & { sampleRequest: Record<string, unknown>; sampleResponse: unknown };
    };
    expect(outputOf(evaluate(rule, rule.sampleRequest))).toEqual(rule.sampleResponse);
  });
});
