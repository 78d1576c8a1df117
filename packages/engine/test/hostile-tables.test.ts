import { checkRuleTable, fieldTypes, hitPolicies, type RuleTable, ServiceError } from '@decision/contracts';
import fc from 'fast-check';
import { checkRule, type CompiledRule, compileRule, evaluateMany, operatorCatalogue } from '../src/index';
import { growthFault } from './support/growth';
import { runSeed, times } from './support/random';

const seed = runSeed();

/** Keys and ids for tables: few, so that they collide; some odd. */
const name = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'a.b.c',
  'a..b',
  '.',
  '__proto__',
  'constructor.x',
  '\ud800',
  'é\u0301',
  '$values',
  ' ',
);
const operator = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...operatorCatalogue.map(({ op }) => op)) },
  fc.constantFrom('__proto__', 'toString', 'unknown'),
);
const formula = fc.constantFrom(
  '1',
  'a',
  'a + 1',
  'b.c',
  '$f(1)',
  '$`__proto__`(1)',
  'sum',
  'sum($values)',
  'list',
  '(',
  '',
  'matches(a, "(a)\\\\1")',
);
const version = fc.constantFrom('1.0.0', '2.0.0-rc.1', '^1', '*', '09:30', '2026-01-01', '(a', 'a+', '(?=a)');
const reference = fc.constantFrom(
  { $ref: 'x' },
  { $rb: 'globalValue', id: 'list' },
  { $rb: 'globalValue', id: 'none' },
  { $rb: 1 },
);
const value = fc.oneof(
  { depthSize: 'small' },
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(1e308, 5e-324, -0),
  version,
  reference,
  fc.array(fc.oneof(fc.integer(), fc.string({ maxLength: 3 })), { maxLength: 3 }),
);

const members = <T>(key: fc.Arbitrary<string>, member: fc.Arbitrary<T>) =>
  // Built by hand: a key __proto__ must be an own one, as in parsed JSON.
  fc.array(fc.tuple(key, member), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));

const field = fc.record(
  {
    key: name,
    type: fc.constantFrom(...fieldTypes),
    defaultValue: value,
    defaultComputedValue: fc.option(formula),
  },
  { requiredKeys: ['key', 'type'] },
);

/** A cell that probably fits some field type, or an arbitrary one. */
const cell = fc.oneof(
  fc.constantFrom(...operatorCatalogue).map(({ op, example }) => ({ op, args: [...example.args] })),
  fc.record({ op: operator, args: fc.array(value, { maxLength: 3 }) }, { requiredKeys: ['op'] }),
);

