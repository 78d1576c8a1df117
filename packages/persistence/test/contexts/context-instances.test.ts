import { randomUUID } from 'node:crypto';
import { waitUntil } from '@decision/local-stack';
import {
  addHistory,
  changeContexts,
  deleteInstance,
  findHeldFacts,
  findHistory,
  findInstances,
  findOperation,
  findLinkHolders,
  findLinkTargets,
  type LinkEnds,
  findRegistrations,
  findNamed,
  findTurns,
  forgetFormerLinks,
  forgetStaleTickets,
  type HeldInstances,
  holdContext,
  insertContext,
  listInstances,
  lockContextWorld,
  lockInstances,
  mergeDirect,
  registerEvaluation,
  releaseInstances,
  renewLease,
  renewTickets,
  returnTickets,
  saveReaderPasses,
  sweepExpiredInstances,
  takeOverOperations,
  takeTickets,
  writeBackInstances,
  writeInstances,
  writeLinks,
} from '../../src';
import { asOwner } from '../as-owner';
import { execution, genericPlans, newContext, saveInstances, write } from './context-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('context_instances');
const { inside } = workspace;
let contextId: string;
const lock = (instanceIds: readonly string[], options: { create?: boolean; ticketId?: string } = {}) =>
  inside((t) => lockInstances(t, { contextId, instanceIds, create: true, ...options }));
const find = (...ids: string[]) => inside((t) => findInstances(t, contextId, ids));
const LEASE = { leaseMs: 60_000 };

beforeEach(async () => {
  contextId = randomUUID();
  await inside((t) => insertContext(t, newContext({ id: contextId })));
});

/** Merges instances and admits them to an operation. */
const admit = (operationId: string, ...ids: string[]): Promise<HeldInstances> =>
  inside(async (t) => {
    await lockInstances(t, { contextId, instanceIds: ids, create: true });
    const written = await writeInstances(t, ids.map((id) => write(id, { n: 1 })), { contextId, ttlSeconds: null, admission: { operationId, ...LEASE } }); // prettier-ignore
    return { operationId, takeovers: 0, fences: new Map(written.map(({ instanceId, fence }) => [instanceId, fence])) };
  });
const operations = () =>
  asOwner(workspace.url, `select operation_id from context_operations where context_id = '${contextId}'`);
const writeBack = (held: HeldInstances, ...ids: string[]) =>
  inside((t) => writeBackInstances(t, ids.map((id) => write(id, { n: 2 })), { contextId, ttlSeconds: undefined, held })); // prettier-ignore

