import { type DecisionLogEntry } from '@decision/contracts';
import { CSV_HEADER, toCsvRow } from './decisions-csv';

const entryOf = (change: Partial<DecisionLogEntry>): DecisionLogEntry => ({
  ...{ id: '1', timestamp: '2026-01-15T09:30:00.032Z', name: 'price', endpoint: '/api/v1/solve/price', status: 200 },
  ...{ request: {}, response: {}, abbreviated: false },
  decision: { type: 'rule', selector: '', request_id: 'r', items: [] },
  ...change,
});

/** Cells of a row by column. */
const cellsOf = (change: Partial<DecisionLogEntry>): Readonly<Record<string, string>> => {
  const row = toCsvRow(entryOf(change)).slice(0, -1);
  const cells = [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|(?=,|$))/g)].map(([, cell = '']) =>
    cell.replaceAll('""', '"'),
  );
  const names = CSV_HEADER.trim().split(',');
  expect(cells).toHaveLength(names.length);
  return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
};

it('a row has a cell for each column, even for texts with commas, quotes and line feeds', () => {
  const request = { text: 'a,"b"\r\n;c|d' };
  const cells = cellsOf({ request, error: 'one, "two"\nthree', matched_items: [1, 2] });
  expect(cells).toMatchObject({ name: 'price', status: '200', error: 'one, "two"\nthree', matched_items: '[1,2]' });
  expect(cells).toMatchObject({ abbreviated: 'false', path_trace: '', asset_id: '' });
  expect(JSON.parse(cells['request'] ?? '')).toEqual(request);
  expect(cells['request']).not.toMatch(/[;|]/);
});

it.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "\t'=1"],
  [' \u00a0=1', "' \u00a0=1"],
  ['\u0001=1', "'\u0001=1"],
  ['\u200b=1', "'\u200b=1"],
  ['＝1', "'＝1"],
  ['a;=1', "a;'=1"],
  ['a\n"=1', `a\n'"=1`],
  ['a=1', 'a=1'],
])('a text that a spreadsheet would read as a formula is marked as text: %j', (error, cell) => {
  expect(cellsOf({ error })['error']).toBe(cell);
});

it('four texts of a million separators or spaces are written in less than four seconds', () => {
  const startedAt = performance.now();
  for (const sign of ['\t', ' ', ';', '"']) cellsOf({ error: sign.repeat(1_000_000) });
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});
