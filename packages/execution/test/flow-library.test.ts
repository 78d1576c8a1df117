import { randomUUID } from 'node:crypto';
import { type Cache, openCache } from '@decision/cache';
import { cacheKeys } from '@decision/contracts';
import { evaluateFlow } from '@decision/flows';
import { type StoredFlow } from '../src/flows/flow-library';
import { definition, formulaTable, largeTable, passing, StoredWorld, use } from './support/stored-world';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const workspace = randomUUID();

let cache: Cache;
let world: StoredWorld;

beforeEach(() => {
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  world = new StoredWorld();
});
afterEach(() => cache.close());

const answerOf = ({ plan, fault }: StoredFlow, n = 2): unknown => {
  if (fault !== undefined) return fault.message;
  const outcome = plan && evaluateFlow(plan, { n }, { now: 0 });
  if (outcome === undefined || outcome instanceof Promise) throw new Error('It did not answer at once.');
  return outcome.ok ? outcome.output : outcome.error.message;
};

const publish = (versionId: string, formula: string, ...pointers: readonly string[]): void => {
  world.rules.set(versionId, formulaTable('v', formula));
  for (const pointer of pointers) world.pointers.set(pointer, versionId);
};

it('reads and compiles a flow once for concurrent callers', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  world.flows.set('f1', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  const library = world.libraryOf(cache);
  const flows = await Promise.all(Array.from({ length: 20 }, () => library.get(workspace, 'f1')));
  expect(new Set(flows).size).toBe(1);
  const reads = [...world.reads];
  expect(await library.get(workspace, 'f1')).toBe(flows[0]);
  expect(world.reads).toEqual(reads);
  expect(reads.filter((what) => what.startsWith('rule'))).toEqual(['rule r1']);
});

it('reports each compilation of a flow and its rules, and none if they are held', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  world.flows.set('f1', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  const compiled: string[] = [];
  const library = world.libraryOf(cache, { onCompiled: ({ asset }) => void compiled.push(asset) });
  for (let times = 0; times < 3; times += 1) await library.get(workspace, 'f1');
  expect(compiled).toEqual(['rule', 'flow']);
  publish('r2', 'n * 20', 'twice/latest');
  await library.get(workspace, 'f1');
  expect(compiled).toEqual(['rule', 'flow', 'rule', 'flow']);
});

it('follows publications of assets named by latest or an environment, and keeps those named by number', async () => {
  publish('r1', 'n * 2', 'twice/latest', 'twice/live');
  for (const selector of ['latest', 'live', '1'])
    world.flows.set(selector, passing(use('rule', 'twice', selector, 'r1'), 'v'));
  const library = world.libraryOf(cache);
  const answers = async () =>
    Promise.all(['latest', 'live', '1'].map(async (flow) => answerOf(await library.get(workspace, flow))));
  expect(await answers()).toEqual([{ v: 4 }, { v: 4 }, { v: 4 }]);
  publish('r2', 'n * 20', 'twice/latest');
  expect(await answers()).toEqual([{ v: 40 }, { v: 4 }, { v: 4 }]);
  publish('r2', 'n * 20', 'twice/live');
  expect(await answers()).toEqual([{ v: 40 }, { v: 40 }, { v: 4 }]);
});

it('runs the given versions, and that of its publication if none is given', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  publish('r2', 'n * 20', 'twice/latest');
  world.flows.set('f1', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  const library = world.libraryOf(cache);
  expect(answerOf(await library.get(workspace, 'f1', { 'twice/latest': 'r2' }))).toEqual({ v: 40 });
  expect(answerOf(await library.get(workspace, 'f1', {}))).toEqual({ v: 4 });
});

it('falls back to the version of its publication if the asset is gone', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  publish('r2', 'n * 20', 'twice/latest');
  world.flows.set('f1', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  const library = world.libraryOf(cache);
  expect(answerOf(await library.get(workspace, 'f1'))).toEqual({ v: 40 });
  world.pointers.delete('twice/latest');
  expect(answerOf(await library.get(workspace, 'f1'))).toEqual({ v: 4 });
});

it('runs the given versions, and the current ones if none are given', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  publish('r2', 'n * 20');
  world.flows.set('f1', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  const library = world.libraryOf(cache);
  expect(answerOf(await library.get(workspace, 'f1', { 'twice/latest': 'r2' }))).toEqual({ v: 40 });
  expect(answerOf(await library.get(workspace, 'f1', { 'other/latest': 'r2' }))).toEqual({ v: 4 });
});

it('follows what its subflows name', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  publish('o1', 'n', 'same/latest');
  world.flows.set('inner', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  world.flows.set(
    'outer',
    definition({
      nodes: [
        { ref: 'in', type: 'origin', rule: 'same' },
        { ref: 'sub', type: 'flow', flow: 'inner', version: 1 },
        { ref: 'out', type: 'result' },
      ],
      connections: [
        { from: 'in', output: 'v', to: 'sub', input: 'n' },
        { from: 'sub', output: 'v', to: 'out' },
      ],
      uses: [use('rule', 'same', 'latest', 'o1'), use('flow', 'inner', '1', 'inner')],
    }),
  );
  const library = world.libraryOf(cache);
  const before = await library.get(workspace, 'outer');
  expect(answerOf(before)).toEqual({ v: 4 });
  publish('r2', 'n * 20', 'twice/latest');
  const after = await library.get(workspace, 'outer');
  expect(answerOf(after)).toEqual({ v: 40 });
  expect(after.effectiveVersion).not.toBe(before.effectiveVersion);
});

