import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(__dirname, '../../../docs/specs/contexts.md'), 'utf8');
const sources = join(__dirname, '../src');

/** Numbers of statements; those marked *(service)* are tested where storage and processes are. */
const statements = [...page.matchAll(/^- \*\*(C\d+)\*\* (\(service\))?/gm)].map(([, number = '', mark]) => ({
  number,
  isOfService: mark !== undefined,
}));

/** Everything that stands in titles of tests. */
const tests = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(sources, file), 'utf8'))
  .join('\n');

it('have unique numbers, in order', () => {
  const numbers = statements.map(({ number }) => Number(number.slice(1)));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(numbers.length).toBeGreaterThan(80);
});

it('are each held by a test whose title begins with the number', () => {
  const unheld = statements.filter(
    ({ number, isOfService }) => !isOfService && !new RegExp(`\\b${number}\\b`).test(tests),
  );
  expect(unheld.map(({ number }) => number)).toEqual([]);
});
