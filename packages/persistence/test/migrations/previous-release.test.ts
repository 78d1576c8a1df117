import { randomUUID } from 'node:crypto';
import { DatabaseError } from 'pg';
import {
  findAsset,
  insertAsset,
  loadFlowVersion,
  loadVersion,
  provisionPerson,
  publishAsset,
  saveTestResults,
} from '../../src';
import { query, type Transaction } from '../../src/connection/query';
import { newFlow, newRule, resolved } from '../assets/rule-fixtures';
import { useTestWorkspace } from '../test-workspace';

/** Statements as the release before the table of assets sends them: to the tables of rules, which are views now. */
const CLAIM_ID = /* sql */ `
  with claimed as (
    insert into rule_ids (id) values (cast(:id as uuid)) on conflict (id) do nothing returning id
  )
  select id from claimed union all select id from rule_ids where id = cast(:id as uuid)`;
const INSERT = /* sql */ `
  insert into rules (id, slug, user_groups, value_ids, created_at, updated_at, name, description, labels, folder, request_schema,
    response_schema, conditions, groups, settings, test_suite, sample_request, sample_response, test_request, metadata, context, row_count)
  select cast(:id as uuid), :slug, '{}', '{}', moment, moment, 'Old', null, '{}', 'null', '[]', '[]', '[]', '{}', '{}', '[]', 'null',
    'null', 'null', '{}', 'null', 0
  from clock_timestamp() as moment
  returning created_at, updated_by`;
const LOCK = /* sql */ `select slug, user_groups from rules where id = cast(:id as uuid) for update`;
const PUBLISH = /* sql */ `
  with numbered as (
    update rule_ids set last_number = last_number + 1 where id = cast(:id as uuid) returning id, last_number
  ), pointed as (
    update rules set published_version_id = cast(:version_id as uuid) from numbered where rules.id = numbered.id
    returning rules.*, numbered.last_number
  )
  insert into rule_versions (id, rule_id, number, value_ids, definition, details)
  select cast(:version_id as uuid), id, last_number, value_ids,
    json_build_object('requestSchema', request_schema, 'responseSchema', response_schema, 'conditions', conditions,
      'groups', groups, 'settings', settings),
    json_build_object('slug', slug, 'name', name)
  from pointed
  returning number, published_at`;
const COPY = /* sql */ `
  with numbered as (
    update rule_ids set last_number = last_number + 1
    where id = (select id from rules where id = cast(:rule_id as uuid)) returning last_number
  ), copied as (
    insert into rule_versions (id, rule_id, number, value_ids, definition, details)
    select cast(:version_id as uuid), rule_id, last_number, value_ids, definition, details
    from rule_versions, numbered
    where rule_versions.id = cast(:source_id as uuid) and rule_id = cast(:rule_id as uuid)
    returning id
  )
  update rules set published_version_id = copied.id from copied, numbered where rules.id = cast(:rule_id as uuid)
  returning rules.slug, numbered.last_number as version`;
const LIST = /* sql */ `
  select rules.id, rules.slug, published.number from rules
    left join rule_versions published on published.id = rules.published_version_id
  where true order by rules.created_at desc, rules.id desc`;
const POINTER = /* sql */ `
  select rules.id, published.id as version_id, published.number
  from rules left join rule_versions published on published.id = rules.published_version_id
  where rules.slug = :slug`;
const UPDATE = /* sql */ `
  update rules set updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor(),
    description = :description, slug = :slug
  where id = cast(:id as uuid)`;
const SAVE_RESULTS = /* sql */ `
  insert into rule_test_results (rule_id, test_id, success, error, state, executed_at)
  select distinct on ("testId") rules.id, "testId", success, error, result.state, "executedAt"
  from rules, json_to_recordset(cast(:results as json))
    as result ("testId" text, success boolean, error boolean, state json, "executedAt" timestamptz)
  where rules.id = cast(:rule_id as uuid)
  order by "testId"
  on conflict (rule_id, test_id) do update
    set success = excluded.success, error = excluded.error, state = excluded.state, executed_at = excluded.executed_at`;
const DELETE = /* sql */ `delete from rules where id = cast(:id as uuid)`;

/** As the release before people signed in sends them. */
const INSERT_USER = /* sql */ `
  insert into users (email, name, role, user_groups, password_hash)
  values (:email, 'Old', 'viewer', cast(:user_groups as text[]), 'h')
  returning id`;
const INSERT_KEY = /* sql */ `
  insert into api_keys (selector, secret_hash, user_id, name, role, user_groups)
  values (:selector, decode(repeat('ab', 32), 'hex'), cast(:user_id as uuid), 'Old', 'viewer', '{eu}') returning id`;
