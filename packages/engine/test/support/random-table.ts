import { type ConditionCell, type FieldType, type RuleRow, type RuleTable } from '@decision/contracts';
import { operatorCatalogue, type OperatorEntry } from '../../src/index';
import { argumentsByField, EXTREME_DATES, EXTREME_NUMBERS, EXTREME_TEXTS, neighboursOf } from './extremes';
import { pick, type Random, times } from './random';
import { isIndexed } from './searches';

/** The shape of random tables. */
export interface TableShape {
  readonly rows: number;
  readonly columns: number;
  /** Share of omitted cells. */
  readonly blanks: number;
  /** Number of values of a column; few make many rows match. */
  readonly values: number;
  /** Whether conditions can be sorted by an index, instead of being tests that it runs row by row. */
  readonly indexable: boolean;
  /** Share of rows that are joined with OR, and of those that belong to a group. */
  readonly unusual: number;
  /** Share of rows with a schedule; 0.05 by default. */
  readonly scheduled?: number;
  /** Whether ranges are narrow, so that few rows match. */
  readonly narrow: boolean;
  /** Share of arguments at an end of their type, and of input values beside an argument of their field. */
  readonly extremes: number;
}

type InputType = Exclude<FieldType, 'function'>;
const TYPES: readonly InputType[] = ['number', 'string', 'boolean', 'date', 'list', 'object'];
const INDEXABLE_TYPES: readonly InputType[] = ['number', 'string', 'boolean', 'date'];

/** Operators of a table in which few rows match. */
const NARROW: ReadonlySet<string> = new Set([
  'number: between',
  'string: equals',
  'string: is included in',
  'boolean: is true',
  'boolean: is false',
  'date: equals',
]);

/** The clock of random tables: values and arguments lie around it. */
export const NOW = Date.parse('2026-05-13T12:00:00Z');
const DAY = 86_400_000;

/** A table of random rows, including groups, priorities, schedules and OR rows. */
export const randomTable = (random: Random, shape: TableShape): RuleTable => {
  const fields = times(shape.columns, (index) => ({ key: `f${index}`, type: typeOfField(random, shape) }));
  const conditions = times(shape.rows, (index) => randomRow(random, shape, fields, index));
  const used = new Set(conditions.map(({ settings }) => settings?.groupId));
  return {
    requestSchema: fields,
    responseSchema: [{ key: 'row', type: 'number', defaultValue: -1 }],
    conditions,
    groups: Object.fromEntries(Object.entries(GROUPS).filter(([id]) => used.has(id))),
  };
};

const GROUPS = {
  g: { hitPolicy: 'compute', accumulators: { row: 'list' } },
  h: { hitPolicy: 'add' },
} as const;

const typeOfField = (random: Random, { indexable }: TableShape): InputType =>
  pick(random, indexable ? INDEXABLE_TYPES : TYPES);

interface Field {
  readonly key: string;
  readonly type: InputType;
}

const randomRow = (random: Random, shape: TableShape, fields: readonly Field[], index: number): RuleRow => ({
  request: Object.fromEntries(
    fields.filter(() => random() >= shape.blanks).map((field) => [field.key, randomCell(random, shape, field.type)]),
  ),
  response: { row: { value: index } },
  settings: {
    or: random() < shape.unusual,
    priority: random() < 0.2 ? Math.floor(random() * 5) : 0,
    enabled: random() >= 0.03,
    ...(random() < (shape.scheduled ?? 0.05)
      ? { schedule: [{ days: [pick(random, [0, 1, 2, 3, 4, 5, 6])] }, { start: '10:00', end: '13:00' }] }
      : {}),
    ...(random() < shape.unusual ? { groupId: pick(random, ['g', 'h']) } : {}),
  },
});

const randomCell = (random: Random, shape: TableShape, type: InputType): ConditionCell => {
  if (type === 'object') return { op: pick(random, ['any', 'is null']), args: [] };
  const entries = operatorCatalogue.filter(
    (entry) =>
      entry.type === type &&
      (!shape.indexable || (shape.narrow ? NARROW.has(`${type}: ${entry.op}`) : isIndexed(type, entry.op))),
  );
  const entry = pick(random, entries);
  return { op: entry.op, args: randomArguments(random, shape, entry) };
};

const randomArguments = (random: Random, shape: TableShape, entry: OperatorEntry): unknown[] => {
  const args = entry.args.map(({ name, type }) => randomArgument(random, shape, entry, name, type));
  const isRange = /between|range/i.test(entry.op) && args.length === 2;
  if (!isRange) return args;
  const [low] = args;
  return shape.narrow && typeof low === 'number' && entry.type === 'number' ? [low, low + 2] : sortRange(args);
};

/** Numbers, dates and versions in ascending order. */
const sortRange = (args: readonly unknown[]): unknown[] =>
  [...args].sort((a, b) => (isVersion(a) ? (String(a) < String(b) ? -1 : 1) : instant(a) - instant(b)));

