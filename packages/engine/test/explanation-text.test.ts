import { type FieldType, type RuleTable } from '@decision/contracts';
import fc from 'fast-check';
import {
  type Audience,
  compileRule,
  evaluateRule,
  type ExplainMode,
  type RuleExplanation,
  type StoredValue,
} from '../src';
import { PARTS } from '../src/compile/compiled-rule';
import { bytesOfConditionTexts } from '../src/compile/condition-texts';
import { pick, type Random, randomFrom, runSeed, times } from './support/random';
import { NOW, randomInput, randomTable, type TableShape } from './support/random-table';

const seed = runSeed();

const shapes: fc.Arbitrary<TableShape> = fc.record({
  rows: fc.integer({ min: 0, max: 150 }),
  columns: fc.integer({ min: 1, max: 6 }),
  blanks: fc.constantFrom(0, 0.3, 0.7),
  values: fc.constantFrom(2, 50, 2_000),
  indexable: fc.boolean(),
  unusual: fc.constantFrom(0, 0.2),
  narrow: fc.boolean(),
  extremes: fc.constantFrom(0, 0.1, 0.5),
});

/** Keys that JSON escapes, one of them the path of a nested member. */
const KEYS: Readonly<Record<string, string>> = { f0: 'quo"ted', f1: 'ne.sted', f2: 'line\u2028', f3: 'ü\\' };
const keyOf = (key: string): string => KEYS[key] ?? key;
const GROUPS = ['north', 'south'];
const READERS: readonly { readonly audience?: Audience }[] = [
  ...[{}, { audience: [] }, { audience: ['north'] }],
  ...[{ audience: 'unrestricted' } as const, { audience: 'unrestricted' } as const],
];
/** From noon to an hour outside all schedules of random tables. */
const EVENING = 8 * 3_600_000;
const LONG = '"long €\n'.repeat(100);

interface Sample {
  readonly table: RuleTable;
  readonly values: readonly StoredValue[];
}

/** The table with other keys, and with some arguments and defaults replaced by references to values, small and large. */
const withReferences = (random: Random, table: RuleTable): Sample => {
  const values: StoredValue[] = [];
  const referTo = (value: unknown): unknown => {
    const id = `v${values.length}`;
    const audiences = times(Math.floor(random() * 3), () => [pick(random, GROUPS)]);
    values.push({ id, name: `"${id}"`, type: 'text', value, audiences });
    return { $rb: 'globalValue', id, name: `"${id}"` };
  };
  const conditions = table.conditions.map((row) => ({
    ...row,
    request: Object.fromEntries(
      Object.entries(row.request ?? {}).map(([key, { op, args = [] }]) => [
        keyOf(key),
        { op, args: args.map((argument) => (random() < 0.1 ? referTo(argument) : argument)) },
      ]),
    ),
  }));
  const requestSchema = table.requestSchema.map(({ key, type }) => ({
    ...{ key: keyOf(key), type },
    ...(type === 'string' && random() < 0.3 ? { defaultValue: referTo(pick(random, ['', LONG])) } : {}),
  }));
  return { table: { ...table, requestSchema, conditions }, values };
};

/** An input under the other keys: nested if the key is a path, and sometimes with a long text. */
const renamed = (random: Random, input: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(input).map(([key, plain]) => {
      const value = random() < 0.05 ? LONG : plain;
      return key === 'f1' && random() < 0.7 ? ['ne', { sted: value }] : [keyOf(key), value];
    }),
  );

/** Counts of what the explanations of this run showed. */
const shown = { reasons: new Set<string>(), groups: 0, references: 0, contents: 0, long: 0, full: 0 };

const note = (text: string, { lost, group }: RuleExplanation): void => {
  for (const { because } of lost) shown.reasons.add(because);
  if (group !== undefined) shown.groups += 1;
  if (lost.length >= 50) shown.full += 1;
  if (text.includes('"$rb"')) shown.references += 1;
  if (/"\$rb":"globalValue","id":"v\d+","name":"[^,]*","value":/.test(text)) shown.contents += 1;
  if (text.includes('..."')) shown.long += 1;
};

it(`E-137 the text of an explanation is its JSON (seed ${seed})`, () => {
  fc.assert(
    fc.property(shapes, fc.integer(), fc.constantFrom('index', 'scan'), (shape, tableSeed, search) => {
      const random = randomFrom(tableSeed);
      const plain = randomTable(random, shape);
      const { table, values } = withReferences(random, plain);
      const byId = new Map(values.map((value) => [value.id, value]));
      const rule = compileRule(table, { search, values: { revision: 1, get: (id) => byId.get(id) } });
      for (const input of times(12, () => renamed(random, randomInput(random, plain, shape)))) {
        const options = {
          now: pick(random, [NOW, NOW + EVENING]),
          explain: pick<ExplainMode>(random, ['brief', 'all']),
          ...pick(random, READERS),
        } as const;
        const [first, second] = [evaluateRule(rule, input, options), evaluateRule(rule, input, options)];
        if (!first.ok || !second.ok || first.explanation === undefined) continue;
        const text = first.explanation.text();
        expect(text).toBe(JSON.stringify(second.explanation));
        expect(text).toBe(JSON.stringify(first.explanation));
        note(text, first.explanation);
      }
    }),
    { seed, numRuns: 150 },
  );
  expect([...shown.reasons].sort()).toEqual(['cell', 'missing', 'no_cell_of_or_row', 'schedule', 'wrong_type']);
  for (const count of [shown.groups, shown.references, shown.contents, shown.long, shown.full])
    expect(count).toBeGreaterThan(20);
});

const explanationOf = (...args: Parameters<typeof evaluateRule>): RuleExplanation => {
  const outcome = evaluateRule(...args);
  if (!outcome.ok || outcome.explanation === undefined) throw new RangeError('There is no explanation.');
  return outcome.explanation;
};

