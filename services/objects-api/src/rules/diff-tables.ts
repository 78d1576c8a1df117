import { type RuleDiff, type RuleField, type RuleRow, type RuleTable } from '@decision/contracts';
import { isDeepStrictEqual } from 'node:util';
import { matchRows, type RowMatch } from './match-rows';

/** Entries of a list that are shown; counts are whole. */
const MAX_SHOWN = 1_000;

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
  const show = <T>(entries: readonly T[]): T[] => entries.slice(0, MAX_SHOWN);
  return {
    fields,
    rows: {
      added: show(added).map((row) => ({ row, content: to.conditions[row] })),
      removed: show(removed).map((row) => ({ row, content: from.conditions[row] })),
      changed: show(changed),
      moved: show(moved),
      counts,
    },
    truncated: Object.values(counts).some((count) => count > MAX_SHOWN),
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

/** The entries of two records that differ, in the order of their names. */
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

/** The fewest rows that had to be moved: all that are not in the longest run that kept its order. `pairs` are in the order of `from`. */
const movedPairs = (pairs: readonly RowMatch[]): readonly RowMatch[] => {
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

/** Index of the first entry that passes, where all that follow one that passes do too; the length where none does. */
const firstAtLeast = (entries: readonly number[], passes: (entry: number) => boolean): number => {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(entries[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
};