describe('locking', () => {
  it('makes rows that come back empty, and leaves nothing behind if the transaction fails', async () => {
    const failing = inside(async (t) => {
      const locked = await lockInstances(t, { contextId, instanceIds: ['b', 'a'], create: true });
      expect(locked).toMatchObject([
        { instanceId: 'a', isNew: true, isBusy: false, isQueued: false, facts: {}, version: 0 },
        { instanceId: 'b', isNew: true },
      ]);
      throw new TypeError('The caller failed.');
    });
    await expect(failing).rejects.toThrow(TypeError);
    expect(await asOwner(workspace.url, `select 1 from context_instances where context_id = '${contextId}'`)).toEqual(
      [],
    );
  });

  it('makes none if it is not told to', async () => {
    expect(await lock(['a'], { create: false })).toEqual([]);
    expect(await find('a')).toEqual([]);
  });

  it('gives what has expired back empty, with nothing of the old left', async () => {
    await inside(async (t) => {
      await saveInstances(t, contextId, [{ ...write('a', { n: 1 }), executions: { 'rule:r': execution } }], -1);
      await addHistory(t, contextId, [{ instanceId: 'a', fact: 'n', timestamp: 1, value: 1 }], 9);
      await registerEvaluation(t, contextId, { instanceId: 'a', type: 'rule', slug: 'r' });
      await writeLinks(t, contextId, [{ instanceId: 'a', fact: 'k', targetId: 'x' }]);
    });
    expect(await find('a')).toEqual([]);
    expect(await lock(['a'], { create: false })).toEqual([]);
    expect(await lock(['a'])).toMatchObject([{ isNew: true, facts: {}, executions: {} }]);
    expect(await inside((t) => findHistory(t, contextId, ['a'], { facts: ['n'], limit: 9 }))).toEqual(new Map());
    expect(await inside((t) => findRegistrations(t, contextId, ['a']))).toEqual([]);
  });

  it('never deadlocks over overlapping sets in any order, and loses no write', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `i${index}`);
    const add = (given: readonly string[]) =>
      inside(async (t) => {
        const locked = await lockInstances(t, { contextId, instanceIds: given, create: true });
        const writes = locked.map(({ instanceId, facts }) => write(instanceId, { n: Number(facts['n'] ?? 0) + 1 }));
        await writeInstances(t, writes, { contextId, ttlSeconds: null });
      });
    const rounds = Array.from({ length: 40 }, (_, round) => ids.filter((_id, index) => (index * 7 + round) % 3 > 0));
    await Promise.all(rounds.map((given, round) => add(round % 2 === 0 ? given : [...given].reverse())));
    const expected = new Map(ids.map((id) => [id, rounds.filter((given) => given.includes(id)).length]));
    expect(new Map((await find(...ids)).map(({ instanceId, facts }) => [instanceId, facts['n']]))).toEqual(expected);
  });
});