const ROTATE_KEY = /* sql */ `
  insert into api_keys (selector, secret_hash, rotated_from, name, role, user_groups, expires_at, user_id)
  select :selector, decode(repeat('cd', 32), 'hex'), id, name, role, user_groups, expires_at, user_id
  from api_keys where id = cast(:id as uuid) returning id`;
const UPDATE_USER = /* sql */ `
  update users set role = 'editor', user_groups = cast(:user_groups as text[]) where id = cast(:id as uuid) returning user_groups`;
const FOLLOW_USER = /* sql */ `select selector from follow_user(cast(:id as uuid))`;
const GROUPS = /* sql */ `select user_groups from api_keys where selector = :selector`;

describe('statements of the previous release on users', () => {
  const workspace = useTestWorkspace('previous_users');
  const identity = { email: 'new@example.com', adminEmail: 'boss@example.com', name: null, externalSub: null, externalClaims: {} }; // prettier-ignore

  it('make, change and delete users and their keys, whose empty groups mean everything', async () => {
    await workspace.inside(async (transaction) => {
      const [user] = await query<{ id: string }>(transaction, INSERT_USER, { email: 'old@example.com', user_groups: ['eu'] }); // prettier-ignore
      const id = user?.id ?? '';
      const [key] = await query<{ id: string }>(transaction, INSERT_KEY, { selector: 'old', user_id: id });
      await query(transaction, ROTATE_KEY, { selector: 'older', id: key?.id ?? '' });
      expect(await query(transaction, UPDATE_USER, { id, user_groups: [] })).toEqual([{ user_groups: [] }]);
      expect(await query(transaction, FOLLOW_USER, { id })).toHaveLength(2);
      expect(await query(transaction, GROUPS, { selector: 'older' })).toEqual([{ user_groups: [] }]);
      await query(transaction, `delete from users where id = cast(:id as uuid)`, { id });
    });
  });

  it('change people and rotate their keys, which still see nothing if the person does not', async () => {
    await workspace.inside(async (transaction) => {
      const { person } = await provisionPerson(transaction, identity);
      expect(await query(transaction, UPDATE_USER, { id: person.id, user_groups: ['eu'] })).toEqual([{ user_groups: ['eu'] }]); // prettier-ignore
      const [key] = await query<{ id: string }>(transaction, `select id from api_keys where user_id = cast(:id as uuid)`, { id: person.id }); // prettier-ignore
      await query(transaction, ROTATE_KEY, { selector: 'successor', id: key?.id ?? '' });
      await query(transaction, UPDATE_USER, { id: person.id, user_groups: [] });
      await query(transaction, FOLLOW_USER, { id: person.id });
      expect(await query(transaction, GROUPS, { selector: 'successor' })).toEqual([{ user_groups: [`user:${person.id}`] }]); // prettier-ignore
    });
  });
});

