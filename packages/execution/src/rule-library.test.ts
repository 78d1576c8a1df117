import { randomUUID } from 'node:crypto';
import { type Cache, openCache } from '@decision/cache';
import { cacheKeys, type RuleTable } from '@decision/contracts';
import { evaluateRule } from '@decision/engine';
import { type Compilation } from './compilation';
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

const libraryWith = (loadTable: LoadTable, maxBytes: number, onCompiled?: (compilation: Compilation) => void) => {
  const none = { findRevision: () => Promise.resolve(0), load: () => Promise.resolve({ revision: 0, values: [] }) };
  return createRuleLibrary(
    cache,
    { loadTable, values: createValueDirectory(cache, none, { onStale: () => undefined }) },
    { maxBytes, onCompiled },
  );
};

const libraryOf = (rows: number, maxBytes: number) =>
  libraryWith((_workspace, versionId) => {
    loads.push(versionId);
    return Promise.resolve(versionId === 'gone' ? undefined : table(rows));
  }, maxBytes);

it('loads and compiles a version once for concurrent callers', async () => {
  const library = libraryOf(3, 1_000_000);
  const rules = await Promise.all(Array.from({ length: 20 }, () => library.get(workspace, 'a')));
  expect(new Set(rules).size).toBe(1);
  expect(await library.get(workspace, 'a')).toBe(rules[0]);
  expect(loads).toEqual(['a']);
});

it('reports each compilation, and none if the rule is held', async () => {
  const compilations: Compilation[] = [];
  const library = libraryWith(
    () => Promise.resolve(table(2_000)),
    1_000_000_000,
    (compilation) => compilations.push(compilation),
  );
  for (const version of ['a', 'a', 'b', 'a']) await library.get(workspace, version);
  expect(compilations.map(({ asset }) => asset)).toEqual(['rule', 'rule']);
  expect(compilations.every(({ tookMs }) => tookMs > 0)).toBe(true);
});

/** Bytes that a library counts for one rule with a number of rows. */
const bytesOf = async (rows: number): Promise<number> => {
  const library = libraryOf(rows, 1_000_000_000);
  await library.get(workspace, 'measured');
  loads = [];
  return library.bytes();
};

it('drops the least recently used beyond its bytes and reloads them on request', async () => {
  const library = libraryOf(100, Math.floor(2.5 * (await bytesOf(100))));
  for (const version of ['a', 'b', 'a', 'c', 'a', 'b']) await library.get(workspace, version);
  expect(library.size()).toBe(2);
  expect(loads).toEqual(['a', 'b', 'c', 'b']);
});

it('counts the bytes of cells and not the number of rows', async () => {
  const wide = (columns: number): RuleTable => ({
    requestSchema: Array.from({ length: columns }, (_, index) => ({ key: `f${index}`, type: 'number' })),
    responseSchema: [],
    conditions: Array.from({ length: 100 }, () => ({
      request: Object.fromEntries(
        Array.from({ length: columns }, (_, index) => [`f${index}`, { op: 'equals', args: [index] }]),
      ),
    })),
  });
  const library = libraryWith((_workspace, versionId) => Promise.resolve(wide(Number(versionId))), 1_000_000_000);
  await library.get(workspace, '1');
  const narrow = library.bytes();
  await library.get(workspace, '1000');
  expect(library.bytes()).toBeGreaterThan(100 * narrow);
});

it('holds the last rule that is larger than its bound, in addition to the others', async () => {
  const bound = 2 * (await bytesOf(100));
  const library = libraryWith((_workspace, versionId) => {
    loads.push(versionId);
    return Promise.resolve(table(versionId.startsWith('large') ? 5_000 : 100));
  }, bound);
  for (const version of ['a', 'large', 'a', 'large', 'large', 'a']) await library.get(workspace, version);
  expect(loads).toEqual(['a', 'large']);
  for (const version of ['large-2', 'large-2', 'a', 'large']) await library.get(workspace, version);
  expect(loads).toEqual(['a', 'large', 'large-2', 'large']);
});

