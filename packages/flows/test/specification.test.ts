import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const home = join(__dirname, '..');
const specification = readFileSync(join(home, '../../docs/specs/flows.md'), 'utf8');

const textsBelow = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(home, folder, name), 'utf8'));

const idsIn = (text: string): readonly string[] => [...text.matchAll(/FL-\d+/g)].map(([id]) => id);
const groupsIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, group = '']) => group);

/** Tests outside this package: addresses, visibility, requests. */
const around = [
  ...['services/hps-gateway/test/flows.test.ts', 'tests-e2e/test/solving/flows.test.ts'],
  'packages/cache/src/asset-directory.test.ts',
].map((path) => readFileSync(join(home, '../..', path), 'utf8'));

/** Statements that a test names at the start of its title. */
const named: ReadonlySet<string> = new Set(
  [...textsBelow('test', '.test.ts'), ...around].flatMap((text) =>
    groupsIn(text, /\(\s*['`]((?:FL-\d+,? )+)/g).flatMap(idsIn),
  ),
);

const stated = groupsIn(specification, /^- \*\*(FL-\d+)\*\*/gm);

describe('docs/specs/flows.md', () => {
  it('numbers each statement once, in order', () => {
    const numbers = stated.map((id) => Number(id.slice(3)));
    expect(numbers.length).toBeGreaterThan(40);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('states nothing that no test or case names', () => {
    expect(stated.filter((id) => !named.has(id))).toEqual([]);
  });

  it('states everything that a test or case names', () => {
    expect([...named].filter((id) => !stated.includes(id))).toEqual([]);
  });

  it('refers to no statement that it does not make', () => {
    expect(idsIn(specification).filter((id) => !stated.includes(id))).toEqual([]);
  });
});