describe('operations', () => {
  it('hold their rows until they write back, which counts and frees them', async () => {
    const held = await admit(randomUUID(), 'a', 'b');
    expect([...held.fences]).toEqual([['a', 1], ['b', 1]]); // prettier-ignore
    expect(await lock(['a', 'b'])).toMatchObject([{ isBusy: true, facts: { n: 1 } }, { isBusy: true }]);
    expect(await writeBack(held, 'a', 'b')).toMatchObject([{ version: 2 }, { version: 2 }]);
    expect(await lock(['a', 'b'])).toMatchObject([{ isBusy: false, facts: { n: 2 } }, { isBusy: false }]);
  });

  it('keep the executions that a write does not name; a row that starts anew has none', async () => {
    const executions = { 'rule:r': execution };
    await inside((t) => saveInstances(t, contextId, [{ ...write('a', { n: 1 }), executions }]));
    const { executions: _, ...unnamed } = write('a', { n: 2 });
    await inside((t) => writeInstances(t, [{ ...unnamed, isNew: false }], { contextId, ttlSeconds: null }));
    expect(await find('a')).toMatchObject([{ facts: { n: 2 }, executions }]);
    await inside((t) => writeInstances(t, [{ ...unnamed, isNew: true }], { contextId, ttlSeconds: null }));
    expect((await find('a'))[0]?.executions).toEqual({});
  });

  it('C142: write nothing once their fence is lost, nor a second time', async () => {
    const held = await admit(randomUUID(), 'a');
    await asOwner(workspace.url, `update context_instances set fence = fence + 1 where context_id = '${contextId}'`);
    expect(await writeBack(held, 'a')).toEqual([]);
    const taken = { ...held, fences: new Map([['a', 2]]) };
    expect(await writeBack({ ...taken, operationId: randomUUID() }, 'a')).toEqual([]);
    expect(await writeBack(taken, 'a')).toHaveLength(1);
    expect(await writeBack(taken, 'a')).toEqual([]);
    expect((await find('a'))[0]).toMatchObject({ facts: { n: 2 }, version: 2 });
  });

  it('are not overwritten by a merge', async () => {
    await admit(randomUUID(), 'a');
    expect(await inside((t) => writeInstances(t, [write('a', { n: 9 })], { contextId, ttlSeconds: null }))).toEqual([]);
    expect(await inside((t) => mergeDirect(t, contextId, [{ instanceId: 'a', facts: { n: 9 } }], null))).toEqual([]);
    await inside((t) => deleteInstance(t, contextId, 'a'));
    expect((await find('a'))[0]?.facts).toMatchObject({ n: 1 });
  });

  it('C147: are taken over once their lease has run out, with the next fence', async () => {
    const held = await admit(randomUUID(), 'a', 'b');
    expect(await takeOverOperations(workspace.database, { ...LEASE, most: 10 })).toEqual([]);
    await inside((t) => renewLease(t, held, -1));
    const taken = await takeOverOperations(workspace.database, { ...LEASE, most: 10 });
    const fences = new Map([['a', 2], ['b', 2]]); // prettier-ignore
    const mine = { operationId: held.operationId, takeovers: 1, fences };
    expect(taken).toEqual([{ workspaceId: workspace.access.workspaceId, contextId, held: mine }]);
    expect(await takeOverOperations(workspace.database, { ...LEASE, most: 10 })).toEqual([]);

    await inside((t) => renewLease(t, held, -1)); // by the former holder, without effect
    expect(await takeOverOperations(workspace.database, { ...LEASE, most: 10 })).toEqual([]);
    expect(await writeBack(held, 'a', 'b')).toEqual([]);
    await inside((t) => releaseInstances(t, contextId, held));
    expect(await lock(['a', 'b'])).toMatchObject([{ isBusy: true }, { isBusy: true }]);

    await inside((t) => releaseInstances(t, contextId, mine));
    expect(await lock(['a', 'b'])).toMatchObject([{ isBusy: false, facts: { n: 1 } }, { isBusy: false }]);
    expect(await operations()).toEqual([]);
  });

  it('C147: are taken over again if the process that took them fell silent too', async () => {
    const held = await admit(randomUUID(), 'a');
    await inside((t) => renewLease(t, held, -1));
    await takeOverOperations(workspace.database, { leaseMs: -1, most: 10 });
    expect(await takeOverOperations(workspace.database, { ...LEASE, most: 10 })).toMatchObject([
      { held: { takeovers: 2, fences: new Map([['a', 3]]) } },
    ]);
    await inside((t) => releaseInstances(t, contextId, { ...held, takeovers: 2, fences: new Map([['a', 3]]) }));
  });

  it('end their operation with the write-back, whatever the ids are', async () => {
    const ids = ['__proto__', 'constructor', 'a"b\\', 'ä𝄞', '{"a":1}'];
    const held = await admit(randomUUID(), ...ids);
    expect(await operations()).toHaveLength(1);
    expect(await writeBack(held, ...ids)).toHaveLength(ids.length);
    expect(await operations()).toEqual([]);
    expect((await find(...ids)).map(({ facts }) => facts)).toEqual(ids.map(() => expect.objectContaining({ n: 2 })));
  });

  it('C97: above 64 MiB are refused and rolled back', async () => {
    const big = { ...write('a'), facts: { id: 'a', text: 'x'.repeat(64 * 1024 * 1024 - 20) } };
    const saving = inside((t) => saveInstances(t, contextId, [big]));
    await expect(saving).rejects.toMatchObject({ code: 'payload_too_large', details: { limit_bytes: 67_108_864 } });
    expect(await find('a')).toEqual([]);
    const merging = inside((t) => mergeDirect(t, contextId, [big], null));
    await expect(merging).rejects.toMatchObject({ code: 'payload_too_large' });
  });
});

