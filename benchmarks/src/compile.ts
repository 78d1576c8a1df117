import { cpus, loadavg } from 'node:os';
import { type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { pick, randomFrom, times } from './engine/random';
import { measureInRounds } from './engine/rounds';
import { makeWorkload } from './engine/workload';

/* Compiling a decision table, compared with `JSON.parse` of its text. Both are warmed up, as in a worker that has compiled some hundred rules. */

const ROUNDS = { rounds: 5, warmUps: 8, milliseconds: Number(process.env['BENCH_MS'] ?? 100) };
const SHAPES = [
  { rows: 8, columns: 4 },
  { rows: 1_000, columns: 6 },
  { rows: 10_000, columns: 8 },
];
/** Rows, and members of each set. */
const SETS = [
  { rows: 8, members: 8 },
  { rows: 1_000, members: 8 },
  { rows: 1_000, members: 40 },
  { rows: 10, members: 2_000 },
];
const SET_COLUMNS = 3;

/** A table whose conditions are sets of numbers. */
const tableOfSets = (rows: number, members: number): RuleTable => {
  const random = randomFrom(3);
  const fields = times(SET_COLUMNS, (index) => ({ key: `field${index}`, type: 'number' as const }));
  const numbers = times(100_000, (index) => index);
  return {
    requestSchema: fields,
    responseSchema: [{ key: 'rate', type: 'number' }],
    conditions: times(rows, (row) => ({
      request: Object.fromEntries(
        fields.map(({ key }) => [key, { op: 'is included in', args: [times(members, () => pick(random, numbers))] }]),
      ),
      response: { rate: { value: row } },
    })),
  };
};

const tables: readonly (readonly [name: string, table: RuleTable])[] = [
  ...SHAPES.flatMap((shape) =>
    [true, false].flatMap((led) =>
      [0, 0.3, 0.7].map((blanks): readonly [string, RuleTable] => [
        `${shape.rows} x ${shape.columns}, ${blanks * 100} % blank, ${led ? 'equality' : 'mixed'}`,
        makeWorkload({ ...shape, blanks, led }).table,
      ]),
    ),
  ),
  ...SETS.map(({ rows, members }): readonly [string, RuleTable] => [
    `${rows} x ${SET_COLUMNS}, sets of ${members} numbers`,
    tableOfSets(rows, members),
  ]),
];

/** The last result: it must be used, or the calls could be optimised away. */
let last: unknown;

process.stdout.write(
  `${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}; medians of ${ROUNDS.rounds} rounds, processor time\n\n` +
    '| table | JSON.parse, ms | compile, ms | compile / parse |\n| --- | --- | --- | --- |\n',
);
for (const [name, table] of tables) {
  const text = JSON.stringify(table);
  const costs = measureInRounds(
    [
      { name: 'parse', items: 1, run: () => { last = JSON.parse(text); } },
      { name: 'compile', items: 1, run: () => { last = compileRule(table); } },
    ], // prettier-ignore
    ROUNDS,
  );
  const [parse = Number.NaN, compile = Number.NaN] = ['parse', 'compile'].map((what) => costs.get(what)?.median);
  process.stdout.write(`| ${name} | ${parse.toFixed(3)} | ${compile.toFixed(3)} | ${(compile / parse).toFixed(1)} |\n`);
}
if (last === undefined) process.exitCode = 1;
