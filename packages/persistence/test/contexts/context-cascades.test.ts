import { randomUUID } from 'node:crypto';
import {
  deleteInstance,
  findLinkTargets,
  findVersions,
  forgetFormerLinks,
  removePendingCascades,
  insertContext,
  insertRelationship,
  lockInstances,
  markPendingCascades,
  savePendingProgress,
  sweepExpiredInstances,
  takePendingCascades,
  writeLinks,
} from '../../src';
import { asOwner } from '../as-owner';
import { newContext, saveInstances, write } from './context-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('context_untold');
const { inside } = workspace;
const orders = newContext();
const customers = newContext();
const take = (leaseMs = 60_000, most = 10) => takePendingCascades(workspace.database, { leaseMs, most });
const endLeases = () => asOwner(workspace.url, "update context_untold set lease_until = now() - interval '1 s'");
const linksOf = (contextId: string) =>
  asOwner(workspace.url, `select instance_id, target_id, former from context_links where context_id = '${contextId}' order by 1, 2`); // prettier-ignore
const link = (contextId: string, instanceId: string, targetId: string | null) =>
  inside((t) => writeLinks(t, contextId, [{ instanceId, fact: 'k', targetId }]));
/** Expired for a second if `ttl` is -1. */
const save = (contextId: string, ids: readonly string[], ttl?: number) =>
  inside((t) => saveInstances(t, contextId, ids.map((id) => write(id)), ttl)); // prettier-ignore

beforeAll(async () => {
  await inside(async (t) => {
    await insertContext(t, orders);
    await insertContext(t, customers);
    await insertRelationship(t, customers, {
      ...{ id: randomUUID(), name: 'orders', type: 'has_many', foreignKeyFact: 'k', description: null },
      ...{ fromContextId: customers.id, toContextId: orders.id },
    });
  });
});
beforeEach(async () => {
  for (const table of ['context_untold', 'context_links', 'context_instances'])
    await asOwner(workspace.url, `delete from ${table}`);
  await asOwner(workspace.url, 'delete from context_untold');
});

describe('C120: an instance that is deleted', () => {
  it('is marked if an instance may read it, and its links stay as former ones', async () => {
    await save(orders.id, ['o-1', 'o-2']);
    await link(orders.id, 'o-1', 'c-1');
    await link(orders.id, 'o-1', 'c-2');
    await inside((t) => deleteInstance(t, orders.id, 'o-1'));
    expect(await linksOf(orders.id)).toEqual([
      { instance_id: 'o-1', target_id: 'c-1', former: true },
      { instance_id: 'o-1', target_id: 'c-2', former: true },
    ]);
    const { workspaceId } = workspace.access;
    const mark = expect.any(String) as string;
    expect(await take()).toEqual([{ workspaceId, contextId: orders.id, instanceId: 'o-1', mark, progress: undefined }]);
  });

  it('leaves no mark if no context reads it', async () => {
    await save(customers.id, ['c-1']);
    await link(customers.id, 'c-1', 'x');
    await inside((t) => deleteInstance(t, customers.id, 'c-1'));
    expect(await linksOf(customers.id)).toEqual([]);
    expect(await take()).toEqual([]);
  });

  it('is marked by a sweep too, with all instances of the step', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `o-${index}`);
    await save(orders.id, ids, -1);
    for (const id of ids) await link(orders.id, id, 'c-1');
    await sweepExpiredInstances(workspace.database, { rows: 100, history: 100, bytes: 1_000_000 });
    expect((await take(60_000, 100)).map(({ instanceId }) => instanceId).sort()).toEqual([...ids].sort());
    expect(await linksOf(orders.id)).toHaveLength(20);
  });

  it('is not marked if the whole workspace is deleted', async () => {
    const other = await workspace.addWorkspace('other');
    const context = newContext();
    await workspace.database.inWorkspace(other, async (t) => {
      await insertContext(t, context);
      await insertRelationship(t, context, {
        ...{ id: randomUUID(), name: 'own', type: 'has_many', foreignKeyFact: 'k', description: null },
        ...{ fromContextId: context.id, toContextId: context.id },
      });
      await saveInstances(t, context.id, [write('o-1')]);
      await writeLinks(t, context.id, [{ instanceId: 'o-1', fact: 'k', targetId: 'o-1' }]);
    });
    await asOwner(workspace.url, `delete from workspaces where id = '${other.workspaceId}'`);
    expect(await linksOf(context.id)).toEqual([]);
    expect(await take()).toEqual([]);
  });
});

