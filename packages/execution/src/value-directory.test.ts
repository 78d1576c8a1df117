import { randomUUID } from 'node:crypto';
import { type Cache, openCache } from '@decision/cache';
import { cacheKeys, type RuleTable } from '@decision/contracts';
import { evaluateRule } from '@decision/engine';
import { type LoadedValues } from '@decision/persistence';
import { createRuleLibrary, type RuleLibrary } from './rule-library';
import { createValueDirectory } from './value-directory';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const workspace = randomUUID();
const reference = (id: string): object => ({ $rb: 'globalValue', id, name: id });
const table: RuleTable = {
  requestSchema: [{ key: 'country', type: 'string' }],
  responseSchema: [{ key: 'fee', type: 'number' }],
  conditions: [
    {
      request: { country: { op: 'is included in', args: [reference('eu')] } },
      response: { fee: { value: reference('fee') } },
    },
  ],
};

let cache: Cache;
let stored: LoadedValues;
let revision: number;
let loads: number;
let failing: boolean;
let stale: unknown[];
let library: RuleLibrary;

const valuesAt = (at: number, countries: readonly string[], fee: number): LoadedValues => ({
  revision: at,
  values: [
    { id: 'eu', name: 'eu', type: 'list', content: countries, audiences: [[]] },
    { id: 'fee', name: 'fee', type: 'number', content: fee, audiences: [[]] },
  ],
});

beforeEach(() => {
  [loads, failing, stale, revision] = [0, false, [], 1];
  stored = valuesAt(1, ['DE'], 5);
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  const values = createValueDirectory(
    cache,
    {
      findRevision: () => Promise.resolve(revision),
      load: () => {
        loads += 1;
        return failing ? Promise.reject(new TypeError('away')) : Promise.resolve(stored);
      },
    },
    { onStale: (error) => stale.push(error) },
  );
  library = createRuleLibrary(cache, { loadTable: () => Promise.resolve(table), values }, { maxBytes: 1_000_000 });
});
afterEach(() => cache.close());

const solve = async (country: string): Promise<unknown> => {
  const rule = await library.get(workspace, 'v1');
  if (rule === undefined) throw new Error('The library compiles all rules.');
  const outcome = evaluateRule(rule, { country }, { now: 0 });
  return outcome.ok ? outcome.output : outcome.error.code;
};
/** Effect of an announced change on this process. */
const changeTo = (values: LoadedValues): void => {
  [stored, revision] = [values, values.revision];
  const keys = [cacheKeys.valueRevision(workspace)];
  cache.invalidations.deliver({ v: 1, kind: 'value', workspace_id: workspace, keys });
};

it('reads the values of a rule once, and again when they have changed, without compiling it again', async () => {
  const rule = await library.get(workspace, 'v1');
  expect(await solve('DE')).toEqual({ fee: 5 });
  expect(await solve('FR')).toEqual({});
  expect(loads).toBe(1);
  changeTo(valuesAt(2, ['FR'], 7));
  expect(await solve('FR')).toEqual({ fee: 7 });
  expect(await solve('DE')).toEqual({});
  expect(loads).toBe(2);
  expect(await library.get(workspace, 'v1')).toBe(rule);
});

it('answers a rule at once only while its values are known to be current', async () => {
  const isAtOnce = (): boolean => library.peek(workspace, 'v1') !== undefined;
  expect(isAtOnce()).toBe(false);
  const rule = await library.get(workspace, 'v1');
  expect(library.peek(workspace, 'v1')).toBe(rule);
  changeTo(valuesAt(2, ['FR'], 7));
  expect(isAtOnce()).toBe(false);
  failing = true;
  await solve('DE');
  expect(isAtOnce()).toBe(false); // newer values are known to exist, but could not be read
  failing = false;
  expect(await solve('FR')).toEqual({ fee: 7 });
  expect(isAtOnce()).toBe(true);
});

it('reads them once for concurrent callers', async () => {
  await solve('DE');
  changeTo(valuesAt(2, ['FR'], 7));
  expect(await Promise.all(Array.from({ length: 20 }, () => solve('FR')))).toEqual(Array(20).fill({ fee: 7 }));
  expect(loads).toBe(2);
});

it('does not reload values that are newer than the cache', async () => {
  stored = valuesAt(9, ['DE'], 5);
  expect(await solve('DE')).toEqual({ fee: 5 });
  expect(await solve('DE')).toEqual({ fee: 5 });
  expect(loads).toBe(1);
});

it('continues with its values while new ones cannot be read, and reports it', async () => {
  await solve('DE');
  failing = true;
  changeTo(valuesAt(2, ['FR'], 7));
  expect(await solve('DE')).toEqual({ fee: 5 });
  expect(stale).toEqual([expect.objectContaining({ message: 'away' })]);
  failing = false;
  expect(await solve('FR')).toEqual({ fee: 7 });
});

it('fails while a value is missing, instead of answering wrongly', async () => {
  await solve('DE');
  changeTo({ revision: 2, values: valuesAt(2, ['DE'], 5).values.slice(1) });
  expect(await solve('DE')).toBe('evaluation_failed');
  changeTo(valuesAt(3, ['DE'], 6));
  expect(await solve('DE')).toEqual({ fee: 6 });
});

it('cannot open a rule whose values were never read', async () => {
  failing = true;
  await expect(library.get(workspace, 'v1')).rejects.toThrow('away');
});
