import { type ConditionCell, type FieldType, type RuleTable } from '@decision/contracts';
import { pick, type Random, randomFrom, times } from './random';

/** A table to measure, and its inputs. */
export interface Workload {
  readonly table: RuleTable;
  readonly inputs: readonly Readonly<Record<string, unknown>>[];
}

export interface WorkloadShape {
  readonly rows: number;
  readonly columns: number;
  /** Share of blank cells, except for the first column of a table led by equality. */
  readonly blanks: number;
  /** Whether each row tests the first column for one value; other columns always have mixed operators. */
  readonly led: boolean;
}

const INPUTS = 1_024;
/** Share of inputs made to match a row; the others are random. */
const HITS = 0.8;
const START = Date.parse('2020-01-01');
const DAYS = 3_650;
const DAY = 86_400_000;

const KINDS: readonly FieldType[] = ['string', 'number', 'number', 'date', 'boolean', 'string', 'number', 'string'];

export const makeWorkload = (shape: WorkloadShape, seed = 1): Workload => {
  const random = randomFrom(seed);
  const fields = times(shape.columns, (index) => ({
    key: `field${index}`,
    type: KINDS[index % KINDS.length] ?? 'string',
  }));
  const leaders = Math.max(4, shape.rows / 4);
  const rows = times(shape.rows, () =>
    fields.map(({ type }, column) => {
      const isLeader = column === 0 && shape.led;
      if (!isLeader && random() < shape.blanks) return undefined;
      return isLeader ? leadingCell(random, leaders) : randomCell(random, type, column);
    }),
  );
  const inputs = times(INPUTS, () => {
    const row = random() < HITS ? pick(random, rows) : undefined;
    return Object.fromEntries(
      fields.map(({ key, type }, column) => [key, row?.[column]?.value ?? randomValue(random, type, column, leaders)]),
    );
  });
  const table: RuleTable = {
    requestSchema: fields,
    responseSchema: [
      { key: 'rate', type: 'number', defaultValue: 0 },
      { key: 'label', type: 'string' },
    ],
    conditions: rows.map((cells, index) => ({
      request: Object.fromEntries(
        cells.flatMap((cell, column) => (cell === undefined ? [] : [[`field${column}`, cell.condition]])),
      ),
      response: { rate: { value: index }, label: { value: `row ${index}` } },
      settings: { enabled: true, priority: 0 },
    })),
  };
  return { table, inputs };
};

/** A condition and a value that it matches. */
interface MadeCell {
  readonly condition: ConditionCell;
  readonly value: unknown;
}

const leadingCell = (random: Random, leaders: number): MadeCell => {
  const value = `key-${Math.floor(random() * leaders)}`;
  return { condition: { op: 'equals', args: [value] }, value };
};

const textOf = (random: Random, column: number): string => `value-${column}-${Math.floor(random() * 40)}`;
const dateOf = (random: Random): number => START + Math.floor(random() * DAYS) * DAY;
const iso = (instant: number): string => new Date(instant).toISOString();

const randomCell = (random: Random, type: FieldType, column: number): MadeCell => {
  switch (type) {
    case 'string':
      return textCell(random, column);
    case 'number':
      return numberCell(random);
    case 'date':
      return dateCell(random);
    default: {
      const value = random() < 0.5;
      return { condition: { op: value ? 'is true' : 'is false', args: [] }, value };
    }
  }
};

const textCell = (random: Random, column: number): MadeCell => {
  const value = textOf(random, column);
  const kind = random();
  if (kind < 0.7) return { condition: { op: 'equals', args: [value] }, value };
  return { condition: { op: 'is included in', args: [[value, textOf(random, column)]] }, value };
};

const numberCell = (random: Random): MadeCell => {
  const low = Math.floor(random() * 10_000);
  const kind = random();
  if (kind < 0.6) {
    const high = low + Math.floor(random() * 2_000);
    return { condition: { op: 'between', args: [low, high] }, value: low + Math.floor((high - low) / 2) };
  }
  if (kind < 0.8) return { condition: { op: 'greater than or equal to', args: [low] }, value: low + 10 };
  return { condition: { op: 'less than', args: [low] }, value: low - 10 };
};

const dateCell = (random: Random): MadeCell => {
  const low = dateOf(random);
  if (random() < 0.5) return { condition: { op: 'on or after', args: [iso(low)] }, value: iso(low + DAY) };
  return { condition: { op: 'between', args: [iso(low), iso(low + 400 * DAY)] }, value: iso(low + 10 * DAY) };
};

const randomValue = (random: Random, type: FieldType, column: number, leaders: number): unknown => {
  switch (type) {
    case 'string':
      return column === 0 ? `key-${Math.floor(random() * leaders)}` : textOf(random, column);
    case 'number':
      return Math.floor(random() * 12_000);
    case 'date':
      return iso(dateOf(random));
    default:
      return random() < 0.5;
  }
};
