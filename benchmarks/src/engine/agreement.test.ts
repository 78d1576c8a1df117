import { compileRule } from '@decision/engine';
import { countDisagreements } from './agreement';
import { makeWorkload } from './workload';

const { table, inputs } = makeWorkload({ rows: 50, columns: 4, blanks: 0.3, led: true });
const scanned = compileRule(table, { search: 'scan' });

it('finds no disagreement between the index, the scan and the hand-written lookup', () => {
  expect(countDisagreements(table, { indexed: compileRule(table), scanned, inputs })).toBe(0);
});

it('counts inputs on which another table answers otherwise', () => {
  const other = compileRule({ ...table, conditions: table.conditions.slice(1) });
  expect(countDisagreements(table, { indexed: other, scanned, inputs })).toBeGreaterThan(0);
});
