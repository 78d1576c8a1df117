import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const specification = readFileSync(join(__dirname, '../../../docs/specs/connectors.md'), 'utf8');
/** Some statements concern documents, storage and answers; tests of other packages hold them. */
const FOLDERS = [
  ...['.', '../../flows/test', '../../persistence/test'],
  ...['contexts-api/test', 'objects-api/test', 'solve-worker/test', 'solve-worker/src'].map(
    (name) => `../../../services/${name}`,
  ),
];
const tests = FOLDERS.map((folder) => join(__dirname, folder)).flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8')),
);

const idsIn = (text: string): readonly string[] => [...text.matchAll(/CN-\d+/g)].map(([id]) => id);

/** Statements that a test names at the start of its title. */
const named: ReadonlySet<string> = new Set(
  tests.flatMap((text) => [...text.matchAll(/\(\s*['`]((?:CN-\d+(?:, )?)+):/g)].flatMap(([, ids = '']) => idsIn(ids))),
);
const stated = [...specification.matchAll(/^- \*\*(CN-\d+)\*\*/gm)].map(([, id = '']) => id);

describe('docs/specs/connectors.md', () => {
  it('numbers each statement once, in order', () => {
    const numbers = stated.map((id) => Number(id.slice(3)));
    expect(numbers.length).toBeGreaterThan(14);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('states exactly what tests name', () => {
    expect(stated.filter((id) => !named.has(id))).toEqual([]);
    expect([...named].filter((id) => !stated.includes(id))).toEqual([]);
    expect(idsIn(specification).filter((id) => !stated.includes(id))).toEqual([]);
  });
});
