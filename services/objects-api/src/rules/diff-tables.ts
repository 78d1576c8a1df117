import { isDeepStrictEqual } from 'node:util';
import { type RuleDiff, type RuleField, type RuleRow, type RuleTable } from '@decision/contracts';

/** A row of one table and the row of another that it became, by index. */
interface RowMatch {
  readonly from: number;
  readonly to: number;
}

/** Rows that are alike, in order, and the first row that is not yet matched. */
interface Queue {
  readonly entries: number[];
  next: number;
}

interface RowMatching {
  /** In the order of `from`. */
  readonly pairs: readonly RowMatch[];
  /** Indexes of rows of `to` that are new. */
  readonly added: readonly number[];
  /** Indexes of rows of `from` that are gone. */
  readonly removed: readonly number[];
}

/**
 * Matches the rows of a table with those of another: by their `id`, then by their content, then by position: rows left between two matches that
 * are neighbours on both sides are paired in order. Takes time linear in the rows.
 */
const matchRows = (from: readonly RuleRow[], to: readonly RuleRow[]): RowMatching => {
  const partners = new Map<number, number>();
  const taken = new Set<number>();
  const match = (keyOf: (row: RuleRow) => string | undefined): void => {
    const waiting = new Map<string, Queue>();
    to.forEach((row, index) => {
      const key = taken.has(index) ? undefined : keyOf(row);
      if (key === undefined) return;
      const queue = waiting.get(key);
      if (queue === undefined) waiting.set(key, { entries: [index], next: 0 });
      else queue.entries.push(index);
    });
    from.forEach((row, index) => {
      const key = partners.has(index) ? undefined : keyOf(row);
      const queue = key === undefined ? undefined : waiting.get(key);
      const partner = queue?.entries[queue.next];
      if (queue === undefined || partner === undefined) return;
      queue.next += 1;
      partners.set(index, partner);
      taken.add(partner);
    });
  };
  match(({ id }) => id);
  match(contentOf);
  matchByPlace(from.length, to.length, partners, taken);
  return {
    pairs: [...partners].map(([index, partner]) => ({ from: index, to: partner })).sort((a, b) => a.from - b.from),
    added: to.flatMap((_, index) => (taken.has(index) ? [] : [index])),
    removed: from.flatMap((_, index) => (partners.has(index) ? [] : [index])),
  };
};

/** Pairs rows one by one that are left on both sides after a matched row, or at the start. */
const matchByPlace = (
  fromLength: number,
  toLength: number,
  partners: Map<number, number>,
  taken: Set<number>,
): void => {
  let next = 0;
  for (let index = 0; index < fromLength; index += 1) {
    const partner = partners.get(index);
    if (partner !== undefined) next = partner + 1;
    else if (next < toLength && !taken.has(next)) {
      partners.set(index, next);
      taken.add(next);
      next += 1;
    }
  }
};

const contentOf = ({ request, response, settings }: RuleRow): string =>
  JSON.stringify([sorted(request), sorted(response), sorted(settings)]);

/** Entries by name: their order in a document has no meaning. */
const sorted = (record: Readonly<Record<string, unknown>> | undefined): unknown =>
  Object.entries(record ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

/** Maximum number of entries shown of a list; counts are complete. */
const MAX_SHOWN = 1_000;

/** The first entries of a list, as answers show them. */
export const show = <T>(entries: readonly T[]): T[] => entries.slice(0, MAX_SHOWN);

/** Whether lists of these lengths are truncated. */
export const isCut = (counts: Readonly<Record<string, number>>): boolean =>
  Object.values(counts).some((count) => count > MAX_SHOWN);

type Changes = Pick<RuleDiff, 'fields' | 'rows' | 'truncated'>;
type FieldChange = RuleDiff['fields'][number];
type CellChange = RuleDiff['rows']['changed'][number]['changes'][number];

/** Differences between the fields and the rows of two tables. */
export const diffTables = (from: RuleTable, to: RuleTable): Changes => {
  const fields = [
    ...diffFields('request', from.requestSchema, to.requestSchema),
    ...diffFields('response', from.responseSchema, to.responseSchema),
  ];
  const { pairs, added, removed } = matchRows(from.conditions, to.conditions);
  const changed = pairs.flatMap((pair) => {
    const changes = diffRows(from.conditions[pair.from], to.conditions[pair.to]);
    return changes.length === 0 ? [] : [{ from_row: pair.from, to_row: pair.to, changes }];
  });
  const moved = movedPairs(pairs).map((pair) => ({ from_row: pair.from, to_row: pair.to }));
  const counts = { added: added.length, removed: removed.length, changed: changed.length, moved: moved.length };
  return {
    fields,
    rows: {
      added: show(added).map((row) => ({ row, content: to.conditions[row] })),
      removed: show(removed).map((row) => ({ row, content: from.conditions[row] })),
      changed: show(changed),
      moved: show(moved),
      counts,
    },
    truncated: isCut(counts),
  };
};

const diffFields = (side: FieldChange['side'], from: readonly RuleField[], to: readonly RuleField[]): FieldChange[] =>
  diffRecords(
    Object.fromEntries(from.map((field) => [field.key, field])),
    Object.fromEntries(to.map((field) => [field.key, field])),
  ).map(({ path, ...change }) => ({ side, key: path, ...change }));

/** The cells and settings that differ. */
const diffRows = (from: RuleRow | undefined, to: RuleRow | undefined): CellChange[] =>
  (['request', 'response', 'settings'] as const).flatMap((part) =>
    diffRecords(from?.[part] ?? {}, to?.[part] ?? {}).map(({ path, ...change }) => ({
      path: `${part}.${path}`,
      ...change,
    })),
  );

/** The entries that differ between two records, in the order of their names. */
export const diffRecords = (
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): CellChange[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])]
    .sort()
    .filter((key) => !isDeepStrictEqual(own(from, key), own(to, key)))
    .map((key) => ({
      path: key,
      ...(Object.hasOwn(from, key) ? { from: from[key] } : {}),
      ...(Object.hasOwn(to, key) ? { to: to[key] } : {}),
    }));

const own = (record: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** The minimal set of moved rows: all outside the longest run that kept its order. `pairs` are in the order of `from`. */
export const movedPairs = (pairs: readonly RowMatch[]): readonly RowMatch[] => {
  const tails: number[] = [];
  const before = new Array<number>(pairs.length);
  pairs.forEach((pair, index) => {
    const length = firstAtLeast(tails, (tail) => (pairs[tail]?.to ?? 0) >= pair.to);
    before[index] = length === 0 ? -1 : (tails[length - 1] ?? -1);
    tails[length] = index;
  });
  const kept = new Set<number>();
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) kept.add(index);
  return pairs.filter((_, index) => !kept.has(index));
};

/** Index of the first entry that passes, if all entries after a passing one pass too; the length if none passes. */
const firstAtLeast = (entries: readonly number[], passes: (entry: number) => boolean): number => {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(entries[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
};