/** Rows that test one of many texts, none of which is an input of these tests. */
const tableOfSets = (rows: number, texts: (row: number) => readonly unknown[]): RuleTable => ({
  requestSchema: [{ key: 'a', type: 'string' }],
  responseSchema: [],
  conditions: times(rows, (row) => ({ request: { a: { op: 'is included in', args: [texts(row)] } } })),
});

const textsOf = (row: number, count: number): readonly string[] => times(count, (at) => `text ${row} of ${at}`);

it('E-137 E-167 the text of an explanation stops where the rows of it do', () => {
  const rule = compileRule(tableOfSets(3_000, (row) => textsOf(row, 40)));
  const explanation = explanationOf(rule, { a: 'none' }, { now: NOW, explain: 'all' });
  const text = explanation.text();
  expect(text).toBe(JSON.stringify(explanation));
  expect(explanation.not_listed).toBeGreaterThan(100);
  expect(text.length).toBeLessThan(3_000_000);
});

it.each([
  ...[
    '"',
    '\\',
    '\u0000',
    '\u001f',
    ' ',
    '~',
    '\u007f',
    'é',
    '\u2028',
    '\ud83d',
    '😀',
    '',
    'x'.repeat(64),
    '"'.repeat(65),
  ],
  ...[0, -0, 1e21, 1.5e-7, -12.5, Number.NaN, Number.POSITIVE_INFINITY, true, null, [1], { b: 1 }, '2026-02-30'],
])('E-136 the text shows the value %j as JSON.stringify does', (value) => {
  const conditions: readonly (readonly [type: FieldType, op: string, args: unknown[]])[] = [
    ['string', 'equals', ['none']],
    ['number', 'equals', [7]],
    ['date', 'equals', ['2001-01-01']],
    ['boolean', 'equals', [false]],
    ['list', 'is empty', []],
    ['object', 'is null', []],
  ];
  for (const [type, op, args] of conditions) {
    // With many rows the text of the value is contiguous.
    for (const rows of [2, 20]) {
      const rule = compileRule({
        requestSchema: [{ key: 'a', type }],
        responseSchema: [],
        conditions: times(rows, () => ({ request: { a: { op, args } }, response: {} })),
      });
      const explanation = explanationOf(rule, { a: value }, { now: NOW, explain: 'brief' });
      expect(explanation.text()).toBe(JSON.stringify(explanation));
    }
  }
});

it('E-136 E-137 the text for one reader does not show what another one saw', () => {
  const value = { id: 'v', name: 'v', type: 'string', value: 'hidden', audiences: [['north']] };
  const table = tableOfSets(2, () => [{ $rb: 'globalValue', id: 'v' }]);
  const rule = compileRule(table, { values: { revision: 1, get: () => value } });
  const textFor = (audience: Audience): string =>
    explanationOf(rule, { a: 'x' }, { now: NOW, explain: 'brief', audience }).text();
  expect(textFor('unrestricted')).toContain('hidden');
  expect(textFor(['south'])).not.toContain('hidden');
  expect(textFor(['north'])).toContain('hidden');
});

it('E-137 the text of an explanation shows the values on which the answer rests, and later ones those of later', () => {
  let current = 'before';
  let revision = 1;
  const table = tableOfSets(2, () => [{ $rb: 'globalValue', id: 'v' }, 'always']);
  const get = (): StoredValue => ({ id: 'v', name: 'v', type: 'string', value: current, audiences: [['north']] });
  const rule = compileRule(table, { values: { get revision() { return revision; }, get } }); // prettier-ignore
  const ask = (): RuleExplanation =>
    explanationOf(rule, { a: 'x' }, { now: NOW, explain: 'brief', audience: 'unrestricted' });
  const asked = ask();
  current = 'after';
  revision += 1;
  expect(ask().text()).toContain('after');
  expect(asked.text()).toContain('before');
});

describe('E-172 the texts that explanations keep of one rule', () => {
  const keptBytes = (table: RuleTable): readonly [kept: number, counted: number] => {
    const rule = compileRule(table);
    explanationOf(rule, { a: 'none' }, { now: NOW, explain: 'all' }).text();
    const { conditionTexts, clauses } = rule[PARTS].search;
    const texts = clauses.origins.args.map((_args, cell) => conditionTexts.get(cell)?.text ?? '');
    const kept = texts.reduce((sum, text) => sum + text.length, 0);
    const cells = Math.min(50, clauses.origins.args.length);
    const sizes = clauses.origins.args.map((args) => JSON.stringify(args).length);
    return [kept, bytesOfConditionTexts(cells, (cell) => sizes[cell] ?? 0)];
  };

  it.each([
    ['few and small', 8, 1, '', 500],
    ['as many as a brief explanation lists', 5_000, 1, '', 3_000],
    ['large ones, as long as there is room', 5_000, 18, '"'.repeat(40), 60_000],
  ])('are counted and bounded: %s', (_what, rows, texts, prefix, least) => {
    const [kept, counted] = keptBytes(tableOfSets(rows, (row) => textsOf(row, texts).map((text) => prefix + text)));
    expect(kept).toBeGreaterThan(least);
    expect(kept).toBeLessThanOrEqual(65_536);
    expect(counted).toBeGreaterThan(kept);
  });

  it('count as bytes of the rule', () => {
    const bytesOf = (rows: number): number => compileRule(tableOfSets(rows, (row) => textsOf(row, 1)))[PARTS].bytes;
    // The first 50 rows cache texts, the following ones do not.
    expect(bytesOf(50) - bytesOf(0)).toBeGreaterThan(bytesOf(100) - bytesOf(50) + 50 * 100);
  });
});
