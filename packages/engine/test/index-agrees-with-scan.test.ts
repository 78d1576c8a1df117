import { type RuleTable } from '@decision/contracts';
import fc from 'fast-check';
import { compileRule, evaluateRule, operatorCatalogue, type RuleOutcome } from '../src';
import { NodeKind } from '../src/index/index-matcher';
import { randomFrom, runSeed, times } from './support/random';
import { NOW, randomInput, randomTable, type TableShape } from './support/random-table';
import { compileIndexed, indexedOperators, nodesOf, PLANNERS } from './support/searches';

const seed = runSeed();
/** `npm run test:long` compares several times as many tables. */
const IS_LONG = process.env['TEST_LONG'] === '1';

const shapes = (maxRows: number): fc.Arbitrary<TableShape> =>
  fc.record({
    rows: fc.integer({ min: 0, max: maxRows }),
    columns: fc.integer({ min: 1, max: 6 }),
    blanks: fc.constantFrom(0, 0.3, 0.7),
    values: fc.constantFrom(2, 10, 50, 2_000),
    indexable: fc.boolean(),
    unusual: fc.constantFrom(0, 0.06),
    narrow: fc.boolean(),
    extremes: fc.constantFrom(0, 0.1, 0.5, 1),
  });

/** Counts of the comparisons of this run. */
const compared = { answers: 0, groups: 0, explanations: 0, operators: new Set<string>(), byBitmaps: new Set<string>() };

const note = (outcome: RuleOutcome): void => {
  compared.answers += 1;
  if (!outcome.ok) return;
  if (outcome.explanation?.group !== undefined) compared.groups += 1;
  if ((outcome.explanation?.lost.length ?? 0) > 0) compared.explanations += 1;
};

const noteOperators = ({ requestSchema, conditions }: RuleTable, into: Set<string>): void => {
  const types = new Map(requestSchema.map(({ key, type }) => [key, type]));
  for (const { request = {} } of conditions)
    for (const [key, { op }] of Object.entries(request)) into.add(`${types.get(key) ?? ''}: ${op}`);
};

/** Compares every answer of several indexes with that of the scan, including explanations; returns the kinds of nodes in the usual index. */
const compare = (shape: TableShape, tableSeed: number, inputs: number): ReadonlySet<number> => {
  const random = randomFrom(tableSeed);
  const table = randomTable(random, shape);
  noteOperators(table, compared.operators);
  const indexes = Object.values(PLANNERS).map((planner) => compileIndexed(table, planner));
  const kinds = indexes.map(({ root }) => new Set(nodesOf(root).map(({ kind }) => kind)));
  if (kinds.some((found) => found.has(NodeKind.bitmap))) noteOperators(table, compared.byBitmaps);
  const scanned = compileRule(table, { search: 'scan' });
  for (const input of times(inputs, () => randomInput(random, table, shape))) {
    const options = { now: NOW, explain: 'brief' } as const;
    const byScan = evaluateRule(scanned, input, options);
    for (const { rule } of indexes) {
      const byIndex = evaluateRule(rule, input, options);
      note(byIndex);
      if (JSON.stringify(byIndex) !== JSON.stringify(byScan)) {
        expect({ input, outcome: byIndex, table }).toEqual({ input, outcome: byScan, table });
      }
    }
  }
  return kinds[0] ?? new Set();
};

it(`E-68 an index answers as the scan does, on small tables of all operators (seed ${seed})`, () => {
  fc.assert(
    fc.property(shapes(60), fc.integer(), (shape, tableSeed) => void compare(shape, tableSeed, 40)),
    { seed, numRuns: IS_LONG ? 250 : 100 },
  );
});

it(`E-68 an index answers as the scan does, on large tables (seed ${seed})`, () => {
  fc.assert(
    fc.property(shapes(1_500), fc.integer(), (shape, tableSeed) => {
      compare({ ...shape, indexable: true }, tableSeed, 60);
    }),
    { seed, numRuns: IS_LONG ? 40 : 8 },
  );
});

it('E-68 an index answers as the scan does, whichever nodes it is made of', () => {
  const shape = {
    rows: 2_000,
    columns: 2,
    blanks: 0,
    values: 2_000,
    indexable: true,
    unusual: 0.01,
    narrow: true,
    extremes: 0.01,
  };
  const onOneLine = { ...shape, columns: 1, rows: 300, scheduled: 0 };
  const kinds = times(IS_LONG ? 12 : 3, (tableSeed) => [
    ...compare(shape, tableSeed, 60),
    ...compare(onOneLine, tableSeed, 60),
    ...compare({ ...onOneLine, narrow: false, unusual: 0.3, blanks: 0.01 }, tableSeed, 60),
  ]).flat();
  expect(new Set(kinds)).toEqual(new Set(Object.values(NodeKind)));
});

it(`E-68 so many answers were compared, of every operator, with groups and explanations (seed ${seed})`, () => {
  expect(compared.answers).toBeGreaterThan(IS_LONG ? 40_000 : 15_000);
  expect(compared.groups).toBeGreaterThan(100);
  expect(compared.explanations).toBeGreaterThan(IS_LONG ? 10_000 : 4_000);
  const missing = operatorCatalogue.filter(({ type, op }) => !compared.operators.has(`${type}: ${op}`));
  expect(missing.map(({ op }) => op)).toEqual([]);
  expect(indexedOperators().filter((name) => !compared.byBitmaps.has(name))).toEqual([]);
});