describe('statements of the previous release', () => {
  const workspace = useTestWorkspace('previous_release');
  const flow = newFlow({ slug: 'offer', context: { slug: 'orders' }, folder: { id: 'a-folder' } });
  const flowVersionId = randomUUID();
  beforeAll(() =>
    workspace.inside(async (transaction) => {
      await insertAsset(transaction, 'flow', flow);
      await publishAsset(transaction, 'flow', flow.id, { versionId: flowVersionId, flow: resolved() });
      const result = { testId: 'one', success: true, error: false, state: {}, executedAt: '2026-01-15T09:30:00.000Z' };
      await saveTestResults(transaction, flow.id, [result]);
    }),
  );

  const make = async (transaction: Transaction, slug: string) => {
    const [id, versionId] = [randomUUID(), randomUUID()];
    expect(await query(transaction, CLAIM_ID, { id })).toEqual([{ id }]);
    expect(await query(transaction, INSERT, { id, slug })).toMatchObject([{ updated_by: 'tester' }]);
    expect(await query(transaction, PUBLISH, { id, version_id: versionId })).toMatchObject([{ number: 1 }]);
    return { id, versionId };
  };

  it('insert, lock, publish, copy, change and delete rules, which this release sees as rules', async () => {
    await workspace.inside(async (transaction) => {
      const { id, versionId } = await make(transaction, 'old');
      expect(await query(transaction, LOCK, { id })).toEqual([{ slug: 'old', user_groups: [] }]);
      expect(await findAsset(transaction, 'rule', { slug: 'old' })).toMatchObject({
        id,
        name: 'Old',
        publishedVersion: 1,
      });
      expect(await loadVersion(transaction, versionId)).toMatchObject({ conditions: [] });
      const again = randomUUID();
      const copied = await query(transaction, COPY, { rule_id: id, source_id: versionId, version_id: again });
      expect(copied).toEqual([{ slug: 'old', version: 2 }]);
      expect(await query(transaction, POINTER, { slug: 'old' })).toEqual([{ id, version_id: again, number: 2 }]);
      await query(transaction, UPDATE, { id, slug: 'older', description: 'changed' });
      expect(await findAsset(transaction, 'rule', { id })).toMatchObject({ slug: 'older', description: 'changed' });
      const result = { testId: 'a', success: true, error: false, state: {}, executedAt: '2026-01-15T09:30:00.000Z' };
      for (const success of [true, false])
        await query(transaction, SAVE_RESULTS, { rule_id: id, results: JSON.stringify([{ ...result, success }]) });
      expect(await query(transaction, 'select test_id, success from rule_test_results')).toEqual([
        { test_id: 'a', success: false },
      ]);
      await query(transaction, DELETE, { id });
      expect(await findAsset(transaction, 'rule', { id })).toBeUndefined();
      expect(await loadVersion(transaction, versionId)).toBeUndefined();
    });
  });

  it('take a slug that a flow has, and find one that a rule has taken under the name of the constraint that they know', async () => {
    await workspace.inside(async (transaction) => {
      const { id } = await make(transaction, 'offer');
      expect(await findAsset(transaction, 'flow', { slug: 'offer' })).toMatchObject({ id: flow.id });
      expect(await query(transaction, POINTER, { slug: 'offer' })).toMatchObject([{ id }]);
      const second = randomUUID();
      await query(transaction, CLAIM_ID, { id: second });
      const failure = transaction.savepoint((savepoint) => query(savepoint, INSERT, { id: second, slug: 'offer' }));
      const error = await failure.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(DatabaseError);
      expect(error).toMatchObject({ code: '23505', constraint: 'rules_slug_key' });
      const taken = transaction.savepoint((savepoint) => query(savepoint, INSERT, { id: flow.id, slug: 'other' }));
      expect(await taken.catch((caught: unknown) => caught)).toMatchObject({ code: '23505' });
      await query(transaction, DELETE, { id });
    });
  });

  it.each([
    ['list', LIST, {}],
    ['find by slug', POINTER, { slug: flow.slug }],
    ['lock', LOCK, { id: flow.id }],
    ['read a version', `select id from rule_versions where id = cast(:id as uuid)`, { id: flowVersionId }],
    ['read versions', `select id from rule_versions where rule_id = cast(:id as uuid)`, { id: flow.id }],
    ['read bound rules', `select slug from rules where context_slug = 'orders'`, {}],
    ['read results of tests', 'select test_id from rule_test_results', {}],
    ['unbind', `update rules set context = 'null' where rules.context_slug = 'orders' returning id`, {}],
    ['leave a folder', `update rules set folder = 'null' where folder ->> 'id' = 'a-folder' returning id`, {}],
    ['unpublish', `update rules set published_version_id = null returning id`, {}],
    ['delete', 'delete from rules returning id', {}],
    ['forget results of tests', 'delete from rule_test_results returning test_id', {}],
  ])('meet no flow when they %s', async (_, sql, bindings) => {
    await workspace.inside(async (transaction) => {
      expect(await query(transaction, sql, bindings)).toEqual([]);
      expect(await findAsset(transaction, 'flow', { id: flow.id })).toMatchObject({
        publishedVersion: 1,
        context: flow.context,
        folder: flow.folder,
      });
      expect(await loadFlowVersion(transaction, flowVersionId)).toBeDefined();
    });
  });

  it('see of rules what their groups allow, and write into no other workspace', async () => {
    const rule = newRule({ slug: 'of-sales', userGroups: ['sales'] });
    await workspace.inside((transaction) => insertAsset(transaction, 'rule', rule));
    const see = (access = workspace.access) =>
      workspace.database.inWorkspace(access, (transaction) => query(transaction, POINTER, { slug: rule.slug }));
    const stranger = await workspace.addWorkspace('stranger');
    expect(await see(workspace.restrictedTo('sales'))).toHaveLength(1);
    expect(await see(workspace.restrictedTo('ops'))).toEqual([]);
    expect(await see(stranger)).toEqual([]);
    const steal = workspace.database.inWorkspace(stranger, (transaction) =>
      query(transaction, `insert into rule_ids (id, workspace_id) values (gen_random_uuid(), cast(:id as uuid))`, {
        id: workspace.access.workspaceId,
      }),
    );
    await expect(steal).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('cannot change a version', async () => {
    await expect(
      workspace.inside(async (transaction) => {
        const { versionId } = await make(transaction, 'frozen');
        await query(transaction, `update rule_versions set number = 9 where id = cast(:id as uuid)`, { id: versionId });
      }),
    ).rejects.toMatchObject({ cause: { sqlState: '42501' } });
  });
});