it('C106, C120: submitting an expired instance again keeps its links as former ones, and marks it', async () => {
  await save(orders.id, ['o-1'], -1);
  await link(orders.id, 'o-1', 'c-1');
  await inside((t) => lockInstances(t, { contextId: orders.id, instanceIds: ['o-1'], create: true }));
  expect(await linksOf(orders.id)).toEqual([{ instance_id: 'o-1', target_id: 'c-1', former: true }]);
  expect(await take()).toEqual([]); // left to the submission
  await endLeases();
  expect(await take()).toMatchObject([{ instanceId: 'o-1' }]);
});

describe('C120: a mark', () => {
  it('is taken by one process at a time, with a longer lease for each attempt', async () => {
    await inside((t) => markPendingCascades(t, orders.id, ['o-1'], 0));
    expect(await take()).toHaveLength(1);
    expect(await take()).toEqual([]);
    const waits = async () => {
      const [row] = await asOwner(
        workspace.url,
        'select round(extract(epoch from lease_until - clock_timestamp()) / 60)::int as minutes from context_untold',
      );
      return (row as { minutes: number }).minutes;
    };
    const seen: number[] = [await waits()];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await endLeases();
      expect(await take()).toHaveLength(1);
      seen.push(await waits());
    }
    expect(seen).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64]);
    await inside((t) => markPendingCascades(t, orders.id, ['o-1'], 0));
    expect(await take()).toHaveLength(1);
    expect(await waits()).toBe(1);
  });

  it('goes to one of several processes that take at once', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `o-${index}`);
    await inside((t) => markPendingCascades(t, orders.id, ids, 0));
    const taken = await Promise.all(Array.from({ length: 8 }, () => take(60_000, 5)));
    const all = [...taken.flat(), ...(await take(60_000, 40))];
    expect(all.map(({ instanceId }) => instanceId).sort()).toEqual([...ids].sort());
  });

  it('keeps how far the cascade has come until a further change requires another one', async () => {
    const first = await inside((t) => markPendingCascades(t, orders.id, ['o-1'], 0));
    const progress = { relationshipId: 'r', after: 'c-7' };
    const told = { instanceId: 'o-1', mark: first.get('o-1') ?? '', progress };
    await inside((t) => savePendingProgress(t, orders.id, [told]));
    expect(await take()).toMatchObject([{ progress }]);
    const second = await inside((t) => markPendingCascades(t, orders.id, ['o-1'], 0));
    await inside((t) => savePendingProgress(t, orders.id, [told]));
    await inside((t) => removePendingCascades(t, orders.id, [told]));
    expect(await take()).toMatchObject([{ mark: second.get('o-1'), progress: undefined }]);
    await inside((t) => removePendingCascades(t, orders.id, [{ instanceId: 'o-1', mark: second.get('o-1') ?? '' }]));
    await endLeases();
    expect(await take()).toEqual([]);
  });
});

it('C116: links of a deleted instance are forgotten, unless it exists again', async () => {
  await save(orders.id, ['o-1', 'o-2']);
  for (const id of ['o-1', 'o-2']) {
    await link(orders.id, id, 'c-1');
    await inside((t) => deleteInstance(t, orders.id, id));
  }
  await save(orders.id, ['o-2']);
  const ids = ['o-1', 'o-2'];
  expect(await inside((t) => findVersions(t, orders.id, ids))).toEqual(new Map([['o-2', 1]]));
  await inside((t) => forgetFormerLinks(t, orders.id, new Map(ids.map((id) => [id, 0]))));
  const query = { contextId: orders.id, fact: 'k', instanceIds: ids, after: undefined, limit: 9 };
  expect(await inside((t) => findLinkTargets(t, query))).toEqual([{ instanceId: 'o-2', targetId: 'c-1' }]);
});
