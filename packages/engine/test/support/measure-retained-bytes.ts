/**
 * Prints, as JSON, the memory that the rule named by the first argument retains: `[measured, estimated]`, bytes. It runs as a separate process
 * (`node --expose-gc`), since a process that has run other tests releases their memory at any time.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type RuleTable } from '@decision/contracts';
import { PARTS } from '../../src/compile/compiled-rule';
import { type CompiledRule, compileRule, evaluateRule, retainedBytesOf } from '../../src/index';
import { times } from './random';

const usedBytes = async (): Promise<number> => {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc?.();
    await wait(1); // buffers of typed arrays are released later than they are collected
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Rows whose conditions and outputs are created from their index. */
const tableOf = (
  rows: number,
  type: 'string' | 'number',
  columns: number,
  cell: (row: number, column: number) => { op: string; args: unknown[] },
): RuleTable => ({
  requestSchema: times(columns, (column) => ({ key: `f${column}`, type })),
  responseSchema: [{ key: 'out', type: 'string' }],
  conditions: times(rows, (row) => ({
    request: Object.fromEntries(times(columns, (column) => [`f${column}`, cell(row, column)])),
    response: { out: { value: `answer ${row}` } },
  })),
});

const references = { revision: 1, get: (id: string) => ({ id, name: id, type: 'string', value: `value of ${id}` }) };

/** Rules that retain memory in different parts, by their content. */
export const RULES: Readonly<Record<string, () => CompiledRule>> = {
  '100 rows of 1,000 columns': () =>
    compileRule(tableOf(100, 'number', 1_000, (row, column) => ({ op: 'between', args: [row, row + column] }))),
  '10,000 rows of texts': () =>
    compileRule(tableOf(10_000, 'string', 4, (row, column) => ({ op: 'equals', args: [`text ${row * column}`] }))),
  '10,000 rows of prefixes': () =>
    compileRule(tableOf(10_000, 'string', 1, (row) => ({ op: 'starts with', args: [`customer ${row}`] }))),
  '10,000 rows of versions': () =>
    compileRule(tableOf(10_000, 'string', 1, (row) => ({ op: 'version is equal to', args: [`1.${row}.0`] }))),
  '3,000 rows of sets': () =>
    compileRule(
      tableOf(3_000, 'string', 1, (row) => ({ op: 'is included in', args: [times(10, (at) => `${row}/${at}`)] })),
    ),
  '10,000 rows of tests': () =>
    compileRule(tableOf(10_000, 'string', 1, (row) => ({ op: 'contains', args: [`part ${row}`] }))),
  '5,000 rows of references': () =>
    compileRule(
      tableOf(5_000, 'string', 1, (row) => ({ op: 'equals', args: [{ $rb: 'globalValue', id: `v${row}` }] })),
      { values: references },
    ),
};

const measure = async (make: () => CompiledRule): Promise<readonly [measured: number, estimated: number]> => {
  make(); // code compiled once and texts interned once do not belong to the rule
  const before = await usedBytes();
  const rule = make();
  // A rule caches the answers of its rows.
  const { rowCount, answers } = rule[PARTS];
  for (let place = 0; place <= rowCount; place += 1) {
    answers[place] = { ok: true, output: { out: `answer ${place}` }, matched: [place] };
  }
  const measured = (await usedBytes()) - before;
  if (!evaluateRule(rule, {}, { now: 0 }).ok) throw new Error('The rule did not stay alive.');
  return [measured, retainedBytesOf(rule)];
};

const named = RULES[process.argv[2] ?? ''];
if (require.main === module && named !== undefined) {
  void measure(named).then((bytes) => process.stdout.write(JSON.stringify(bytes)));
}