const settings = fc.record(
  {
    enabled: fc.boolean(),
    or: fc.boolean(),
    priority: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    groupId: fc.option(name),
    schedule: fc.option(
      fc.array(
        fc.record(
          {
            days: fc.array(fc.integer({ min: 0, max: 6 })),
            start: fc.constantFrom('00:00', '24:00', '24:59', '09:30'),
            end: fc.constantFrom('00:00', '23:59'),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
    ),
  },
  { requiredKeys: [] },
);

const tables: fc.Arbitrary<RuleTable> = fc.record(
  {
    requestSchema: fc.array(field, { maxLength: 4 }),
    responseSchema: fc.array(field, { maxLength: 4 }),
    conditions: fc.array(
      fc.record(
        {
          id: fc.constantFrom('1', '2', '__proto__'),
          request: members(name, cell),
          response: members(name, fc.record({ value: fc.oneof(value, formula) }, { requiredKeys: [] })),
          settings,
        },
        { requiredKeys: [] },
      ),
      { maxLength: 6 },
    ),
    groups: members(
      name,
      fc.record(
        { hitPolicy: fc.constantFrom(...hitPolicies), accumulators: members(name, formula) },
        { requiredKeys: ['hitPolicy'] },
      ),
    ),
    settings: fc.record({ strictInput: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: ['requestSchema', 'responseSchema', 'conditions'] },
);

/** Tables of valid fields, whose cells are mostly valid too: many of them compile. */
const soundTables: fc.Arbitrary<RuleTable> = fc
  .array(
    fc.record({
      entry: fc.constantFrom(...operatorCatalogue),
      wild: fc.option(fc.array(value, { maxLength: 3 }), { freq: 6 }),
      output: fc.oneof(value, formula),
      settings,
    }),
    { maxLength: 2 },
  )
  .map((rows) => ({
    requestSchema: fieldTypes.filter((type) => type !== 'function').map((type) => ({ key: type, type })),
    responseSchema: [
      { key: 'a', type: 'number' },
      { key: 'b.__proto__', type: 'list' },
    ],
    conditions: rows.map(({ entry, wild, output, settings: { groupId: _group, ...others } }) => ({
      request: { [entry.type]: { op: entry.op, args: wild ?? [...entry.example.args] } },
      response: { a: { value: output }, 'b.__proto__': { value: [output] } },
      settings: others,
    })),
  }));

const stored = [
  { id: 'list', name: 'x', type: 'list', value: ['a', 1, null] },
  { id: 'f', name: 'f', type: 'function', value: { parameters: ['n'], formula: 'n + 1' } },
];
const values = { revision: 1, get: (id: string) => stored.find((one) => one.id === id) };

const compileOrProblems = (table: RuleTable): CompiledRule | undefined => {
  try {
    return compileRule(table, { values });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('rule_invalid');
    return undefined;
  }
};

describe('E-161 any table that has the shape of one', () => {
  it(`is checked without a throw, compiles where it has no problem, and then answers any JSON (seed ${seed})`, () => {
    let compiled = 0;
    fc.assert(
      fc.property(
        fc.oneof(tables, soundTables),
        fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 3 }),
        members(fc.oneof(name, fc.constantFrom(...fieldTypes)), value),
        (table, inputs, input) => {
          fc.pre(checkRuleTable(table).ok);
          const problems = checkRule(table, { values });
          const rule = compileOrProblems(table);
          expect(rule === undefined).toBe(problems.length > 0);
          if (rule === undefined) return;
          compiled += 1;
          for (const explain of ['none', 'all'] as const) {
            const outcomes = evaluateMany(rule, [...inputs, input], { now: 1_778_673_600_000, explain });
            expect(typeof JSON.stringify(outcomes)).toBe('string');
          }
        },
      ),
      { seed, numRuns: 4_000 },
    );
    expect(compiled).toBeGreaterThan(100);
  });

  it(`leaves prototypes alone (seed ${seed})`, () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length;
    fc.assert(
      fc.property(tables, (table) => void compileOrProblems(table)),
      { seed, numRuns: 500 },
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before);
  });
});

const numbered = (
  count: number,
  type: RuleTable['requestSchema'][number]['type'],
  prefix = 'c',
): RuleTable['requestSchema'] => times(count, (index) => ({ key: `${prefix}${index}`, type }));

describe('E-162 large tables cost what their size says', () => {
  const huge = times(20_000, (index) => index);
  const shapes: Readonly<Record<string, (size: number) => RuleTable>> = {
    'rows of OR cells': (size) => ({
      requestSchema: numbered(8, 'number'),
      responseSchema: [],
      conditions: times(size, (row) => ({
        request: Object.fromEntries(
          times(8, (column) => [`c${column}`, { op: 'is included in', args: [[row, row * 7, column]] }]),
        ),
        settings: { or: true },
      })),
    }),
    'rows of huge lists': (size) => ({
      requestSchema: numbered(2, 'number'),
      responseSchema: [],
      conditions: times(Math.ceil(size / 500), (row) => ({
        request: { c0: { op: 'is included in', args: [[...huge, row]] } },
      })),
    }),
    'ranges within one another': (size) => ({
      requestSchema: numbered(2, 'number'),
      responseSchema: [],
      conditions: times(size, (row) => ({ request: { c0: { op: 'between', args: [row, 2 * size - row] } } })),
    }),
    columns: (size) => ({
      requestSchema: numbered(Math.ceil(size / 4), 'number'),
      responseSchema: numbered(Math.ceil(size / 4), 'number', 'o'),
      conditions: times(20, (row) => ({
        request: Object.fromEntries(
          times(size / 4, (column) => [`c${column}`, { op: 'equals', args: [(row * 7 + column) % 11] }]),
        ),
      })),
    }),
    'columns of which each row has one': (size) => ({
      requestSchema: numbered(500, 'number'),
      responseSchema: [],
      conditions: times(size, (row) => ({ request: { [`c${row % 500}`]: { op: 'equals', args: [row] } } })),
    }),
    'fields of the same key': (size) => ({
      requestSchema: times(size, () => ({ key: 'a', type: 'number' })),
      responseSchema: [],
      conditions: [],
    }),
    groups: (size) => ({
      requestSchema: [],
      responseSchema: [],
      conditions: times(size, (row) => ({ settings: { groupId: `🦆${row}` } })),
      groups: Object.fromEntries(times(size, (row) => [`🦆${row}`, { hitPolicy: 'fill' }])),
    }),
    'unknown fields': (size) => ({
      requestSchema: numbered(500, 'number'),
      responseSchema: [],
      conditions: [{ request: Object.fromEntries(times(size, (index) => [`u${index}`, { op: 'any' }])) }],
    }),
  };

  it.each(Object.entries(shapes))(
    '%s',
    (_name, tableAt) => {
      const workAt = (size: number) => {
        const table = tableAt(size);
        return () => {
          if (checkRule(table).length === 0) compileRule(table);
        };
      };
      expect(growthFault(workAt, 4_000)).toBeUndefined();
    },
    180_000,
  );

  it('a million empty rows of a thousand outputs are refused before they take memory', () => {
    const table: RuleTable = {
      requestSchema: [],
      responseSchema: numbered(1_000, 'number'),
      conditions: times(1_000_000, () => ({})),
    };
    expect(checkRule(table)).toMatchObject([{ code: 'too_large', path: '/conditions' }]);
  });

  it('messages stay short, whatever the names', () => {
    const long = 'x'.repeat(1_000_000);
    const table: RuleTable = {
      requestSchema: numbered(1_000, 'number', 'y'.repeat(500)),
      responseSchema: [],
      conditions: times(200, () => ({ request: { [long]: { op: long } }, settings: { groupId: long } })),
    };
    const problems = checkRule(table);
    expect(problems).toHaveLength(100);
    for (const { message } of problems) expect(message.length).toBeLessThan(5_000);
  });
});

describe('E-163 regular expressions', () => {
  const patterns = (...sources: readonly string[]): RuleTable => ({
    requestSchema: [{ key: 'text', type: 'string' }],
    responseSchema: [],
    conditions: sources.map((source) => ({ request: { text: { op: 'matches RegEx', args: [source] } } })),
  });

  it.each([
    ['a back-reference', '(a)\\1', '\\1'],
    ['a named back-reference', '(?P<n>a)(?P=n)', '(?P'],
    ['look-ahead', 'a(?=b)', '(?='],
    ['negative look-ahead', 'a(?!b)', '(?!'],
    ['look-behind', '(?<=a)b', '(?<=a)'],
    ['negative look-behind', '(?<!a)b', '(?<!a)'],
    ['a possessive quantifier', 'a++', '++'],
    ['an atomic group', '(?>a)', '(?>'],
    ['recursion', '(?R)', '(?R'],
    ['a condition', '(a)(?(1)b|c)', '(?('],
    ['a repetition beyond 1,000', 'a{1001}', '{1001}'],
    ['repetitions that multiply', '((a{1,100}){1,100}){1,100}', '{1,100}'],
    ['repetitions that unfold', '((a{1,10}){1,10}){1,10}', 'instructions'],
    ['repetitions side by side', '(a{1000})'.repeat(100), 'instructions'],
    ['folded classes', '(?i:[a-\uffff])'.repeat(60), 'classes'],
    ['too long a pattern', 'a'.repeat(1_001), '1000 characters'],
  ])('%s is a problem that names it', (_name, source, named) => {
    const [problem] = checkRule(patterns(source));
    expect(problem).toMatchObject({ code: 'invalid_pattern', row: 0, column: 'text' });
    expect(problem?.message).toContain(named);
  });

  it.each([
    '(a+)+$',
    '(.*a){25}',
    '(a|a)*[bc]',
    '(a*)*[bc]',
    '([a-z]+)*[0-9!]$',
    '(?:a?){150}a{150}[bc]',
    '\\pL{1,100}[!?]$',
  ])('%s answers for a text as long as it allows, and refuses a longer one', (source) => {
    const rule = compileRule(patterns(source));
    const ask = (length: number) => evaluateMany(rule, [{ text: `${'a'.repeat(length)}_` }], { now: 0 })[0];
    const refused = ask(20_000_000);
    expect(refused).toMatchObject({ ok: false, error: { details: { reason: 'text_too_long', field: 'text' } } });
    const limit = Number(refused?.ok === false && refused.error.details['limit']);
    expect(limit).toBeGreaterThanOrEqual(20_000);
    expect(ask(limit - 1)?.ok).toBe(true);
    expect(ask(limit)?.ok).toBe(false);
  });

  it('a megabyte is asked about a simple one', () => {
    const rule = compileRule(patterns('^[a-z]+@[a-z]+$'));
    expect(evaluateMany(rule, [{ text: 'a'.repeat(1_000_000) }], { now: 0 })[0]).toMatchObject({ ok: true });
  });

  it('count together over many rows', () => {
    const rule = compileRule(patterns(...times(1_000, (index) => `(a|b)+${index}[cd]`)));
    expect(evaluateMany(rule, [{ text: 'a'.repeat(1_000) }], { now: 0 })[0]).toMatchObject({ ok: true });
    expect(evaluateMany(rule, [{ text: 'a'.repeat(50_000) }], { now: 0 })[0]).toMatchObject({
      ok: false,
      error: { details: { reason: 'text_too_long' } },
    });
  });

  it.each([
    ['large ones', (index: number) => `a{900}${index}`],
    ['those of Unicode classes', (index: number) => `${'\\pL'.repeat(30)}${index}`],
  ])('too many %s in one table are a problem, not an hour', (_name, source) => {
    const problems = checkRule(patterns(...times(20_000, source)));
    expect(problems[0]?.message).toContain('too many together');
  });

  it('count for the table in formulas too', () => {
    const cell = (row: number): string => times(20, (index) => `matches(text, "a{900}${row}_${index}")`).join(' or ');
    const table: RuleTable = {
      requestSchema: [{ key: 'text', type: 'string' }],
      responseSchema: [{ key: 'out', type: 'function' }],
      conditions: times(300, (row) => ({ response: { out: { value: cell(row) } } })),
    };
    expect(checkRule(table)[0]).toMatchObject({ code: 'invalid_formula' });
    expect(checkRule(table)[0]?.message).toContain('too many together');
  });
});
