import { type RuleRow, type RuleTable } from '@decision/contracts';
import fc from 'fast-check';
import { type CompiledRule, compileRule, evaluateMany, evaluateRule, type RuleOutcome } from '../src/index';
import { randomFrom, runSeed, times } from './support/random';
import { DATE_LIKE } from './support/extremes';
import { NOW, randomInput, randomTable, type TableShape } from './support/random-table';

const seed = runSeed();
const RUNS = { seed, numRuns: 150 };

/** Small tables in which many rows match, including groups, OR rows and schedules. */
const shapes: fc.Arbitrary<TableShape> = fc.record({
  rows: fc.integer({ min: 1, max: 30 }),
  columns: fc.integer({ min: 1, max: 4 }),
  blanks: fc.constantFrom(0.3, 0.7),
  values: fc.constantFrom(2, 10),
  indexable: fc.boolean(),
  unusual: fc.constantFrom(0, 0.2),
  narrow: fc.constant(false),
  extremes: fc.constantFrom(0, 0.1),
});

interface Sample {
  readonly table: RuleTable;
  readonly inputs: readonly Record<string, unknown>[];
}

const samples = fc.tuple(shapes, fc.integer()).map(([shape, tableSeed]): Sample => {
  const random = randomFrom(tableSeed);
  const table = randomTable(random, shape);
  return { table, inputs: times(20, () => randomInput(random, table, shape)) };
});

const ask = (rule: CompiledRule, input: Record<string, unknown>): RuleOutcome =>
  evaluateRule(rule, input, { now: NOW, explain: 'all' });
const plain = (outcome: RuleOutcome): unknown => JSON.parse(JSON.stringify(outcome)) as unknown;
const withRows = (table: RuleTable, change: (row: RuleRow, index: number) => RuleRow): RuleTable => ({
  ...table,
  conditions: table.conditions.map(change),
});

/** The content of an answer; the rows that made it are numbered by `row` of their outputs. */
const answerIn = (outcome: RuleOutcome): unknown => (outcome.ok ? outcome.output : outcome.error.details);

it(`E-65 rows of distinct priorities may stand in any order (seed ${seed})`, () => {
  fc.assert(
    fc.property(samples, fc.infiniteStream(fc.nat()), ({ table, inputs }, keys) => {
      const ordered = withRows(table, (row, index) => ({ ...row, settings: { ...row.settings, priority: index } }));
      const order = ordered.conditions.map((row) => ({ row, key: Number(keys.next().value) }));
      const shuffled = order.sort((a, b) => a.key - b.key).map(({ row }) => row);
      const rules = [compileRule(ordered), compileRule({ ...ordered, conditions: shuffled })] as const;
      for (const input of inputs) expect(answerIn(ask(rules[1], input))).toEqual(answerIn(ask(rules[0], input)));
    }),
    RUNS,
  );
});

it(`E-66 disabling a row that does not answer changes nothing (seed ${seed})`, () => {
  fc.assert(
    fc.property(samples, fc.nat(), ({ table, inputs }, choice) => {
      const rule = compileRule(table);
      for (const input of inputs.slice(0, 5)) {
        const outcome = ask(rule, input);
        if (!outcome.ok) continue;
        const losers = table.conditions.map((_row, index) => index).filter((index) => !outcome.matched.includes(index));
        const loser = losers[choice % Math.max(1, losers.length)];
        const others = withRows(table, (row, index) =>
          index === loser ? { ...row, settings: { ...row.settings, enabled: false } } : row,
        );
        const again = ask(compileRule(others), input);
        expect(again.ok && [again.output, again.matched]).toEqual([outcome.output, outcome.matched]);
      }
    }),
    RUNS,
  );
});

it(`E-135 the winner of the explanation is that of the answer, with and without it (seed ${seed})`, () => {
  fc.assert(
    fc.property(samples, ({ table, inputs }) => {
      const rule = compileRule(table);
      for (const input of inputs) {
        const unexplained = evaluateRule(rule, input, { now: NOW });
        const outcome = ask(rule, input);
        if (!outcome.ok || !unexplained.ok) {
          expect(outcome).toEqual(unexplained);
          continue;
        }
        const { matched, explanation } = outcome;
        expect([outcome.output, matched]).toEqual([unexplained.output, unexplained.matched]);
        expect(explanation?.matched).toEqual(matched);
        const lost = explanation?.lost.map(({ row }) => row) ?? [];
        expect(lost.filter((row) => matched.includes(row))).toEqual([]);
        expect(new Set(lost).size).toBe(lost.length);
        expect(lost.filter((row) => table.conditions[row]?.settings?.enabled === false)).toEqual([]);
        const groupId = matched[0] === undefined ? undefined : table.conditions[matched[0]]?.settings?.groupId;
        expect(explanation?.group).toBe(groupId);
      }
    }),
    RUNS,
  );
});

