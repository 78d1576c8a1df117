import { randomUUID } from 'node:crypto';
import { type Cache, openCache } from '@decision/cache';
import { type RuleTable } from '@decision/contracts';
import { createRuleLibrary, type LoadTable } from './rule-library';
import { createValueDirectory } from './value-directory';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const workspace = randomUUID();
const table = (rows: number): RuleTable => ({
  requestSchema: [],
  responseSchema: [],
  conditions: Array.from({ length: rows }, () => ({})),
});

let cache: Cache;
let loads: string[];

beforeEach(() => {
  loads = [];
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
});
afterEach(() => cache.close());

const libraryWith = (loadTable: LoadTable, maxRows: number) => {
  const none = { findRevision: () => Promise.resolve(0), load: () => Promise.resolve({ revision: 0, values: [] }) };
  return createRuleLibrary(
    cache,
    { loadTable, values: createValueDirectory(cache, none, { onStale: () => undefined }) },
    { maxRows },
  );
};

const libraryOf = (rows: number, maxRows: number) =>
  libraryWith((_workspace, versionId) => {
    loads.push(versionId);
    return Promise.resolve(versionId === 'gone' ? undefined : table(rows));
  }, maxRows);

it('loads and compiles a version once, however many ask at the same time', async () => {
  const library = libraryOf(3, 1_000);
  const rules = await Promise.all(Array.from({ length: 20 }, () => library.get(workspace, 'a')));
  expect(new Set(rules).size).toBe(1);
  expect(await library.get(workspace, 'a')).toBe(rules[0]);
  expect(loads).toEqual(['a']);
});

it('drops the least recently used beyond its rows and loads them again when they are asked for', async () => {
  const library = libraryOf(100, 250);
  for (const version of ['a', 'b', 'a', 'c', 'a', 'b']) await library.get(workspace, version);
  expect(library.size()).toBe(2);
  expect(loads).toEqual(['a', 'b', 'c', 'b']);
});

it('says that a version was deleted, and does not remember a failure', async () => {
  const library = libraryOf(1, 100);
  await expect(library.get(workspace, 'gone')).rejects.toMatchObject({ code: 'version_not_found' });
  let failing = true;
  const unsteady = libraryWith(
    () => (failing ? Promise.reject(new TypeError('away')) : Promise.resolve(table(1))),
    100,
  );
  await expect(unsteady.get(workspace, 'x')).rejects.toThrow('away');
  failing = false;
  await expect(unsteady.get(workspace, 'x')).resolves.toMatchObject({ strictInput: false });
});