describe('merging in one statement', () => {
  it('makes, merges by fact, and tells which are new', async () => {
    const merge = (facts: Record<string, unknown>, id = 'a') =>
      inside((t) => mergeDirect(t, contextId, [{ instanceId: id, facts }], null));
    expect(await merge({ id: 'a', n: 1, o: { x: 1 } })).toMatchObject([
      { instanceId: 'a', isNew: true, facts: { id: 'a', n: 1, o: { x: 1 } }, expiresAt: null },
    ]);
    expect(await merge({ n: null, o: { y: 2 } })).toMatchObject([
      { isNew: false, facts: { id: 'a', n: null, o: { y: 2 } } },
    ]);
  });

  it('leaves what has expired, and whatever has a line, to others', async () => {
    await inside((t) => saveInstances(t, contextId, [write('gone')], -1));
    await inside((t) => saveInstances(t, contextId, [write('queued'), write('free')]));
    await inside((t) => takeTickets(t, contextId, ['queued'], { ticketId: randomUUID(), ...LEASE, most: 9 }));
    const merges = ['gone', 'queued', 'free'].map((instanceId) => ({ instanceId, facts: { n: 1 } }));
    expect(await inside((t) => mergeDirect(t, contextId, merges, 60))).toMatchObject([{ instanceId: 'free' }]);
  });

  it('leaves an instance to others if an asset owns a fact that is given (C66)', async () => {
    const executions = { 'rule:r': { ...execution, owned_facts: ['mine', 'constructor'] }, 'rule:s': execution };
    await inside((t) => saveInstances(t, contextId, [{ ...write('a'), executions }]));
    const merge = (facts: Record<string, unknown>) =>
      inside((t) => mergeDirect(t, contextId, [{ instanceId: 'a', facts }], null));
    expect(await merge({ other: 1, mine: null })).toEqual([]);
    expect(await merge({ constructor: 1 })).toEqual([]);
    expect(await merge({ other: 1 })).toMatchObject([{ facts: { other: 1 } }]);
  });

  it('never deadlocks over overlapping batches', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `m${index}`);
    const batch = (round: number) => [...ids].sort(() => (round % 2 === 0 ? 1 : -1)).map((instanceId) => ({ instanceId, facts: { round } })); // prettier-ignore
    const merged = await Promise.all(Array.from({ length: 12 }, (_, round) => inside((t) => mergeDirect(t, contextId, batch(round), null)))); // prettier-ignore
    expect(merged.map(({ length }) => length)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(merged.flat().filter(({ isNew }) => isNew)).toHaveLength(200);
  });
});

describe('the line', () => {
  const [first, second] = [randomUUID(), randomUUID()];
  const take = (ticketId: string, ids: readonly string[], leaseMs = 60_000, most = 9) =>
    inside((t) => takeTickets(t, contextId, ids, { ticketId, leaseMs, most }));
  const turns = (ticketId: string) => inside((t) => findTurns(t, contextId, ticketId));

  it('C143: lets each proceed when it is first and the row is free', async () => {
    const held = await admit(randomUUID(), 'a');
    await take(first, ['a', 'b']);
    await take(second, ['b', 'a']);
    expect(await turns(first)).toEqual(['b']);
    expect(await turns(second)).toEqual([]);
    await writeBack(held, 'a');
    expect(await turns(first)).toEqual(['a', 'b']);
    expect(await lock(['a'], { ticketId: first })).toMatchObject([{ isQueued: false }]);
    expect(await lock(['a'], { ticketId: second })).toMatchObject([{ isQueued: true }]);
    expect(await lock(['a'])).toMatchObject([{ isQueued: true }]);
    await inside((t) => returnTickets(t, first, ['a']));
    expect(await turns(second)).toEqual(['a']);
    await inside((t) => returnTickets(t, first));
    expect(await turns(second)).toEqual(['a', 'b']);
    await inside((t) => returnTickets(t, second));
  });

  it('C144: is bounded, and passes over those whose lease has run out', async () => {
    expect(await take(first, ['a'], -1)).toBe(true);
    expect(await take(second, ['a'], 60_000, 1)).toBe(true);
    expect(await take(randomUUID(), ['b', 'a'], 60_000, 1)).toBe(false);
    expect(await turns(second)).toEqual(['a']);
    await inside((t) => renewTickets(t, { ticketId: first, leaseMs: 60_000 }));
    expect(await turns(second)).toEqual([]);
    await inside((t) => renewTickets(t, { ticketId: first, leaseMs: -1 }));
    expect(await forgetStaleTickets(workspace.database, 10)).toBe(1);
    await inside((t) => returnTickets(t, second));
  });
});

