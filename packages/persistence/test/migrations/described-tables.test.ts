import {
  apiKeyFields,
  type ApiKeyRecord,
  assetFacts,
  environmentFields,
  flowFields,
  folderFields,
  invitationFields,
  objectFields,
  recordName,
  releaseFields,
  type ResourceField,
  type ResourceFields,
  ruleFields,
  userFields,
  userGroupFields,
  valueFields,
} from '@decision/contracts';
import { createApiKey, rotateApiKey } from '../../src';
import { storedType } from '../../src/resources/described-table';
import { newApiKey } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

/** Columns of users that have no field: what signing in needs. */
const OF_PEOPLE = [
  ...['workspace_id', 'password_hash', 'parent_id', 'is_admin', 'is_placeholder'],
  ...['user_metadata', 'sso_role_mapping'],
];

/** Columns of assets that have no field: counted, referred to or derived from fields. */
const OF_ASSETS = [
  'workspace_id',
  'kind',
  'stable_id',
  'row_count',
  'value_ids',
  'context_slug',
  'published_version_id',
];

/** Columns of values that have no field: what only objects know, and `managed_by` is read by. */
const OF_VALUES = [
  'workspace_id',
  'stable_id',
  'updated_by',
  'object_id',
  'managed_path',
  'managed_member',
  'content_hash',
];

/** Without the fields that are read from other tables. */
const joinless = (fields: ResourceFields): ResourceFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !JOINED.has(name)));
const JOINED: ReadonlySet<string> = new Set([
  ...['published_version', 'published_at', 'managed_by'],
  ...['asset', 'environment', 'version', 'approvals'],
]);

/** Parts of drafts, and fields that are saved with an object, are changed as well as made. */
const isChanged = (field: ResourceField | undefined): boolean =>
  field !== undefined && ('kept' in field || ('saved' in field && field.saved === true));

/** Tables whose resource is described, with the columns that are no fields of it. */
const tables: readonly (readonly [table: string, fields: ResourceFields, others: readonly string[]])[] = [
  ['assets', joinless({ ...assetFacts, ...ruleFields, ...flowFields }), OF_ASSETS],
  ['api_keys', apiKeyFields, ['workspace_id', 'secret_hash', 'user_id', 'rotated_from', 'follows_person']],
  ['environments', environmentFields, ['workspace_id']],
  ['folders', folderFields, ['workspace_id']],
  ['invitations', invitationFields, ['workspace_id', 'selector', 'token_hash', 'created_by']],
  ['releases', joinless(releaseFields), ['workspace_id', 'environment_id', 'rule_id']],
  ['users', userFields, OF_PEOPLE],
  ['user_groups', userGroupFields, ['workspace_id']],
  ['workspace_objects', objectFields, ['workspace_id', 'stable_id', 'updated_by']],
  ['workspace_values', joinless(valueFields), OF_VALUES],
];

describe('described tables', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('described_tables');
  });
  afterAll(() => workspace.close());

  const ask = async <Row>(
    sql: string,
    bindings: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<Row[]> =>
    workspace.database.inWorkspace(
      workspace.access,
      async (transaction) => (await transaction.raw<{ rows: Row[] }>(sql, bindings)).rows,
    );

  describe.each(tables)('%s', (table, fields, others) => {
    it('has a column for each field, and no other without a reason', async () => {
      const columns = await ask<{ name: string }>(
        `select attname as name from pg_attribute where attrelid = cast(:table as regclass) and attnum > 0 and not attisdropped`,
        { table },
      );
      expect(columns.map(({ name }) => name).sort()).toEqual([...Object.keys(fields), ...others].sort());
    });

    it('lets the services read each field and write each that callers give', async () => {
      const changed = Object.keys(fields).filter((name) => isChanged(fields[name]));
      const given = Object.keys(fields).filter((name) => fields[name]?.request !== undefined || changed.includes(name));
      const missing = await ask<{ statement: string }>(
        `select format('grant %s (%s) on %s to decision_runtime;', privilege, field, cast(:table as text)) as statement
         from (
           select 'select' as privilege, field from unnest(cast(:read as text[])) as field
           union all select 'insert', field from unnest(cast(:written as text[])) as field
           union all select 'update', field from unnest(cast(:changed as text[])) as field
         ) as needed
         where not has_column_privilege('decision_runtime', cast(:table as text), field, privilege)`,
        { table, read: Object.keys(fields), written: given, changed },
      );
      expect({ 'a migration must say': missing.map(({ statement }) => statement) }).toEqual({
        'a migration must say': [],
      });
    });
  });

  it.each<[string, ResourceFields]>([
    ['assets', { ...ruleFields, ...flowFields }],
    ['workspace_objects', objectFields],
  ])('stores each field of %s that changes as its schema says', async (table, fields) => {
    const changed = Object.entries(fields).filter(([, field]) => isChanged(field));
    const columns = await ask<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = cast(:table as regclass) and attname = any (cast(:names as text[])) order by attname`,
      { table, names: changed.map(([name]) => name) },
    );
    const wanted = changed.map(([name, field]) => ({ name, type: storedType(field) }));
    expect(wanted.length).toBeGreaterThan(0);
    expect(columns).toEqual(wanted.sort((a, b) => (a.name < b.name ? -1 : 1)));
  });

  /** For each field that rotation keeps a value that no other key has: a new field needs one here. */
  const kept: Partial<ApiKeyRecord> = {
    name: 'Nightly build',
    role: 'solver',
    userGroups: ['sales'],
    expiresAt: '2033-03-03T03:03:03.000Z',
  };

  it('gives the successor of a rotated key every field that rotation keeps, and new values of all others', async () => {
    const names = (isKept: boolean): string[] =>
      Object.entries(apiKeyFields).flatMap(([name, field]) =>
        field.keptByRotation === isKept ? [recordName(name)] : [],
      );
    const { before, after } = await workspace.database.inWorkspace(workspace.access, async (transaction) => {
      const created = await createApiKey(transaction, newApiKey(kept));
      if (created.status !== 'created') throw new Error(`The key was not created: ${created.status}`);
      const rotation = { selector: 'successor', secretHash: 'ab'.repeat(32), overlapSeconds: 60 };
      const rotated = await rotateApiKey(transaction, created.key.id, rotation);
      if (rotated.status !== 'rotated') throw new Error(`The key was not rotated: ${rotated.status}`);
      return { before: created.key, after: rotated.key };
    });
    expect(Object.keys(kept).sort()).toEqual(names(true).sort());
    expect(before).toMatchObject(kept);
    expect(after).toMatchObject(kept);
    expect(names(false)).toEqual(expect.arrayContaining(['id', 'selector']));
    expect(after).not.toMatchObject({ id: before.id });
    expect(after).toMatchObject({ selector: 'successor', lastUsedAt: null, revokedAt: null });
  });
});