const isVersion = (value: unknown): boolean => typeof value === 'string' && VERSIONS.includes(value);
const instant = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number(value));

const PATTERNS = ['^a', '[bc]$', 'a.*b', '^$', '(a|b)+c'];
const RANGES = ['^1.0.0', '>=1.0.0 <2.0.0', '*', '~1.1'];
const VERSIONS = ['1.0.0', '1.1.0', '1.1.1-rc.1', '2.0.0'];

const randomArgument = (
  random: Random,
  shape: TableShape,
  { op, type: fieldType }: OperatorEntry,
  name: string,
  type: OperatorEntry['args'][number]['type'],
): unknown => {
  if (name === 'regex') return pick(random, PATTERNS);
  if (name === 'range') return pick(random, RANGES);
  if (name.toLowerCase().endsWith('version')) return pick(random, VERSIONS);
  if (name === 'time') return pick(random, ['09:00', '12:00', '18:30']);
  switch (type) {
    case 'number':
      return fieldType === 'number' && op !== 'is a power of' ? randomNumber(random, shape) : Math.floor(random() * 4);
    case 'string':
      return randomText(random, shape);
    case 'boolean':
      return random() < 0.5;
    case 'date':
      return randomDate(random, shape);
    case 'list':
      return times(Math.floor(random() * 4), () =>
        fieldType === 'number' ? randomNumber(random, shape) : randomText(random, shape),
      );
    case 'object':
      return { [randomText(random, shape)]: randomText(random, shape) };
    case 'generic':
      return randomElement(random, shape);
  }
};

const randomNumber = (random: Random, { values, extremes }: TableShape): number => {
  if (random() < extremes) return pick(random, EXTREME_NUMBERS);
  const whole = Math.floor(random() * values) - Math.floor(values / 4);
  return random() < 0.1 ? whole + 0.5 : whole;
};

const TEXTS = [
  '',
  'a',
  'b',
  'A',
  'ab',
  'abc',
  'B c',
  'é',
  '1.0.0',
  '1.1.0',
  '1.1.1-rc.1',
  'ada@example.org',
  '12345',
  'DE',
];

const randomText = (random: Random, { values, extremes }: TableShape): string =>
  random() < extremes ? pick(random, EXTREME_TEXTS) : usualText(random, values);

const usualText = (random: Random, values: number): string =>
  values > TEXTS.length && random() < 0.8 ? `t${Math.floor(random() * values)}` : pick(random, TEXTS);

const randomDate = (random: Random, { values, extremes }: TableShape): string | number => {
  if (random() < extremes) return pick(random, EXTREME_DATES);
  const instant = NOW + (Math.floor(random() * values) - Math.floor(values / 2)) * DAY * 0.5;
  const kind = random();
  if (kind < 0.2) return instant;
  return kind < 0.5 ? new Date(instant).toISOString().slice(0, 10) : new Date(instant).toISOString();
};

const randomElement = (random: Random, shape: TableShape): unknown =>
  pick<() => unknown>(random, [
    () => randomNumber(random, shape),
    () => randomText(random, shape),
    () => null,
    () => ({ [pick(random, ['a', 'b'])]: randomText(random, shape) }),
    () => [randomText(random, shape)],
  ])();

/** An input of a table: mostly values of the right types, some missing, null or of another type. */
export const randomInput = (random: Random, table: RuleTable, shape: TableShape): Record<string, unknown> => {
  const named = shape.extremes === 0 ? new Map<string, readonly unknown[]>() : argumentsOf(table);
  return Object.fromEntries(
    table.requestSchema
      .filter(() => random() < 0.95)
      .map(({ key, type }) => [key, randomMember(random, shape, type, named.get(key) ?? [])]),
  );
};

const knownArguments = new WeakMap<RuleTable, ReturnType<typeof argumentsByField>>();

const argumentsOf = (table: RuleTable): ReturnType<typeof argumentsByField> => {
  const known = knownArguments.get(table) ?? argumentsByField(table);
  knownArguments.set(table, known);
  return known;
};

const randomMember = (random: Random, shape: TableShape, type: FieldType, named: readonly unknown[]): unknown => {
  if (named.length > 0 && random() < shape.extremes) return pick(random, neighboursOf(pick(random, named), type));
  return random() < 0.08 ? randomElement(random, shape) : randomValue(random, shape, type);
};

const randomValue = (random: Random, shape: TableShape, type: FieldType): unknown => {
  switch (type) {
    case 'number':
      return randomNumber(random, shape);
    case 'string':
      return randomText(random, shape);
    case 'boolean':
      return random() < 0.5;
    case 'date':
      return randomDate(random, shape);
    case 'list':
      return times(Math.floor(random() * 4), () => randomElement(random, shape));
    default:
      return random() < 0.5 ? {} : null;
  }
};
