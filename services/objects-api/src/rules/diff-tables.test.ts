import { type RuleRow, type RuleTable } from '@decision/contracts';
import { diffTables } from './diff-tables';

const row = (n: number, price: number, id?: string): RuleRow => ({
  ...(id === undefined ? {} : { id }),
  request: { a: { op: 'equals', args: [n] } },
  response: { b: { value: price } },
});
const table = (conditions: RuleRow[], parts: Partial<RuleTable> = {}): RuleTable => ({
  requestSchema: [{ key: 'a', type: 'number' }],
  responseSchema: [{ key: 'b', type: 'number' }],
  conditions,
  ...parts,
});
const rowsOf = (from: RuleRow[], to: RuleRow[]) => diffTables(table(from), table(to)).rows;
const none = { added: 0, removed: 0, changed: 0, moved: 0 };

it('finds nothing between a table and itself, written in another order of keys', () => {
  const other: RuleRow = { response: { b: { value: 1 } }, request: { a: { args: [1], op: 'equals' } } };
  expect(rowsOf([row(1, 1), row(2, 2)], [other, row(2, 2)]).counts).toEqual(none);
});

it.each<[string, RuleRow[], RuleRow[], object]>([
  ['a row at the end', [row(1, 1)], [row(1, 1), row(2, 2)], { added: [{ row: 1, content: row(2, 2) }] }],
  ['a row at the start', [row(1, 1)], [row(2, 2), row(1, 1)], { added: [{ row: 0, content: row(2, 2) }], moved: [] }],
  ['a row that is gone', [row(1, 1), row(2, 2)], [row(2, 2)], { removed: [{ row: 0, content: row(1, 1) }], moved: [] }],
  [
    'a row that changed in its place',
    [row(1, 1), row(2, 2), row(3, 3)],
    [row(1, 1), row(2, 9), row(3, 3)],
    {
      added: [],
      removed: [],
      changed: [{ from_row: 1, to_row: 1, changes: [{ path: 'response.b', from: { value: 2 }, to: { value: 9 } }] }],
    },
  ],
  [
    'a row that moved, and only that',
    [row(1, 1), row(2, 2), row(3, 3), row(4, 4)],
    [row(4, 4), row(1, 1), row(2, 2), row(3, 3)],
    { added: [], removed: [], changed: [], moved: [{ from_row: 3, to_row: 0 }] },
  ],
  [
    'a row that moved and changed, by its id',
    [row(1, 1, 'x'), row(2, 2, 'y')],
    [row(2, 2, 'y'), row(1, 7, 'x')],
    { changed: [{ from_row: 0, to_row: 1 }], counts: { ...none, changed: 1, moved: 1 } },
  ],
  [
    'rows that are alike',
    [row(1, 1), row(1, 1), row(1, 1)],
    [row(1, 1), row(1, 1)],
    { counts: { ...none, removed: 1 } },
  ],
  ['everything', [row(1, 1)], [], { counts: { ...none, removed: 1 } }],
])('finds %s', (_, from, to, expected) => {
  expect(rowsOf(from, to)).toMatchObject(expected);
});

it('finds fields that were added, removed and changed', () => {
  const from = table([], {
    requestSchema: [
      { key: 'a', type: 'number' },
      { key: '__proto__', type: 'string' },
    ],
  });
  const to = table([], {
    requestSchema: [
      { key: 'a', type: 'string' },
      { key: 'c', type: 'date' },
    ],
    responseSchema: [],
  });
  expect(diffTables(from, to).fields).toMatchObject([
    { side: 'request', key: '__proto__', from: { type: 'string' } },
    { side: 'request', key: 'a', from: { type: 'number' }, to: { type: 'string' } },
    { side: 'request', key: 'c', to: { type: 'date' } },
    { side: 'response', key: 'b' },
  ]);
});

it('shows a thousand rows of a list and counts all, also of large tables', () => {
  const many = Array.from({ length: 50_000 }, (_, n) => row(n, n));
  const { rows, truncated } = diffTables(table(many), table([...many].reverse()));
  expect(truncated).toBe(true);
  expect(rows.moved).toHaveLength(1_000);
  expect(rows.counts).toEqual({ ...none, moved: 49_999 });
});
