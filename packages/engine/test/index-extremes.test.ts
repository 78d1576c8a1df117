import { type FieldType, type RuleTable } from '@decision/contracts';
import { compileRule, evaluateRule, EXAMPLE_NOW, operatorCatalogue, type OperatorEntry } from '../src';
import { NodeKind } from '../src/index/index-matcher';
import { findOperator } from '../src/operators/operator-catalogue';
import { createPatternReader } from '../src/operators/pattern';
import { nextAbove, nextBelow } from '../src/values/points';
import { argumentsByField, EXTREME_VERSIONS, extremeValues, neighboursOf } from './support/extremes';
import {
  bitmapsDecide,
  compileIndexed,
  crowded,
  indexedOperators,
  isIndexed,
  nodesOf,
  PLANNERS,
} from './support/searches';

/** Each row alone needs at most three cuts: tables of this many rows have a bitmap for each cut. */
const ROWS = 60;
const INDEXED = operatorCatalogue.filter(({ type, op }) => isIndexed(type, op));

/** Every list of arguments from the extremes of the operator's type that the operator accepts. */
const argumentLists = (entry: OperatorEntry): readonly (readonly unknown[])[] => {
  const lists = entry.args.reduce<readonly (readonly unknown[])[]>(
    (known, argument) => known.flatMap((before) => valuesFor(entry.type, argument).map((value) => [...before, value])),
    [[]],
  );
  const readPattern = createPatternReader();
  return lists.filter((args) => findOperator(entry.type, entry.op)?.prepare(args, { readPattern }).ok === true);
};

const valuesFor = (fieldType: FieldType, { name, type }: OperatorEntry['args'][number]): readonly unknown[] => {
  if (type === 'list') return subsets(extremeValues(fieldType));
  if (/version$/i.test(name)) return EXTREME_VERSIONS;
  return extremeValues(type === 'boolean' || type === 'number' ? type : fieldType);
};

/** The empty list, each value alone, each with the next, and all of them. */
const subsets = (values: readonly unknown[]): readonly (readonly unknown[])[] => {
  const usable = values.filter((value) => typeof value !== 'number' || Number.isFinite(value));
  return [[], ...usable.map((value) => [value]), ...usable.map((_value, at) => usable.slice(at, at + 2)), usable];
};

/** A table whose rows all answer: its output lists those that match. */
const tableOf = ({ type, op }: OperatorEntry, lists: readonly (readonly unknown[])[]): RuleTable => ({
  requestSchema: [{ key: 'value', type }],
  responseSchema: [{ key: 'rows', type: 'list' }],
  conditions: lists.map((args, index) => ({
    request: { value: { op, args: [...args] } },
    response: { rows: { value: index } },
    settings: { groupId: 'all' },
  })),
  groups: { all: { hitPolicy: 'compute', accumulators: { rows: 'list' } } },
});

const chunksOf = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));

const inputsOf = (table: RuleTable, type: FieldType): readonly Record<string, unknown>[] => {
  const named = argumentsByField(table).get('value') ?? [];
  const values = new Set([
    ...[...extremeValues(type), ...named].flatMap((value) => neighboursOf(value, type)),
    ...[null, 'x', 5, true, [], {}],
  ]);
  return [{}, ...[...values].map((value) => ({ value }))];
};

/** Inputs of a table for which an index and the scan give different answers, as sentences. */
const disagreements = (
  table: RuleTable,
  type: FieldType,
  inputs: readonly Readonly<Record<string, unknown>>[] = inputsOf(table, type),
): readonly string[] => {
  const scanned = compileRule(table, { search: 'scan' });
  const indexes = Object.entries(PLANNERS).map(([name, planner]) => ({ name, ...compileIndexed(table, planner) }));
  return inputs.flatMap((input) => {
    const expected = JSON.stringify(evaluateRule(scanned, input, { now: EXAMPLE_NOW }));
    return indexes
      .filter(({ rule }) => JSON.stringify(evaluateRule(rule, input, { now: EXAMPLE_NOW })) !== expected)
      .map(({ name }) => `${String(input['value'])} by the index of ${name}`);
  });
};

