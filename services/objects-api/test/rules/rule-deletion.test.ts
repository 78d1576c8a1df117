import { randomUUID } from 'node:crypto';
import { cacheKeys } from '@decision/contracts';
import { type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';
import { addContext } from '../stored-contexts';

let api: ObjectsApiUnderTest;
let admin: string;
let workspaceId: string;
beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('ours');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());

const slug = 'customer';

it('refuses to delete a rule that a context runs, until it is unpublished or unbound', async () => {
  await addContext(
    { api, workspaceId },
    {
      ...{ slug, name: 'Customer', identityFact: 'id' },
      schema: { base: [{ key: 'id', type: 'string', required: true }], derived: [] },
    },
  );
  const bound = { name: 'Bound', _publish: true, context: { slug }, requestSchema: [{ key: 'id', type: 'string' }] };
  const publish = async () =>
    String((await api.call(admin, 'POST', '/admin/rules/import', { rule: bound })).body['id']);
  const remove = (id: string) => api.call(admin, 'DELETE', '/admin/rules/delete', { id });
  const [first, second] = [await publish(), await publish()];
  for (const id of [first, second])
    expect(await remove(id)).toMatchObject({ status: 409, body: { code: 'rule_bound', context: slug } });
  await api.call(admin, 'POST', '/admin/rules/import', { rule: { id: first, _unpublish: true } });
  expect((await remove(first)).status).toBe(200);
  await api.call(admin, 'POST', '/admin/rules/import', { rule: { id: second, context: null, _publish: true } });
  expect((await remove(second)).status).toBe(200);
});

it('deletes a rule whose context does not exist', async () => {
  const rule = { name: 'Elsewhere', _publish: true, context: { slug: 'nowhere' } };
  const { body } = await api.call(admin, 'POST', '/admin/rules/import', { rule });
  expect((await api.call(admin, 'DELETE', '/admin/rules/delete', { id: body['id'] })).status).toBe(200);
});

it('makes everything stale that caches hold of it, so that nothing of it is answered under its id again', async () => {
  const rule = { id: randomUUID(), slug: 'forgotten', responseSchema: [{ key: 'a', type: 'number', defaultValue: 1 }] };
  const save = (changes: object) => api.call(admin, 'POST', '/admin/rules/import', { rule: { ...rule, ...changes } });
  for (let version = 1; version <= 2; version += 1) expect((await save({ _publish: true })).status).toBe(200);
  const versions = (await api.call(admin, 'GET', '/admin/rules/forgotten/versions')).body['data'];
  const ids = (versions as { version_id: string }[]).map(({ version_id: id }) => id);
  api.announced.length = 0;
  await api.call(admin, 'DELETE', '/admin/rules/delete', { id: rule.id });
  const stale = [
    cacheKeys.rulePointer(workspaceId, 'forgotten'),
    ...[1, 2].map((number) => cacheKeys.numberedVersion(rule.id, number)),
    ...ids.map((id) => cacheKeys.definition(workspaceId, id)),
  ];
  expect(api.announced.map(([kind]) => kind)).toEqual(['rule']);
  expect([...(api.announced[0]?.[1] ?? [])].sort()).toEqual(stale.sort());
  expect(await save({ slug: 'remembered', _publish: true })).toMatchObject({ body: { version: 3 } });
});
