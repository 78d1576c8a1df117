import { randomUUID } from 'node:crypto';
import {
  findEntityWrites,
  findWaitingCircle,
  forgetEntityWrites,
  insertContext,
  lockInstances,
  recordEntityWrites,
  takeTickets,
  writeInstances,
} from '../../src';
import { asOwner } from '../as-owner';
import { newContext, write } from './context-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('entity_writes');
const { inside } = workspace;
let contextId: string;
beforeEach(async () => {
  contextId = randomUUID();
  await inside((t) => insertContext(t, newContext({ id: contextId })));
});

describe('writes of nodes', () => {
  const record = (key: string, ...instanceIds: string[]) =>
    inside((t) => recordEntityWrites(t, { contextId, key, instanceIds }));
  const find = (key: string, ...instanceIds: string[]) =>
    inside((t) => findEntityWrites(t, { contextId, key, instanceIds }));

  it('are known by the key of their step, the context and the instance', async () => {
    expect(await record('one', 'a', 'b')).toBe(true);
    expect(await find('one', 'a', 'b', 'c')).toEqual(new Set(['a', 'b']));
    expect(await find('two', 'a')).toEqual(new Set());
    const other = randomUUID();
    expect(await inside((t) => findEntityWrites(t, { contextId: other, key: 'one', instanceIds: ['a'] }))).toEqual(
      new Set(),
    );
  });

  it('cannot be recorded twice, also not in part', async () => {
    await record('one', 'a');
    expect(await record('one', 'a', 'b')).toBe(false);
    expect(await record('one')).toBe(true);
  });

  it('are forgotten after their time, on behalf of no workspace, in bounded steps', async () => {
    await asOwner(workspace.url, 'delete from entity_writes');
    await record('old', 'a', 'b', 'c');
    await asOwner(workspace.url, "update entity_writes set created_at = now() - interval '2 hours'");
    await record('new', 'a');
    expect(await forgetEntityWrites(workspace.database, { ageMs: 3_600_000, most: 2 })).toBe(2);
    expect(await forgetEntityWrites(workspace.database, { ageMs: 3_600_000, most: 2 })).toBe(1);
    expect(await forgetEntityWrites(workspace.database, { ageMs: 3_600_000, most: 2 })).toBe(0);
    expect(await find('new', 'a')).toEqual(new Set(['a']));
  });
});

describe('circles of operations that wait', () => {
  const admit = async (instanceIds: readonly string[], parentId?: string): Promise<string> => {
    const operationId = randomUUID();
    await inside(async (t) => {
      await lockInstances(t, { contextId, instanceIds, create: true });
      const admission = { operationId, leaseMs: 60_000, parentId };
      const writes = instanceIds.map((id) => write(id));
      await writeInstances(t, writes, { contextId, ttlSeconds: null, admission });
    });
    return operationId;
  };
  const wait = (forOperation: string, ...instanceIds: string[]) =>
    inside((t) =>
      takeTickets(t, contextId, instanceIds, { ticketId: randomUUID(), leaseMs: 60_000, most: 9, forOperation }),
    );
  const find = (operationId: string, ...instanceIds: string[]) =>
    inside((t) => findWaitingCircle(t, { operationId, contextId, instanceIds }));

  it('are none if the other operation waits for nobody, and none for an instance that is free', async () => {
    const a = await admit(['a']);
    await admit(['b']);
    await wait(a, 'b');
    expect(await find(a, 'b')).toBeUndefined();
    expect(await find(a, 'c')).toBeUndefined();
  });

  it('of two operations: the one that was admitted last gives way', async () => {
    const [a, b] = [await admit(['a']), await admit(['b'])];
    await wait(a, 'b');
    await wait(b, 'a');
    expect(await find(a, 'b')).toEqual({ instanceId: 'b', givesWay: false });
    expect(await find(b, 'a')).toEqual({ instanceId: 'a', givesWay: true });
  });

  it('of two operations that were admitted at one time: the one of the greater id gives way', async () => {
    const pair = [await admit(['a']), await admit(['b'])] as const;
    await asOwner(workspace.url, "update context_operations set root_began_at = '2026-01-01'");
    await wait(pair[0], 'b');
    await wait(pair[1], 'a');
    const greater = pair[0] > pair[1] ? 0 : 1;
    expect(await find(pair[0], 'b')).toMatchObject({ givesWay: greater === 0 });
    expect(await find(pair[1], 'a')).toMatchObject({ givesWay: greater === 1 });
  });

  it('lead through operations that flows began; these are as old as the first of them', async () => {
    const old = await admit(['a']);
    const young = await admit(['b']);
    const nested = await admit(['c'], old);
    await wait(nested, 'b');
    await wait(young, 'a');
    expect(await find(nested, 'b')).toEqual({ instanceId: 'b', givesWay: false });
    expect(await find(young, 'a')).toEqual({ instanceId: 'a', givesWay: true });
  });

  it('of one: an operation that waits for an instance that it, or one around it, holds', async () => {
    const outer = await admit(['a', 'b']);
    expect(await find(outer, 'b')).toEqual({ instanceId: 'b', givesWay: true });
    const nested = await admit(['c'], outer);
    const inner = await admit(['d'], nested);
    expect(await find(inner, 'e', 'a')).toEqual({ instanceId: 'a', givesWay: true });
  });

  it('do not lead through who waits no longer', async () => {
    const [a, b] = [await admit(['a']), await admit(['b'])];
    await wait(a, 'b');
    await asOwner(workspace.url, "update context_tickets set lease_until = now() - interval '1 s'");
    await wait(b, 'a');
    expect(await find(b, 'a')).toBeUndefined();
  });

  it('are told to whoever waits outside of one as none', async () => {
    const [a, b, c] = [await admit(['a']), await admit(['b']), await admit(['c'])];
    await wait(a, 'b');
    await wait(b, 'a');
    await wait(c, 'a');
    expect(await find(c, 'a')).toBeUndefined();
  });
});