describe('history', () => {
  it('C101: keeps the newest entries of each fact, and reads them newest first', async () => {
    await inside((t) => saveInstances(t, contextId, [write('a'), write('b')]));
    for (let value = 1; value <= 5; value += 1) {
      await inside((t) => addHistory(t, contextId, [
        { instanceId: 'a', fact: 'n', timestamp: 1_000 + value, value },
        { instanceId: 'a', fact: 'm', timestamp: 1_000, value: null },
        { instanceId: 'b', fact: 'n', timestamp: 1_000, value: [value] },
      ], 3)); // prettier-ignore
    }
    const found = await inside((t) => findHistory(t, contextId, ['a', 'b'], { facts: ['n', 'm', 'x'], limit: 9 }));
    expect(found.get('a')?.get('n')).toEqual([5, 4, 3].map((value) => ({ timestamp: 1_000 + value, value })));
    expect(
      found
        .get('a')
        ?.get('m')
        ?.map(({ value }) => value),
    ).toEqual([null, null, null]);
    expect(found.get('b')?.get('n')?.[0]).toEqual({ timestamp: 1_000, value: [5] });
    expect(
      (await inside((t) => findHistory(t, contextId, ['a'], { facts: ['n'], limit: 1 }))).get('a')?.get('n'),
    ).toHaveLength(1);
    await inside((t) => deleteInstance(t, contextId, 'a'));
    expect((await inside((t) => findHistory(t, contextId, ['a'], { facts: ['n'], limit: 9 }))).size).toBe(0);
  });
});

describe('links', () => {
  const page = (instanceIds: readonly string[], after = '', limit = 10) => ({
    contextId,
    fact: 'k',
    instanceIds,
    after,
    limit,
  });

  it('C116: keep what a foreign key named before until they are told to forget', async () => {
    await inside((t) => saveInstances(t, contextId, [write('o1'), write('o2')]));
    const link = (targetId: string | null) =>
      inside((t) => writeLinks(t, contextId, [{ instanceId: 'o1', fact: 'k', targetId }]));
    await link('c1');
    await inside((t) => writeLinks(t, contextId, [{ instanceId: 'o2', fact: 'k', targetId: 'c1' }]));
    await link('c2');
    const targets = (after?: LinkEnds, limit = 10) =>
      inside((t) => findLinkTargets(t, { contextId, fact: 'k', instanceIds: ['o1', 'o2'], after, limit }));
    const o1 = (...named: string[]) => named.map((targetId) => ({ instanceId: 'o1', targetId }));
    const o2 = { instanceId: 'o2', targetId: 'c1' };
    expect(await targets()).toEqual([...o1('c1', 'c2'), o2]);
    expect(await targets(undefined, 2)).toEqual(o1('c1', 'c2'));
    expect(await targets(...o1('c1'))).toEqual([...o1('c2'), o2]);
    expect(await targets(...o1('c2'), 1)).toEqual([o2]);
    expect(await targets(o2)).toEqual([]);
    expect(await inside((t) => findLinkHolders(t, page(['c1'])))).toEqual(['o2']);
    await inside((t) => forgetFormerLinks(t, contextId, new Map([['o1', 0]])));
    expect(await targets()).toEqual([...o1('c1', 'c2'), o2]);
    await inside((t) => forgetFormerLinks(t, contextId, new Map([['o1', 1]])));
    expect(await targets()).toEqual([...o1('c2'), o2]);
    await link(null);
    expect(await inside((t) => findLinkHolders(t, page(['c2'])))).toEqual([]);
    await link('c2');
    expect(await inside((t) => findLinkHolders(t, page(['c2', 'c1'], '', 1)))).toEqual(['o1']);
  });

  it('give instances by id, whole or in part', async () => {
    await inside((t) => saveInstances(t, contextId, [write('o2', { total: 2 })]));
    const named = (facts?: string[]) => inside((t) => findNamed(t, { contextId, ids: ['o2', 'x'], facts }));
    expect(await named(['total', 'none'])).toEqual([{ instanceId: 'o2', facts: { total: 2 } }]);
    expect(await named()).toEqual([{ instanceId: 'o2', facts: { id: 'o2', total: 2 } }]);
    expect(await named([])).toEqual([{ instanceId: 'o2', facts: {} }]);
  });
});