describe('E-68 an index answers as the scan does at the extremes', () => {
  it.each(INDEXED)('$type: $op, with a cut for each bound', (entry) => {
    const lists = argumentLists(entry);
    expect(lists.length).toBeGreaterThan(0);
    for (const chunk of chunksOf(lists, ROWS)) {
      const padded = Array.from({ length: Math.max(6, chunk.length) }, (_, index) => chunk[index % chunk.length] ?? []);
      expect(disagreements(tableOf(entry, padded), entry.type)).toEqual([]);
    }
  });

  it.each(INDEXED.filter(({ args }) => args.length > 0))('$type: $op, with more bounds than cuts', (entry) => {
    const lists = argumentLists(entry);
    const many = Array.from({ length: Math.max(400, lists.length) }, (_, index) => lists[index % lists.length] ?? []);
    expect(disagreements(tableOf(entry, many.slice(0, 1_200)), entry.type)).toEqual([]);
  });

  /** 240 rows that list numbers each. */
  const tableOfSets = (set: (row: number) => readonly number[]): RuleTable => {
    const entry = operatorCatalogue.find(({ type, op }) => type === 'number' && op === 'is included in');
    if (entry === undefined) throw new RangeError('There is no such operator.');
    return tableOf(entry, Array.from({ length: 240 }, (_, row) => [set(row)])); // prettier-ignore
  };

  /** Forty numbers in each row, in ascending order, from 0 to 100,000. */
  const tableOfLargeSets = (): RuleTable =>
    tableOfSets((row) => Array.from({ length: 40 }, (_, at) => at * 2_500 + ((row * 7_919) % 2_500)));

  it.each([1, 4, 15])(
    'number: is included in, with members that are listed several times, %i of them different',
    (different) => {
      const members = (row: number) => Array.from({ length: different }, (_, at) => row + 7 * (different - at));
      const table = tableOfSets((row) => [...members(row), row + 7, -0, ...members(row), 0]);
      expect(disagreements(table, 'number')).toEqual([]);
    },
  );

  it('number: is included in, with more ranges than are sorted', () => {
    const table = tableOfLargeSets();
    const inputs = inputsOf(table, 'number').filter((_, at) => at % 97 === 0);
    expect(inputs.length).toBeGreaterThan(200);
    expect(disagreements(table, 'number', inputs)).toEqual([]);
  });

  it('spreads cuts evenly, though only some of many ranges are sorted', () => {
    const { root } = compileIndexed(tableOfLargeSets(), PLANNERS.bitmaps);
    if (root?.kind !== NodeKind.bitmap) throw new TypeError('It is not made of bitmaps.');
    const cuts = [0, ...(root.columns[0]?.cuts ?? []), 100_000];
    const gaps = cuts.slice(1).map((cut, at) => cut - (cuts[at] ?? 0));
    expect(cuts).toHaveLength(257);
    expect(Math.max(...gaps)).toBeLessThan(1_000);
  });

  it.each(INDEXED)('$type: $op is decided by bitmaps alone, and the usual planner chooses them', (entry) => {
    const crowd = crowded(tableOf(entry, argumentLists(entry).slice(0, 2)));
    expect(bitmapsDecide(compileIndexed(crowd), 0)).toBe(true);
  });
});

it('E-68, E-171 the operators that an index serves are those without arguments, and these', () => {
  const withArguments = new Set(
    operatorCatalogue.filter(({ args }) => args.length > 0).map(({ type, op }) => `${type}: ${op}`),
  );
  const without = operatorCatalogue.filter(({ op, args }) => args.length === 0 && op !== 'any');
  expect(indexedOperators()).toEqual(expect.arrayContaining(without.map(({ type, op }) => `${type}: ${op}`)));
  expect(indexedOperators().filter((name) => withArguments.has(name))).toEqual([
    'number: equals',
    'number: does not equal',
    'number: greater than',
    'number: less than',
    'number: greater than or equal to',
    'number: less than or equal to',
    'number: between',
    'number: not between',
    'number: is included in',
    'string: equals',
    'string: equals (case-insensitive)',
    'string: does not equal',
    'string: does not equal (case-insensitive)',
    'string: starts with',
    'string: ends with',
    'string: is included in',
    'string: is not included in',
    'string: starts with (case-insensitive)',
    'string: ends with (case-insensitive)',
    'string: is of length',
    'string: is not of length',
    'string: is longer than',
    'string: is shorter than',
    'string: is longer than or equal to',
    'string: is shorter than or equal to',
    'string: version is greater than',
    'string: version is less than',
    'string: version is equal to',
    'string: version is greater than or equal to',
    'string: version is less than or equal to',
    'string: version is between',
    'boolean: equals',
    'date: after',
    'date: on or after',
    'date: before',
    'date: on or before',
    'date: equals',
    'date: does not equal',
    'date: between',
    'date: not between',
    'list: is of length',
    'list: is not of length',
    'list: is longer than',
    'list: is shorter than',
    'list: is longer than or equal to',
    'list: is shorter than or equal to',
  ]);
});

it('E-68 indexes of the extremes are made of every kind of node', () => {
  const ranges = INDEXED.filter(({ type, op }) => type === 'number' && op === 'between');
  const kinds = ranges
    .map((entry) => tableOf(entry, argumentLists(entry).slice(0, ROWS)))
    .flatMap((table) => Object.values(PLANNERS).flatMap((planner) => nodesOf(compileIndexed(table, planner).root)));
  expect(new Set(kinds.map(({ kind }) => kind))).toEqual(new Set(Object.values(NodeKind)));
});

it('finds the double above and the double below every extreme', () => {
  const numbers = extremeValues('number').filter((value) => typeof value === 'number');
  for (const value of numbers) {
    if (value < Infinity) expect(nextBelow(nextAbove(value))).toBe(value === 0 ? 0 : value);
    if (value < Infinity) expect(nextAbove(value)).toBeGreaterThan(value);
    if (value > -Infinity) expect(nextBelow(value)).toBeLessThan(value);
  }
});
