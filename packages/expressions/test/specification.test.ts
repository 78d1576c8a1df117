import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionTable } from './function-table';

const home = join(__dirname, '..');
const specification = readFileSync(join(home, '../../docs/specs/formulas.md'), 'utf8');

const textsBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(home, folder, name), 'utf8'));

const idsIn = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, id = '']) => id);

/** Statements that a case names in `statement`, or a test at the start of its title. */
const tested = new Set([
  ...textsBelow('cases', '.json').flatMap((text) => idsIn(text, /"statement": "(F\d+)"/g)),
  ...[...textsBelow('test', '.test.ts'), ...textsBelow('src', '.test.ts')].flatMap((text) =>
    idsIn(text, /(?:describe|it)(?:\.each)?\(\s*['`](F\d+):/g),
  ),
]);

const stated = idsIn(specification, /^- \*\*(F\d+)\*\*/gm);

describe('docs/specs/formulas.md', () => {
  it('numbers each statement once, in order', () => {
    const numbers = stated.map((id) => Number(id.slice(1)));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('states nothing that no test names', () => {
    expect(stated.filter((id) => !tested.has(id))).toEqual([]);
  });

  it('states everything that a test names', () => {
    expect([...tested].filter((id) => !stated.includes(id))).toEqual([]);
  });

  it('shows the catalogue as it is', () => {
    expect(
      specification.slice(
        specification.indexOf('### logic'),
        specification.indexOf('\n\n<!-- prettier-ignore-end -->'),
      ),
    ).toBe(functionTable());
  });
});