it('lists a prefix as a range of ids, whatever its last character is', async () => {
  const last = '\u{10ffff}';
  const all = ['a', 'ab', `a${last}`, `a${last}b`, 'b', '\ud7ff', '\ud7ffx', '\ue000', last, `${last}${last}`];
  await inside((t) => saveInstances(t, contextId, all.map((id) => write(id)))); // prettier-ignore
  const ids = async (prefix: string) =>
    (await inside((t) => listInstances(t, contextId, { prefix }, { limit: 99 }))).instances.map(
      ({ instanceId }) => instanceId,
    );
  for (const prefix of ['', 'a', `a${last}`, '\ud7ff', last, `${last}${last}`, 'z'])
    expect(await ids(prefix)).toEqual(all.filter((id) => id.startsWith(prefix)));
});

it('reads no row beyond a prefix, however often the statement was planned before', async () => {
  const ids = Array.from({ length: 2_000 }, (_, n) => `i${String(n).padStart(4, '0')}`);
  await inside((t) => saveInstances(t, contextId, ids.map((id) => write(id)))); // prettier-ignore
  await asOwner(workspace.url, 'analyze context_instances');
  const plans = await inside((t) =>
    genericPlans(t, (explaining) => listInstances(explaining, contextId, { prefix: 'i12' }, { limit: 200 })),
  );
  const removed = plans.map((plan) => Number(/"Rows Removed by Filter":(\d+)/.exec(plan)?.[1] ?? 0));
  expect(removed).toEqual([0]);
});

it('lists instances by id, prefix and completeness, page by page', async () => {
  await inside(
    (t) =>
    saveInstances(t, contextId, [write('a1', { n: 1 }), write('a2'), write('a_', { n: null }), write('b1', { n: 2, d: null }), write('A1', { n: 3 })]), // prettier-ignore
  );
  const list = (filters: Parameters<typeof listInstances>[2], limit = 10, cursor?: string) =>
    inside((t) => listInstances(t, contextId, filters, { limit, cursor }));
  const ids = async (filters: Parameters<typeof listInstances>[2]) => (await list(filters)).instances.map(({ instanceId }) => instanceId); // prettier-ignore
  expect(await ids({})).toEqual(['A1', 'a1', 'a2', 'a_', 'b1']);
  expect(await ids({ prefix: 'a' })).toEqual(['a1', 'a2', 'a_']);
  expect(await ids({ prefix: 'a_' })).toEqual(['a_']);
  const needs = { required: ['n', 'd'], defaulted: ['d'] };
  expect(await ids({ completeness: { ...needs, complete: true } })).toEqual(['A1', 'a1']);
  expect(await ids({ completeness: { ...needs, complete: false } })).toEqual(['a2', 'a_', 'b1']);
  const first = await list({}, 2);
  expect(first.nextCursor).not.toBeNull();
  const second = await list({}, 3, first.nextCursor ?? '');
  expect(second.instances.map(({ instanceId }) => instanceId)).toEqual(['a2', 'a_', 'b1']);
  expect(second.nextCursor).toBeNull();
  for (const cursor of [
    '',
    'x',
    Buffer.from('null').toString('base64url'),
    Buffer.from('{"after":"\\u0000"}').toString('base64url'),
  ])
    await expect(list({}, 2, cursor)).rejects.toMatchObject({ code: 'invalid_request' });
});