it('reports a deleted version, and does not remember a failure', async () => {
  const library = libraryOf(1, 1_000_000);
  await expect(library.get(workspace, 'gone')).rejects.toMatchObject({ code: 'version_not_found' });
  let failing = true;
  const unsteady = libraryWith(
    () => (failing ? Promise.reject(new TypeError('away')) : Promise.resolve(table(1))),
    100,
  );
  await expect(unsteady.get(workspace, 'x')).rejects.toThrow('away');
  failing = false;
  const rule = await unsteady.get(workspace, 'x');
  expect(rule && evaluateRule(rule, {}, { now: 0 })).toMatchObject({ ok: true });
});

it('drops a compiled version when the deletion of its rule is announced', async () => {
  let deleted = false;
  const library = libraryWith(() => Promise.resolve(deleted ? undefined : table(1)), 100);
  await library.get(workspace, 'a');
  deleted = true;
  await expect(library.get(workspace, 'a')).resolves.toBeDefined();
  cache.invalidations.deliver({
    v: 1,
    kind: 'rule',
    workspace_id: workspace,
    keys: [cacheKeys.definition(workspace, 'a')],
  });
  await expect(library.get(workspace, 'a')).rejects.toMatchObject({ code: 'version_not_found' });
  expect(library.size()).toBe(0);
});

it('answers a compiled rule at once, only to its workspace and until it is deleted', async () => {
  const library = libraryOf(1, 1_000_000);
  expect(library.peek(workspace, 'a')).toBeUndefined();
  const rule = await library.get(workspace, 'a');
  expect(rule).toBeDefined();
  expect(library.peek(workspace, 'a')).toBe(rule);
  expect(library.peek(randomUUID(), 'a')).toBeUndefined();
  const keys = [cacheKeys.definition(workspace, 'a')];
  cache.invalidations.deliver({ v: 1, kind: 'rule', workspace_id: workspace, keys });
  expect(library.peek(workspace, 'a')).toBeUndefined();
});

it('refuses a version of another workspace that is compiled, cached or being loaded', async () => {
  const other = randomUUID();
  const asked: string[] = [];
  const library = libraryWith((workspaceId, versionId) => {
    asked.push(`${workspaceId} ${versionId}`);
    return Promise.resolve(workspaceId === workspace ? table(1) : undefined);
  }, 100);
  const loading = library.get(workspace, 'a');
  await expect(library.get(other, 'a')).rejects.toMatchObject({ code: 'version_not_found' });
  await loading;
  await expect(library.get(other, 'a')).rejects.toMatchObject({ code: 'version_not_found' });
  expect(new Set(asked)).toEqual(new Set([`${workspace} a`, `${other} a`]));
  await expect(library.get(workspace, 'a')).resolves.toBeDefined();
});

it('does not read a large stored version if large ones are not compiled', async () => {
  const measured: string[] = [];
  const sources = {
    loadTable: (_workspace: string, versionId: string) => {
      loads.push(versionId);
      return Promise.resolve(table(3));
    },
    measureTable: (_workspace: string, versionId: string) => {
      measured.push(versionId);
      return Promise.resolve(versionId === 'large' ? 1_000_000 : 1_000);
    },
    values: createValueDirectory(
      cache,
      { findRevision: () => Promise.resolve(0), load: () => Promise.resolve({ revision: 0, values: [] }) },
      { onStale: () => undefined },
    ),
  };
  const library = createRuleLibrary(cache, sources, { maxBytes: 1_000_000, maxCells: 5_000 });
  for (let time = 0; time < 2; time += 1) {
    expect(await library.get(workspace, 'large')).toBeUndefined();
    expect(await library.get(workspace, 'small')).toBeDefined();
  }
  expect(loads).toEqual(['small']);
  expect(measured).toEqual(['large', 'small']);
  const elsewhere = createRuleLibrary(cache, sources, { maxBytes: 1_000_000 });
  expect(await elsewhere.get(workspace, 'large')).toBeDefined();
});
