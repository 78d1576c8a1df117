import { randomUUID } from 'node:crypto';
import {
  changeContexts,
  deleteRelationship,
  dropForeignKey,
  findForeignKeys,
  findUnfinishedForeignKeys,
  holdContext,
  insertContext,
  insertRelationship,
  lockForeignKey,
  registerForeignKey,
  saveForeignKey,
  writeLinks,
} from '../../src';
import { asOwner } from '../as-owner';
import { newContext, saveInstances, write } from './context-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('foreign_keys');
const { inside } = workspace;
const orders = newContext();
const customers = newContext();
const key = { contextId: orders.id, fact: 'k' };
const state = async () => (await inside((t) => lockForeignKey(t, key)))?.state;
const relate = (id: string, name: string) =>
  inside((t) =>
    insertRelationship(t, customers, {
      ...{ id, name, type: 'has_many', foreignKeyFact: 'k', description: null },
      ...{ fromContextId: customers.id, toContextId: orders.id },
    }),
  );
const unrelate = (id: string) => inside((t) => deleteRelationship(t, customers, id));

beforeAll(async () => {
  await inside(async (t) => {
    await insertContext(t, orders);
    await insertContext(t, customers);
    await saveInstances(t, orders.id, ['a', 'b', 'c'].map((id) => write(id, { k: 'x' }))); // prettier-ignore
  });
});

it('C154: a relationship never stands without its foreign key, which loses its links with the last relationship that needs it', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  await relate(one, 'one');
  expect(await state()).toBe('building');
  await inside((t) => saveForeignKey(t, key, { state: 'ready', after: '' }));
  await relate(two, 'two');
  expect(await state()).toBe('ready');
  await unrelate(one);
  expect(await state()).toBe('ready');
  await unrelate(two);
  expect(await state()).toBe('dropping');
  expect(await inside(findForeignKeys)).toEqual([]);
  await relate(two, 'two');
  expect(await state()).toBe('building');
  expect(await inside(findForeignKeys)).toEqual([key]);
  await unrelate(two);
});

it('C154: links that nothing needs are deleted in steps', async () => {
  const links = ['a', 'b', 'c'].map((instanceId) => ({ instanceId, fact: 'k', targetId: 'x' }));
  await inside((t) => writeLinks(t, orders.id, links));
  expect(await findUnfinishedForeignKeys(workspace.database, 9)).toEqual([
    { workspaceId: workspace.access.workspaceId, ...key },
  ]);
  expect(await inside((t) => dropForeignKey(t, key, 2))).toBe(false);
  expect(await inside((t) => dropForeignKey(t, key, 2))).toBe(true);
  expect(await state()).toBeUndefined();
  expect(await asOwner(workspace.url, 'select instance_id from context_links')).toEqual([]);
});

it('C154: a foreign key registered for a relationship that was never made is given up', async () => {
  await inside((t) => registerForeignKey(t, key));
  await inside((t) => saveForeignKey(t, key, { state: 'ready', after: '' }));
  expect(await findUnfinishedForeignKeys(workspace.database, 9)).toEqual([]);
  await asOwner(workspace.url, "update context_foreign_keys set updated_at = updated_at - interval '2 hours'");
  expect(await findUnfinishedForeignKeys(workspace.database, 9)).toHaveLength(1);
  expect(await state()).toBe('dropping');
});

it('C153: who changes a definition waits for those who write under it, and they for him', async () => {
  const events: string[] = [];
  const holds = new Promise<void>((held) => {
    void inside(async (t) => {
      await holdContext(t, orders.id);
      held();
      await t.raw("select 1 from pg_locks, pg_sleep(0.05) where locktype = 'advisory'");
      events.push('written');
    });
  });
  await holds;
  await inside(async (t) => {
    await changeContexts(t, [orders.id]);
    events.push('changed');
  });
  expect(events).toEqual(['written', 'changed']);
  expect(await inside((t) => holdContext(t, randomUUID()))).toBeUndefined();
});
