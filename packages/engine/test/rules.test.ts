import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RuleField, type RuleRow, type RuleTable } from '@decision/contracts';
import { checkRule, compileRule, evaluateRule, type RuleOutcome } from '../src/index';

/** Cases that `cases/tables` cannot express: values outside JSON, large ones, and shared objects. */

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
const evaluate = (document: RuleTable, input: Record<string, unknown>): RuleOutcome =>
  evaluateRule(compileRule(document), input, { now: 0 });
const outputOf = (outcome: RuleOutcome): unknown => outcome.ok && outcome.output;
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
};

describe('inputs', () => {
  it.each([{ op: 'is null' }, equals(1), { op: 'does not equal', args: [1] }, { op: 'is not zero' }])(
    'E-5 NaN is of another type, and does not meet %j',
    (cell) => {
      expect(outputOf(evaluate(table([row({ a: cell }, 'hit')]), { a: Number.NaN }))).toEqual({});
    },
  );

  it('E-10 a member that is undefined is missing', () => {
    const conditions = [row({ a: { op: 'is null' } }, 'hit')];
    expect(outputOf(evaluate(table(conditions), { a: undefined }))).toEqual({ out: 'hit' });
    const requestSchema = [field('a', 'number', { defaultValue: 1 })];
    expect(outputOf(evaluate(table(conditions, { requestSchema }), { a: undefined }))).toEqual({});
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__proto__.x', 'constructor.prototype'])(
    'E-48 the key %s is a key like any other, in and out',
    (key) => {
      // A literal `__proto__` would set the prototype of an object; parsed text does not.
      const conditions = JSON.parse(
        `[{"request":{"${key}":{"op":"equals","args":[1]}},"response":{"${key}":{"value":2}}}]`,
      ) as RuleRow[];
      const document = table(conditions, { requestSchema: [field(key)], responseSchema: [field(key)] });
      expect(outputOf(evaluate(document, {}))).toEqual({});
      const output = outputOf(evaluate(document, JSON.parse(`{"${key}":1}`) as Record<string, unknown>)) as object;
      expect(Object.getPrototypeOf(output)).toBe(Object.prototype);
      expect(JSON.stringify(output)).toContain('2');
      expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    },
  );

  it('E-48 do not show what they inherit', () => {
    const input = Object.create({ a: 1 }) as Record<string, unknown>;
    expect(outputOf(evaluate(table([row({ a: equals(1) }, 'hit')]), input))).toEqual({});
  });

  it('E-2, E-4 dates that are no JSON values are of another type', () => {
    const document = table([row({ d: { op: 'is in the past' } }, 'past')], { requestSchema: [field('d', 'date')] });
    expect(outputOf(evaluate(document, { d: new Date(-1) }))).toEqual({});
    expect(outputOf(evaluate(document, { d: -1 }))).toEqual({ out: 'past' });
  });

  it('E-23 a text that is too long for the regular expressions of its field is refused, whichever row would win', () => {
    const regular = { op: 'matches RegEx', args: ['^(a|b){50}c'] };
    const document = table([row({ a: equals(1) }, 'first'), row({ b: regular }, 'second')]);
    const outcome = evaluate(document, { a: 1, b: 'a'.repeat(5_000_000) });
    const limit = outcome.ok ? 0 : Number(outcome.error.details['limit']);
    expect(outcome).toMatchObject({ error: { column: 'b', details: { reason: 'text_too_long', field: 'b' } } });
    expect(outputOf(evaluate(document, { a: 1, b: 'a'.repeat(limit) }))).toEqual({ out: 'first' });
    expect(evaluate(document, { a: 1, b: 'a'.repeat(limit + 1) }).ok).toBe(false);
    expect(outputOf(evaluate(document, { a: 1, b: 5 }))).toEqual({ out: 'first' });
  });
});

describe('outputs', () => {
  it('E-52 a cell without a value gives nothing, null is an answer', () => {
    const responseSchema = [field('out', 'string', { defaultValue: 'd' })];
    expect(outputOf(evaluate(table([{ response: { out: {} } }], { responseSchema }), {}))).toEqual({ out: 'd' });
    expect(outputOf(evaluate(table([row({}, null)], { responseSchema }), {}))).toEqual({ out: null });
  });

  it('E-60 a row may lack its request, its response and its settings', () => {
    expect(evaluate(table([{}]), {})).toEqual({ ok: true, output: {}, matched: [0] });
  });

  it('E-142 cannot be changed for the next request by changing them', () => {
    const responseSchema = [field('out', 'object'), field('deep.er')];
    const compiled = compileRule(
      table([{ response: { out: { value: { list: [1] } }, 'deep.er': { value: 1 } } }], { responseSchema }),
    );
    const first = outputOf(evaluateRule(compiled, {}, { now: 0 })) as { out: { list: number[] }; deep: object };
    expect(() => first.out.list.push(2)).toThrow(/not extensible/);
    expect(() => Object.assign(first.deep, { er: 2 })).toThrow(/read only/);
    expect(() => Object.assign(first, { more: 2 })).toThrow(/not extensible/);
    expect(outputOf(evaluateRule(compiled, {}, { now: 0 }))).toEqual({ out: { list: [1] }, deep: { er: 1 } });
  });
});

describe('explanations', () => {
  it('E-133 list 50 losing rows, or all of them', () => {
    const many = compileRule(table(Array.from({ length: 80 }, (_, index) => row({ a: equals(index) }, 'x'))));
    const brief = evaluateRule(many, {}, { now: 0, explain: 'brief' });
    const all = evaluateRule(many, {}, { now: 0, explain: 'all' });
    expect(brief.ok && [brief.explanation?.lost.length, brief.explanation?.not_listed]).toEqual([50, 30]);
    expect(all.ok && [all.explanation?.lost.length, all.explanation?.not_listed]).toEqual([80, 0]);
  });

  it.each([
    ['y'.repeat(200), 'y'.repeat(200)],
    ['y'.repeat(201), `${'y'.repeat(200)}...`],
    ['y'.repeat(1_000_000), `${'y'.repeat(200)}...`],
  ])('E-134 cut texts of more than 200 characters', (b, value) => {
    const compiled = compileRule(table([row({ b: { op: 'equals', args: ['x'] } }, 'x')]));
    const outcome = evaluateRule(compiled, { b }, { now: 0, explain: 'all' });
    expect(outcome.ok && outcome.explanation?.lost[0]?.value).toBe(value);
  });

  it('E-135 are not made unless they are asked for', () => {
    const outcome = evaluateRule(compileRule(table([])), {}, { now: 0 });
    expect(outcome).toEqual({ ok: true, output: {}, matched: [] });
  });
});

describe('checkRule', () => {
  it('E-150 a table with problems does not compile', () => {
    expect(() => compileRule(table([row({ a: { op: 'is huge' } }, 'x')]))).toThrow(
      expect.objectContaining({
        code: 'rule_invalid',
        details: { problems: [expect.objectContaining({ code: 'unknown_operator', row: 0, column: 'a' })] },
      }),
    );
  });

  it.each([
    [99, 99],
    [100, 100],
    [101, 100],
    [300, 100],
  ])('E-150 of %i problems %i are reported', (faulty, reported) => {
    const problems = checkRule(table(Array.from({ length: faulty }, () => row({ a: { op: '?' } }, 'x'))));
    expect(problems).toHaveLength(reported);
    expect(problems.at(-1)).toMatchObject({ row: reported - 1, column: 'a' });
  });

  it('E-158 arguments and values nest at most 100 levels deep', () => {
    const fields = { requestSchema: [field('a', 'list')], responseSchema: [field('out', 'list')] };
    // A list of arguments is itself a level.
    const fitting = table([row({ a: { op: 'contains', args: [nested(99)] } }, nested(100))], fields);
    expect(checkRule(fitting)).toEqual([]);
    const deeper = table([row({ a: { op: 'contains', args: [nested(100)] } }, nested(101))], fields);
    expect(checkRule(deeper).map(({ code, row: at, column }) => [code, at, column])).toEqual([
      ['too_deep', 0, 'a'],
      ['too_deep', 0, 'out'],
    ]);
    const hostile = { ...fields, responseSchema: [field('out', 'list', { defaultValue: nested(100_000) })] };
    expect(checkRule(table([], hostile))).toMatchObject([{ code: 'too_deep', path: '/responseSchema/0/defaultValue' }]);
  });

  it('E-152, E-153 messages do not grow with hostile names', () => {
    const long = 'x'.repeat(100_000);
    const [operator, unknown] = checkRule(table([row({ a: { op: long }, [long]: { op: 'any' } }, 'x')]));
    expect([operator?.code, unknown?.code]).toEqual(['unknown_operator', 'unknown_field']);
    expect(operator?.message.length).toBeLessThan(1_000);
    expect(unknown?.message.length).toBeLessThan(1_000);
  });
});

describe('the message for a cell', () => {
  const messageFor = (type: 'string' | 'number', op: string, args: readonly unknown[] = []): string => {
    const conditions = [{ request: { a: { op, args: [...args] } }, response: { out: { value: 1 } } }];
    const requestSchema = [{ key: 'a', type }];
    const [problem] = checkRule({ requestSchema, responseSchema: [{ key: 'out', type: 'number' }], conditions });
    return problem?.message ?? '';
  };

  it.each([
    ['string', 'equal', 'equals'],
    ['string', 'is_included_in', 'is included in'],
    ['string', 'contians', 'contains'],
    ['number', 'greater then', 'greater than'],
  ] as const)('with the unknown %s operator "%s" names "%s" before the valid ones', (type, op, near) => {
    expect(messageFor(type, op)).toMatch(new RegExp(`did you mean "${near}"; valid are: any; `));
  });

  it('suggests nothing if no operator is near', () => {
    expect(messageFor('number', 'xyzzy')).toMatch(/which fields of type number do not have; valid are: any; /);
  });

  it.each([
    [['a', 'b'], 'args: [["a","b"]]'],
    [['a', 'b', 'c', 'd'], 'args: [["a","b","c",...]]'],
    [['x'.repeat(100), 'b'], 'args: [[...,"b"]]'],
  ])('that spreads a list over several arguments shows how the list is written', (args, shown) => {
    expect(messageFor('string', 'is included in', args)).toContain(`a list is one argument: write ${shown}`);
  });

  it('says only how many arguments an operator without a list takes if there are too many', () => {
    expect(messageFor('string', 'equals', ['a', 'b'])).toMatch(/gives "equals" 2 arguments; it takes 1 \(value\)\.?$/);
  });
});

describe('examples', () => {
  const root = join(__dirname, '../../../examples/starter/rules');
  it.each(['shipping-price', 'loan-pre-check', 'customer-discount'])('%s answers its sample', (name) => {
    const { rule } = JSON.parse(readFileSync(join(root, `${name}.json`), 'utf8')) as {
      rule: RuleTable & { sampleRequest: Record<string, unknown>; sampleResponse: unknown };
    };
    expect(outputOf(evaluate(rule, rule.sampleRequest))).toEqual(rule.sampleResponse);
  });
});