it(`E-141 many inputs are answered as each alone (seed ${seed})`, () => {
  fc.assert(
    fc.property(samples, ({ table, inputs }) => {
      const options = { now: NOW, explain: 'brief' } as const;
      const mixed: readonly unknown[] = [...inputs, null, 'text', ...inputs];
      const many = evaluateMany(compileRule(table), mixed, options);
      const alone = mixed.map(
        (input) => evaluateRule(compileRule(table), input as Record<string, unknown>, options), // inputs that are not objects have an outcome too
      );
      expect(many.map(plain)).toEqual(alone.map(plain));
    }),
    { seed, numRuns: 40 },
  );
});

it(`E-67 answers the same whatever was asked before (seed ${seed})`, () => {
  fc.assert(
    fc.property(samples, ({ table, inputs }) => {
      const rule = compileRule(table);
      const first = inputs.map((input) => plain(ask(rule, input)));
      const backwards = [...inputs].reverse().map((input) => plain(ask(rule, input)));
      expect(backwards.reverse()).toEqual(first);
      expect(inputs.map((input) => plain(ask(compileRule(table), input)))).toEqual(first);
    }),
    { seed, numRuns: 40 },
  );
});

it(`E-142 a table that is changed after it was compiled changes no answer (seed ${seed})`, () => {
  fc.assert(
    fc.property(samples, ({ table, inputs }) => {
      const mine = JSON.parse(JSON.stringify(table)) as RuleTable;
      const rule = compileRule(mine);
      for (const row of mine.conditions) {
        for (const cell of Object.values(row.request ?? {})) cell.args?.forEach((arg) => emptied(arg));
        row.request = {};
        row.response = {};
      }
      mine.conditions.length = 0;
      const untouched = compileRule(table);
      for (const input of inputs) expect(plain(ask(rule, input))).toEqual(plain(ask(untouched, input)));
    }),
    { seed, numRuns: 40 },
  );
});

const emptied = (value: unknown): void => {
  if (Array.isArray(value)) value.length = 0;
  else if (typeof value === 'object' && value !== null)
    for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
};

it(`E-159 names, descriptions and what is for editors do not decide (seed ${seed})`, () => {
  const decoration = {
    name: 'n',
    description: 'd',
    show: false,
    valuesOnly: true,
    valuesPrefix: 'p',
    transform: 'upper(value)',
  };
  fc.assert(
    fc.property(samples, ({ table, inputs }) => {
      const decorated = {
        ...table,
        requestSchema: table.requestSchema.map((field) => ({ ...field, ...decoration })),
        responseSchema: table.responseSchema.map((field) => ({ ...field, ...decoration })),
      };
      const [rule, other] = [compileRule(table), compileRule(decorated)];
      for (const input of inputs) expect(plain(ask(other, input))).toEqual(plain(ask(rule, input)));
    }),
    { seed, numRuns: 20 },
  );
});

describe('E-30 the dates of conditions are those of formulas', () => {
  const rule = compileRule({
    requestSchema: [{ key: 'at', type: 'date' }],
    responseSchema: [{ key: 'isDate', type: 'boolean', defaultValue: false }],
    conditions: ['on or after', 'before'].map((op) => ({
      request: { at: { op, args: ['2026-05-13'] } },
      response: { isDate: { value: true } },
    })),
  });
  const formula = compileRule({
    requestSchema: [{ key: 'at', type: 'object' }],
    responseSchema: [{ key: 'day', type: 'function' }],
    conditions: [{ request: {}, response: { day: { value: 'date(at)' } } }],
  });

  it.each(DATE_LIKE.map((at) => ({ at })))('$at', ({ at }) => {
    const condition = ask(rule, { at });
    expect(condition.ok && condition.output['isDate']).toBe(ask(formula, { at }).ok);
  });
});
