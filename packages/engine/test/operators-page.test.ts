import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { operatorsPage } from './support/operators-page';

const path = resolve(__dirname, '../../../docs/operators.md');

it('docs/operators.md says what the catalogue says', () => {
  const page = operatorsPage();
  if (process.env['WRITE_DOCS'] === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8')).toBe(page);
});