it('is visible to callers that see everything that it and its subflows name', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  publish('o1', 'n', 'same/1');
  world.pointers.set('inner/1', 'inner');
  world.flows.set('inner', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  const uses = [use('rule', 'same', '1', 'o1'), use('flow', 'inner', '1', 'inner')];
  world.flows.set('outer', definition({ nodes: [], uses }));
  const library = world.libraryOf(cache);
  const all = ['sees same', 'sees inner', 'sees twice'];
  expect(await library.isSeenWhole(workspace, 'outer', all)).toBe(true);
  for (const hidden of all)
    expect(
      await library.isSeenWhole(
        workspace,
        'outer',
        all.filter((group) => group !== hidden),
      ),
    ).toBe(false);
  // Another rule now has the slug.
  publish('o2', 'n', 'same/1');
  expect(await library.isSeenWhole(workspace, 'outer', all)).toBe(false);
});

it('has its own version as its effective version if it follows nothing', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  world.flows.set('pinned', passing(use('rule', 'twice', '1', 'r1'), 'v'));
  world.flows.set('following', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  const library = world.libraryOf(cache);
  expect((await library.get(workspace, 'pinned')).effectiveVersion).toBe('pinned');
  expect((await library.get(workspace, 'following')).effectiveVersion).toMatch(/^following\+[\w-]{22}$/);
});

it('reports a rule that no longer fits, and runs again once it fits', async () => {
  publish('r1', 'n * 2', 'twice/latest');
  world.flows.set('f1', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  world.rules.set('r2', formulaTable('other', 'n'));
  const library = world.libraryOf(cache);
  world.pointers.set('twice/latest', 'r2');
  expect(await library.get(workspace, 'f1')).toMatchObject({
    plan: undefined,
    fault: { code: 'flow_invalid', details: { problems: [{ code: 'unknown_output', ref: 'in', field: 'v' }] } },
  });
  world.pointers.set('twice/latest', 'r1');
  expect(answerOf(await library.get(workspace, 'f1'))).toEqual({ v: 4 });
});

it('leaves a flow with a too large rule to another thread, unless it reaches out', async () => {
  world.rules.set('r1', largeTable('v', 'n * 2', 5_000));
  const uses = use('rule', 'large', '1', 'r1');
  world.flows.set('pure', passing(uses, 'v'));
  world.flows.set('reaching', passing(uses, 'v', { reaches_out: true }));
  const library = world.libraryOf(cache, { maxCells: 5_000 });
  expect(await library.get(workspace, 'pure')).toMatchObject({ plan: undefined, fault: undefined, reachesOut: false });
  expect((await library.get(workspace, 'reaching')).plan).toMatchObject({ reachesOut: true, inputs: [{ key: 'n' }] });
  expect(world.reads).toContain('fields r1');
});

it('keeps flows within its bytes, including rules, and one larger flow', async () => {
  world.rules.set('r1', largeTable('v', 'n * 2', 1_000));
  for (const flow of ['a', 'b', 'c']) world.flows.set(flow, passing(use('rule', 'large', '1', 'r1'), 'v'));
  const measured = world.libraryOf(cache);
  await measured.get(workspace, 'a');
  expect(measured.bytes()).toBeGreaterThan(measured.rules.bytes());
  const library = world.libraryOf(cache, { maxBytes: Math.floor(2.5 * measured.bytes()) });
  for (const flow of ['a', 'b', 'c']) await library.get(workspace, flow);
  expect(library.size()).toBe(2);
  const small = world.libraryOf(cache, { maxBytes: 1_000 });
  expect(await small.get(workspace, 'a')).toBe(await small.get(workspace, 'a'));
  expect(small.size()).toBe(1);
});

it.each([
  ['a rule that it runs', 'r1', 'rule' as const],
  ['the flow', 'f1', 'flow' as const],
])('drops a flow when the deletion of %s is announced', async (_what, versionId, kind) => {
  publish('r1', 'n * 2');
  world.flows.set('f1', passing(use('rule', 'twice', '1', 'r1'), 'v'));
  const library = world.libraryOf(cache);
  await library.get(workspace, 'f1');
  world.flows.delete('f1');
  await expect(library.get(workspace, 'f1')).resolves.toBeDefined();
  cache.invalidations.deliver({
    v: 1,
    kind,
    workspace_id: workspace,
    keys: [cacheKeys.definition(workspace, versionId)],
  });
  if (kind === 'flow') await expect(library.get(workspace, 'f1')).rejects.toMatchObject({ code: 'version_not_found' });
  expect(library.size()).toBe(0);
});

it('reports a deleted version, and does not remember it', async () => {
  world.flows.set('f1', passing(use('rule', 'twice', '1', 'r1'), 'v'));
  const library = world.libraryOf(cache);
  await expect(library.get(workspace, 'none')).rejects.toMatchObject({ code: 'version_not_found' });
  await expect(library.get(workspace, 'f1')).rejects.toMatchObject({ code: 'version_not_found' });
  expect(library.size()).toBe(0);
});

it("uses each flow's own fallback if two flows name the same asset with different publications", async () => {
  publish('r1', 'n * 2');
  publish('r2', 'n * 20');
  world.flows.set('inner', passing(use('rule', 'twice', 'latest', 'r1'), 'v'));
  world.flows.set(
    'outer',
    definition({
      nodes: [
        { ref: 'in', type: 'origin', rule: 'twice' },
        { ref: 'sub', type: 'flow', flow: 'inner', version: 1 },
        { ref: 'out', type: 'result' },
      ],
      connections: [
        { from: 'in', output: 'v', to: 'sub', input: 'n' },
        { from: 'sub', output: 'v', to: 'out' },
      ],
      uses: [use('rule', 'twice', 'latest', 'r2'), use('flow', 'inner', '1', 'inner')],
    }),
  );
  expect(answerOf(await world.libraryOf(cache).get(workspace, 'outer'))).toEqual({ v: 80 });
});