it('C107: sweeps what has expired and is free, in bounded steps', async () => {
  const sweep = (rows: number) => sweepExpiredInstances(workspace.database, { rows, history: 9, bytes: 9_999 });
  while ((await sweep(100)).instances > 0);
  await inside((t) => saveInstances(t, contextId, [write('a'), write('b'), write('busy')], -1));
  await inside((t) => saveInstances(t, contextId, [write('lasting')], 60));
  await asOwner(workspace.url, `update context_instances set operation_id = gen_random_uuid() where context_id = '${contextId}' and instance_id = 'busy'`); // prettier-ignore
  expect(await sweep(1)).toEqual({ instances: 1, history: 0 });
  expect(await sweep(10)).toEqual({ instances: 1, history: 0 });
  expect(await sweep(10)).toEqual({ instances: 0, history: 0 });
  expect(
    await asOwner(
      workspace.url,
      `select instance_id from context_instances where context_id = '${contextId}' order by 1`,
    ),
  ).toEqual([{ instance_id: 'busy' }, { instance_id: 'lasting' }]);
});

it('notes reader passes, and knows which facts instances hold', async () => {
  await inside((t) => saveInstances(t, contextId, [write('a', { n: 1, gone: null })]));
  const note = (version: number, fingerprint: string) =>
    inside((t) =>
      saveReaderPasses(t, contextId, new Map([['a', { version, pass: { fingerprint, done: false, after: 'x' } }]])),
    );
  await note(1, 'f');
  await note(2, 'later');
  expect((await find('a'))[0]?.readerPass).toEqual({ fingerprint: 'f', done: false, after: 'x' });
  const held = await inside((t) => findHeldFacts(t, contextId, ['n', 'gone', 'other']));
  expect(held).toEqual({ hasInstances: true, held: new Set(['n']) });
});

describe('a write-back that commits at a revision', () => {
  const found = (operationId: string) =>
    inside((t) => findOperation(t, { contextId, operationId, instanceIds: ['a'] }));
  const writeBackAt = async (held: HeldInstances, revision: number) =>
    inside((t) =>
      writeBackInstances(t, [write('a', { n: 2 })], {
        ...{ contextId, ttlSeconds: undefined, held, commitsAt: String(revision) },
      }),
    );
  const revisionNow = async (): Promise<number> => (await inside((t) => holdContext(t, contextId))) ?? Number.NaN;

  it('writes and ends the operation at that revision', async () => {
    const held = await admit(randomUUID(), 'a');
    expect(await found(held.operationId)).toMatchObject({ takeovers: 0, instances: [{ isHeld: true, version: 1 }] });
    expect(await writeBackAt(held, await revisionNow())).toMatchObject([{ instanceId: 'a', version: 2 }]);
    expect(await found(held.operationId)).toMatchObject({
      takeovers: undefined,
      instances: [{ isHeld: false, fence: 1 }],
    });
  });

  it('does neither at another, nor if the definition changes while it waits', async () => {
    const held = await admit(randomUUID(), 'a');
    const revision = await revisionNow();
    expect(await writeBackAt(held, revision - 1)).toEqual([]);
    let writing: Promise<unknown> = Promise.resolve();
    await inside(async (t) => {
      await lockContextWorld(t);
      await changeContexts(t, [contextId]);
      writing = writeBackAt(held, revision);
      await waitUntil(async () => {
        const waiting = await asOwner(
          workspace.url,
          `select 1 from pg_locks where locktype = 'advisory' and not granted`,
        );
        return waiting.length > 0;
      });
    });
    expect(await writing).toEqual([]);
    expect(await found(held.operationId)).toMatchObject({ takeovers: 0, instances: [{ isHeld: true, version: 1 }] });
    expect(await writeBackAt(held, revision + 1)).toMatchObject([{ version: 2 }]);
  });
});
