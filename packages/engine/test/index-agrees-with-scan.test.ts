import { type RuleTable } from '@decision/contracts';
import fc from 'fast-check';
import { NodeKind } from '../src/index/index-node';
import { type CompiledRule, compileRule, evaluateRule, operatorCatalogue, type RuleOutcome } from '../src/index';
import { randomFrom, runSeed, times } from './support/random';
import { NOW, randomInput, randomTable, type TableShape } from './support/random-table';

const seed = runSeed();

const shapes = (maxRows: number): fc.Arbitrary<TableShape> =>
  fc.record({
    rows: fc.integer({ min: 0, max: maxRows }),
    columns: fc.integer({ min: 1, max: 6 }),
    blanks: fc.constantFrom(0, 0.3, 0.7),
    values: fc.constantFrom(2, 10, 50, 2_000),
    indexable: fc.boolean(),
    unusual: fc.constantFrom(0, 0.06),
    narrow: fc.boolean(),
  });

const kindsOf = (rule: CompiledRule): ReadonlySet<string> => {
  const kinds = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || !('kind' in node)) return;
    kinds.add(String(node.kind));
    if ('rest' in node) visit(node.rest);
    if ('children' in node) for (const child of (node.children as Map<unknown, unknown>).values()) visit(child);
  };
  visit((rule.matcher as unknown as { root: unknown }).root);
  return kinds;
};

/** What has been compared in this run. */
const compared = { answers: 0, groups: 0, explanations: 0, operators: new Set<string>() };

const note = (outcome: RuleOutcome): void => {
  compared.answers += 1;
  if (!outcome.ok) return;
  if (outcome.explanation?.group !== undefined) compared.groups += 1;
  if ((outcome.explanation?.lost.length ?? 0) > 0) compared.explanations += 1;
};

const noteOperators = ({ requestSchema, conditions }: RuleTable): void => {
  const types = new Map(requestSchema.map(({ key, type }) => [key, type]));
  for (const { request = {} } of conditions)
    for (const [key, { op }] of Object.entries(request)) compared.operators.add(`${types.get(key) ?? ''}: ${op}`);
};

/** Compares every answer of an index with that of the scan, explanations included; answers which kinds of nodes the index has. */
const compare = (shape: TableShape, tableSeed: number, inputs: number): ReadonlySet<string> => {
  const random = randomFrom(tableSeed);
  const table = randomTable(random, shape);
  noteOperators(table);
  const indexed = compileRule(table);
  const scanned = compileRule(table, { search: 'scan' });
  for (const input of times(inputs, () => randomInput(random, table, shape))) {
    const options = { now: NOW, explain: 'brief' } as const;
    const [byIndex, byScan] = [evaluateRule(indexed, input, options), evaluateRule(scanned, input, options)];
    note(byIndex);
    if (JSON.stringify(byIndex) !== JSON.stringify(byScan)) {
      expect({ input, outcome: byIndex, table }).toEqual({ input, outcome: byScan, table });
    }
  }
  return kindsOf(indexed);
};

it(`E-68 an index answers as the scan does, on small tables of all operators (seed ${seed})`, () => {
  fc.assert(
    fc.property(shapes(60), fc.integer(), (shape, tableSeed) => void compare(shape, tableSeed, 40)),
    { seed, numRuns: 400 },
  );
});

it(`E-68 an index answers as the scan does, on large tables (seed ${seed})`, () => {
  fc.assert(
    fc.property(shapes(1_500), fc.integer(), (shape, tableSeed) => {
      compare({ ...shape, indexable: true }, tableSeed, 60);
    }),
    { seed, numRuns: 60 },
  );
});

it('E-68 an index answers as the scan does, whichever nodes it is made of', () => {
  const shape = { rows: 2_000, columns: 2, blanks: 0, values: 2_000, indexable: true, unusual: 0.01, narrow: true };
  const kinds = times(12, (tableSeed) => compare(shape, tableSeed, 60)).flatMap((found) => [...found]);
  expect(new Set(kinds)).toEqual(new Set(Object.values(NodeKind).map(String)));
});

it(`E-68 so many answers were compared, of every operator, with groups and explanations (seed ${seed})`, () => {
  expect(compared.answers).toBeGreaterThan(20_000);
  expect(compared.groups).toBeGreaterThan(100);
  expect(compared.explanations).toBeGreaterThan(10_000);
  const missing = operatorCatalogue.filter(({ type, op }) => !compared.operators.has(`${type}: ${op}`));
  expect(missing.map(({ op }) => op)).toEqual([]);
});
