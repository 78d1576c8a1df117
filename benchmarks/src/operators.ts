import { type FieldType, type RuleTable } from '@decision/contracts';
import { type CompiledRule, compileRule, evaluateRule } from '@decision/engine';
import { BenchmarkError } from './benchmark-error';
import { median } from './measurement';

/*
 * Cost of an evaluation in a table of many rows with conditions of one operator, compared with `equals`. Each operator is measured separately, in
 * rounds that alternate with rounds of `equals`, and reported at once. Processor time, medians: other load on the machine lengthens a round, but
 * not its processor time, except for evicted cache lines. Arguments select operators by a part of their names.
 */

const ROWS = Number(process.env['BENCH_ROWS'] ?? 100_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
/** After this many seconds no more operators are measured. */
const MOST_SECONDS = Number(process.env['BENCH_MOST_SECONDS'] ?? 240);
const ROUND_MS = 100;
/** Evaluations between two readings of the clock. */
const BURST = 64;
const INPUTS = 512;

interface Subject {
  readonly name: string;
  readonly type: FieldType;
  readonly op: string;
  readonly argsOf: (row: number) => unknown[];
  /** An input that matches the row. */
  readonly valueOf: (row: number) => unknown;
  /** The first matching row; by default the row itself. */
  readonly winnerOf?: (row: number) => number;
}

const reference = (row: number) => ({ $rb: 'globalValue', id: `v${row}`, name: `v${row}` });
const values = { revision: 1, get: (id: string) => ({ id, name: id, type: 'string', value: `Customer-${id}` }) };
const many = (row: number, count: number) => Array.from({ length: count }, (_, at) => `Customer-${row}/${at}`);
const listOf = (length: number) => new Array<number>(length).fill(1);
const dayOf = (row: number) => new Date(row * 86_400_000).toISOString();

type Cells = Pick<Subject, 'argsOf' | 'valueOf' | 'winnerOf'>;
const text = (op: string, cells: Cells, name = op): Subject => ({ name, type: 'string', op, ...cells });

const named: Cells = { argsOf: (row) => [`Customer-${row}`], valueOf: (row) => `Customer-${row}` };
const folded: Cells = { ...named, valueOf: (row) => `CUSTOMER-${row}` };
/** Pads rows, so that prefixes and suffixes have one length, or several. */
const padded = (row: number) => String(row).padStart(6, '0');
const version: Cells = { argsOf: (row) => [`1.${row}.0`], valueOf: (row) => `1.${row}.0` };
/** Rows have decreasing thresholds, so that an input determines how many of them match, and the first of these answers. */
const atLeast: Cells = { argsOf: (row) => [`1.${ROWS - row}.0`], valueOf: (row) => `1.${ROWS - row}.3` };
/** Few lengths are realistic, so rows repeat them. */
const LENGTHS = 1_000;
const lengths = (valueOf: (length: number) => unknown): Cells => ({
  argsOf: (row) => [row],
  valueOf: (row) => valueOf(row % LENGTHS),
  winnerOf: (row) => row % LENGTHS,
});

const equals = text('equals', named);
const subjects: readonly Subject[] = [
  equals,
  text('equals', { argsOf: (row) => [reference(row)], valueOf: (row) => `Customer-v${row}` }, 'equals (references)'),
  text('equals (case-insensitive)', folded),
  text('starts with', { argsOf: (row) => [`${padded(row)}-`], valueOf: (row) => `${padded(row)}-x` }),
  text(
    'starts with',
    { argsOf: (row) => [`Customer-${row}-`], valueOf: (row) => `Customer-${row}-x` },
    'starts with (several lengths)',
  ),
  text('starts with (case-insensitive)', {
    argsOf: (row) => [`Customer-${row}-`],
    valueOf: (row) => `CUSTOMER-${row}-x`,
  }),
  text('ends with', { argsOf: (row) => [`-${row}-Customer`], valueOf: (row) => `x-${row}-Customer` }),
  text('ends with (case-insensitive)', {
    argsOf: (row) => [`-${row}-Customer`],
    valueOf: (row) => `X-${row}-CUSTOMER`,
  }),
  text('version is equal to', version),
  text('version is greater than', atLeast),
  text('version is between', { argsOf: (row) => [`1.${row}.0`, `1.${row}.9`], valueOf: (row) => `1.${row}.4` }),
  text(
    'version is between',
    { argsOf: (row) => [`1.${row}.0-alpha`, `1.${row}.0-rc.9`], valueOf: (row) => `1.${row}.0-beta.2` },
    'version is between (prereleases)',
  ),
  text(
    'is included in',
    { argsOf: (row) => [many(row, 8)], valueOf: (row) => `Customer-${row}/5` },
    'is included in (8 texts)',
  ),
  text(
    'is included in',
    { argsOf: (row) => [[reference(row), 'x']], valueOf: (row) => `Customer-v${row}` },
    'is included in (a member that all have)',
  ),
  text(
    'is of length',
    lengths((length) => 'x'.repeat(length)),
    'is of length (of a text)',
  ),
  { name: 'is of length (of a list)', type: 'list', op: 'is of length', ...lengths(listOf) },
  { name: 'equals (numbers)', type: 'number', op: 'equals', argsOf: (row) => [row], valueOf: (row) => row },
  {
    name: 'between (numbers)',
    type: 'number',
    op: 'between',
    argsOf: (row) => [row, row + 0.5],
    valueOf: (row) => row + 0.25,
  },
  { name: 'equals (dates)', type: 'date', op: 'equals', argsOf: (row) => [dayOf(row)], valueOf: dayOf },
];

const tableOf = ({ op, argsOf, type }: Subject): RuleTable => ({
  requestSchema: [{ key: 'field', type }],
  responseSchema: [{ key: 'row', type: 'number' }],
  conditions: Array.from({ length: ROWS }, (_, row) => ({
    request: { field: { op, args: argsOf(row) } },
    response: { row: { value: row } },
  })),
});

interface Contestant {
  readonly rule: CompiledRule;
  readonly inputs: readonly Record<string, unknown>[];
}

/** Compiles a table and checks that each input finds its row. */
const prepare = (subject: Subject): Contestant => {
  const rule = compileRule(tableOf(subject), { values });
  const { valueOf, winnerOf = (row) => row } = subject;
  // Spread over the table, each row once.
  const rows = Array.from({ length: INPUTS }, (_, index) => (index * 7_919) % ROWS);
  const inputs = rows.map((row) => ({ field: valueOf(row) }));
  for (const [index, row] of rows.entries()) {
    const outcome = evaluateRule(rule, inputs[index] ?? {}, { now: 0 });
    const answered = outcome.ok ? outcome.output['row'] : outcome.error.message;
    if (answered !== winnerOf(row))
      throw new BenchmarkError(
        `${subject.name}: row ${winnerOf(row)} should answer the input ${index}, and not ${String(answered)}.`,
      );
  }
  return { rule, inputs };
};

/** Microseconds of processor time for one evaluation. */
const measure = ({ rule, inputs }: Contestant): number => {
  let count = 0;
  const before = process.cpuUsage();
  for (const end = performance.now() + ROUND_MS; performance.now() < end;) {
    // Slow evaluations run fewer times between two readings of the clock.
    const burst = count === 0 ? 1 : BURST;
    for (let index = 0; index < burst; index += 1, count += 1)
      evaluateRule(rule, inputs[count % INPUTS] ?? {}, { now: 0 });
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
};

const compare = (contestant: Contestant, baseline: Contestant): { readonly own: number; readonly ofEquals: number } => {
  const times: number[] = [];
  const ofEquals: number[] = [];
  for (let round = 0; round < ROUNDS + 1; round += 1) {
    const [own, other] = [measure(contestant), measure(baseline)];
    if (round === 0) continue; // only warms up
    times.push(own);
    ofEquals.push(other);
  }
  return { own: median(times), ofEquals: median(ofEquals) };
};

const run = (filters: readonly string[]): void => {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const baseline = prepare(equals);
  const chosen = subjects.filter(({ name }) => filters.length === 0 || filters.some((part) => name.includes(part)));
  print(`${ROWS} rows, medians of ${ROUNDS} rounds\n`);
  print('| operator | µs | of `equals`, µs | beside equals |\n| --- | --- | --- | --- |');
  for (const subject of chosen) {
    if (performance.now() > MOST_SECONDS * 1_000) {
      print(`| ${subject.name} | not measured: ${MOST_SECONDS} s have passed (BENCH_MOST_SECONDS) | | |`);
      continue;
    }
    const { own, ofEquals } = compare(prepare(subject), baseline);
    print(`| ${subject.name} | ${own.toFixed(3)} | ${ofEquals.toFixed(3)} | ${(own / ofEquals).toFixed(2)} |`);
  }
};

run(process.argv.slice(2));
