import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const home = join(__dirname, '..');
const specification = readFileSync(join(home, '../../docs/specs/engine.md'), 'utf8');

const textsBelow = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(home, folder, name), 'utf8'));

const idsIn = (text: string): readonly string[] => [...text.matchAll(/E-\d+/g)].map(([id]) => id);
const groupsIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, group = '']) => group);

/** Statements named in `statements` of a case, or at the start of a test title. */
const named: ReadonlySet<string> = new Set([
  ...textsBelow('cases', '.json').flatMap((text) => groupsIn(text, /"statements": \[([^\]]*)\]/g).flatMap(idsIn)),
  ...[...textsBelow('test', '.test.ts'), ...textsBelow('src', '.test.ts')].flatMap((text) =>
    groupsIn(text, /\(\s*['`]((?:E-\d+,? )+)/g).flatMap(idsIn),
  ),
]);

const stated = groupsIn(specification, /^- \*\*(E-\d+)\*\*/gm);

describe('docs/specs/engine.md', () => {
  it('numbers each statement once, in order', () => {
    const numbers = stated.map((id) => Number(id.slice(2)));
    expect(numbers.length).toBeGreaterThan(80);
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
