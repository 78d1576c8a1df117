import { type ConditionCell, type FieldType, type RuleTable } from '@decision/contracts';

/** Hand-written code for one table with known columns: no explanations, no other operators. */
type Lookup = (input: Readonly<Record<string, unknown>>) => number;

interface Column {
  readonly key: string;
  readonly type: FieldType;
}

/** A row as bounds and texts; blank cells match everything. */
interface Row {
  readonly index: number;
  readonly lows: readonly number[];
  readonly highs: readonly number[];
  readonly texts: readonly (ReadonlySet<string> | string | undefined)[];
}

/** Hashes rows by the text of the first column and compares the others in turn. Answers the index of the first matching row, or -1. */
export const handWritten = ({ requestSchema, conditions }: RuleTable): Lookup => {
  const columns: readonly Column[] = requestSchema.map(({ key, type }) => ({ key, type }));
  const rows = conditions.map(({ request = {} }, index) => toRow(columns, request, index));
  const byText = new Map<string, Row[]>();
  const anyText = rows.filter(({ texts }) => typeof texts[0] !== 'string');
  for (const { texts } of rows) if (typeof texts[0] === 'string') byText.set(texts[0], []);
  for (const row of rows) {
    const [text] = row.texts;
    if (typeof text === 'string') byText.get(text)?.push(row);
    else for (const list of byText.values()) list.push(row);
  }
  const points = columns.map(() => 0);
  const texts = columns.map(() => '');
  return (input) => {
    for (let at = 0; at < columns.length; at += 1) {
      const { key, type } = columns[at] as Column; // at is below the length
      const value = input[key];
      if (type === 'string')
        texts[at] = value as string; // inputs of these benchmarks are of the right types
      else points[at] = type === 'date' ? Date.parse(value as string) : Number(value); // the same
    }
    const candidates = byText.get(texts[0] as string) ?? anyText; // there is a first column
    for (const row of candidates) if (holds(row, points, texts)) return row.index;
    return -1;
  };
};

const holds = ({ lows, highs, texts }: Row, points: readonly number[], came: readonly string[]): boolean => {
  for (let at = 0; at < points.length; at += 1) {
    const wanted = texts[at];
    if (wanted !== undefined) {
      const text = came[at] as string; // as many as points
      if (typeof wanted === 'string' ? wanted !== text : !wanted.has(text)) return false;
    } else {
      const point = points[at] as number; // at is below the length
      if (point < (lows[at] as number) || point > (highs[at] as number)) return false; // as many as points
    }
  }
  return true;
};

const toRow = (columns: readonly Column[], request: Readonly<Record<string, ConditionCell>>, index: number): Row => {
  const ranges = columns.map(({ key, type }) => (type === 'string' ? [-Infinity, Infinity] : rangeOf(request[key])));
  return {
    index,
    lows: ranges.map(([low = 0]) => low),
    highs: ranges.map(([, high = 0]) => high),
    texts: columns.map(({ key, type }) => (type === 'string' ? textOf(request[key]) : undefined)),
  };
};

const textOf = (cell: ConditionCell | undefined): ReadonlySet<string> | string | undefined => {
  const [argument] = cell?.args ?? [];
  if (cell === undefined) return undefined;
  return cell.op === 'equals' ? String(argument) : new Set(argument as readonly string[]); // else a list of texts
};

const DAY = 86_400_000;

const rangeOf = (cell: ConditionCell | undefined): readonly [number, number] => {
  const [a, b] = (cell?.args ?? []).map((argument) =>
    typeof argument === 'string' ? Date.parse(argument) : Number(argument),
  );
  switch (cell?.op) {
    case 'is true':
      return [1, 1];
    case 'is false':
      return [0, 0];
    case 'between':
      return [a ?? 0, b ?? 0];
    case 'greater than or equal to':
    case 'on or after':
      return [a ?? 0, Infinity];
    case 'less than':
      return [-Infinity, (a ?? 0) - 1 / DAY];
    default:
      return [-Infinity, Infinity];
  }
};
