import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setTimeout as wait } from 'node:timers/promises';
import { type RuleTable } from '@decision/contracts';
import { type CompiledRule, compileRule, evaluateRule } from '../src/index';
import { times } from './support/random';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void; // the flag has just made it

const usedBytes = async (): Promise<number> => {
  for (let turn = 0; turn < 3; turn += 1) {
    collect();
    await wait(1); // buffers of typed arrays are released later than they are collected
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Rows whose conditions, and whose outputs, are made by their index. */
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

const rules: Readonly<Record<string, () => CompiledRule>> = {
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

/** Both ways: an estimate is for a bound on memory, and must not make it hold far less than it could. */
const MOST_ERROR = 2;

it.each(Object.entries(rules))('E-172 the bytes of a rule are those that it keeps alive: %s', async (_name, make) => {
  make(); // what is compiled and interned once is not the rule's
  const before = await usedBytes();
  const rule = make();
  // The answers that are kept are part of it.
  for (let place = 0; place <= rule.rowCount; place += 1) rule.answers[place] = answerLike(place);
  const measured = (await usedBytes()) - before;
  expect(evaluateRule(rule, {}, { now: 0 }).ok).toBe(true);
  const ratio = rule.bytes / measured;
  expect([measured, rule.bytes, ratio > 1 / MOST_ERROR && ratio < MOST_ERROR]).toEqual([measured, rule.bytes, true]);
});

const answerLike = (place: number) => ({ ok: true as const, output: { out: `answer ${place}` }, matched: [place] });
