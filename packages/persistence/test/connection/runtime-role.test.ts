import { randomUUID } from 'node:crypto';
import {
  checkDatabase,
  createApiKey,
  type Database,
  deleteAsset,
  ensureServiceLogin,
  findApiKey,
  insertAsset,
  listAssets,
  publishAsset,
  setWorkerFloor,
  type Transaction,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { newApiKey, newRule } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('the database, to the runtime role', () => {
  let workspace: TestWorkspace;
  let stranger: WorkspaceAccess;
  const key = newApiKey({ userGroups: ['sales'] });

  beforeAll(async () => {
    workspace = await openTestWorkspace('runtime_role');
    stranger = await workspace.addWorkspace('stranger');
    await as(workspace.access, async (transaction) => {
      const rule = newRule({ userGroups: ['sales'] });
      await insertAsset(transaction, 'rule', rule);
      await publishAsset(transaction, 'rule', rule.id, { versionId: randomUUID() });
      await insertAsset(transaction, 'rule', newRule());
      await createApiKey(transaction, key);
      await setWorkerFloor(transaction, { targetWorkers: 3, keepsLarger: true, durationMs: 60_000 });
    });
  });
  afterAll(() => workspace.close());

  const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(access, work);

  describe('the runtime role', () => {
    const TABLES = ['assets', 'asset_versions', 'asset_ids', 'roles', 'worker_floors'] as const;
    const raw = (access: WorkspaceAccess, sql: string): Promise<unknown> =>
      as(access, async (transaction) => await transaction.raw(sql));

    it('cannot log in, is no superuser, does not bypass row security and owns nothing', async () => {
      const [role] = await asOwner(
        workspace.url,
        `select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,
        (select count(*)::int from pg_class where relowner = pg_roles.oid) as owned
       from pg_roles where rolname = 'decision_runtime'`,
      );
      expect(role).toEqual({
        rolsuper: false,
        rolbypassrls: false,
        rolcanlogin: false,
        rolcreaterole: false,
        rolcreatedb: false,
        owned: 0,
      });
    });

    it.each(TABLES)('sees nothing in %s without claims', async (table) => {
      expect(await asOwner(workspace.url, `select 1 from ${table} limit 1`)).toHaveLength(1);
      expect(await workspace.database.lookUp(`select 1 from ${table}`)).toEqual([]);
    });

    it('sees no key without claims either', async () => {
      expect(await workspace.database.lookUp('select id from api_keys')).toEqual([]);
    });

    it.each(['app.user_groups', 'app.workspace_id'])('without the claim %s sees no rule', async (setting) => {
      const rules = await as(workspace.access, async (transaction) => {
        await transaction.raw(`select set_config('${setting}', '', true)`);
        return (await listAssets(transaction, 'rule', {})).assets;
      });
      expect(rules).toEqual([]);
    });

    it.each(['workspaces', 'users', 'invitations', 'api_keys'])('may not read the whole of %s', async (table) => {
      await expect(raw(workspace.access, `select * from ${table}`)).rejects.toMatchObject({
        cause: { sqlState: '42501' },
      });
    });

    it.each([
      ['read a hash', 'select secret_hash from api_keys'],
      ['read whole keys', 'select * from api_keys'],
      ['change a hash', `update api_keys set secret_hash = decode(repeat('00', 32), 'hex')`],
      ['widen a key', `update api_keys set user_groups = '{}', role = 'admin'`],
      ['delete keys', 'delete from api_keys'],
      ['change a version', `update asset_versions set definition = '{}'`],
      ['change a version of a rule', `update rule_versions set definition = '{}'`],
      ['delete a version', 'delete from asset_versions'],
      ['delete a version of a rule', 'delete from rule_versions'],
      ['move an asset', 'update assets set workspace_id = gen_random_uuid()'],
      ['move a rule', 'update rules set workspace_id = gen_random_uuid()'],
      ['free an id', 'delete from asset_ids'],
      ['free an id of a rule', 'delete from rule_ids'],
      ['forget a release', 'delete from releases'],
      ['release something else', 'update releases set version_id = gen_random_uuid()'],
      ['need fewer approvals', `update releases set approvers = '{}'`],
      ['take an approval back', 'delete from release_approvals'],
      ['change who approved', `update release_approvals set approved_by = 'x'`],
      ['delete an environment', 'delete from environments'],
      ['read a hash of a password', 'select password_hash from users'],
      ['read a hash of a link', 'select token_hash from invitations'],
      ['read what passwords are guessed with', 'select failed_attempts from user_credentials'],
      ['read a secret of a second factor', 'select totp_secret from user_credentials'],
      ['unlock an account past its function', 'update user_credentials set locked_until = null'],
      ['read a recovery code', 'select code_hash from user_recovery_codes'],
      ['add a recovery code', 'insert into user_recovery_codes (user_id) values (gen_random_uuid())'],
      ['read a link of a user', 'select selector from user_links'],
      ['make a link past its function', 'insert into user_links (user_id) values (gen_random_uuid())'],
      ['change a password past its function', `update users set password_hash = 'x'`],
      ['lock rows of credentials', 'select hold_credentials(gen_random_uuid())'],
      ['move a user to another address', `update users set email = 'x@y.z'`],
      ['move a user to another workspace', 'update users set workspace_id = gen_random_uuid()'],
      ['lengthen a session', `update sessions set expires_at = 'infinity'`],
      ['give a session to another', 'update sessions set user_id = gen_random_uuid()'],
      ['rewrite who signed in', `update sign_ins set outcome = 'succeeded'`],
      ['forget who signed in', 'delete from sign_ins'],
      ['let a key stop following its person', 'update api_keys set follows_person = false'],
      ['rename a role', `update roles set name = 'x'`],
      ['forget how many workers are asked for', 'delete from worker_floors'],
      ['ask for workers as another workspace', 'update worker_floors set workspace_id = gen_random_uuid()'],
      ['stop keeping a version that flows use', 'delete from kept_versions'],
      ['forget what a flow uses', 'delete from flow_uses'],
      ['read what is to be sent', 'select content from notifications'],
      ['change what is to be sent', `update notifications set content = '{}'`],
      ['stop a notification', 'delete from notifications'],
      [
        'write a notification of another workspace',
        'insert into notifications (workspace_id, id) values (gen_random_uuid(), 1)',
      ],
      ['make a flow of a rule', `update assets set kind = 'flow'`],
      ['empty a table', 'truncate assets cascade'],
      ['switch row security off', 'alter table assets disable row level security'],
      ['drop a policy', 'drop policy in_workspace on assets'],
      ['read a secret of the deployment from its table', 'select secret from deployment_secrets'],
      ['make a table', 'create table mine (id int)'],
    ])('may not %s', async (_, sql) => {
      await expect(workspace.database.lookUp(sql)).rejects.toMatchObject({ cause: { sqlState: '42501' } });
    });

    it.each([
      `insert into asset_ids (id, workspace_id) values (gen_random_uuid(), '%s')`,
      `insert into rule_ids (id, workspace_id) values (gen_random_uuid(), '%s')`,
      `insert into api_keys (workspace_id, selector, secret_hash, name, role)
     values ('%s', 'theirs', decode(repeat('00', 32), 'hex'), 'x', 'admin')`,
    ])('may not write into another workspace: %s', async (sql) => {
      await expect(raw(workspace.access, sql.replace('%s', stranger.workspaceId))).rejects.toMatchObject({
        code: 'forbidden',
      });
    });

    it('keeps claims for one transaction only, on one connection too', async () => {
      const single = workspace.open({ poolMax: 1 });
      const count = async (access: WorkspaceAccess): Promise<number> =>
        (await single.inWorkspace(access, (transaction) => listAssets(transaction, 'rule', {}))).assets.length;
      const counts = await Promise.all([
        count(workspace.access),
        count(stranger),
        count(workspace.restrictedTo('sales')),
        count(workspace.access),
      ]);
      expect(counts).toEqual([2, 0, 1, 2]);
      expect(await single.lookUp('select id from rules')).toEqual([]);
      await expect(
        single.inWorkspace(workspace.access, () => Promise.reject(new TypeError('The caller failed.'))),
      ).rejects.toThrow(TypeError);
      expect(await single.lookUp('select id from rules')).toEqual([]);
    });

    it('is taken on again by the next transaction of a session that gave it up', async () => {
      const single = workspace.open({ poolMax: 1 });
      await single.inWorkspace(workspace.access, async (transaction) => {
        await transaction.raw('set role none');
      });
      const [row] = await single.inWorkspace(stranger, async (transaction) => {
        const result = await transaction.raw<{ rows: { user: string; rules: number }[] }>(
          'select current_user as user, (select count(*)::int from rules) as rules',
        );
        return result.rows;
      });
      expect(row).toEqual({ user: 'decision_runtime', rules: 0 });
    });
  });

  describe('a login that may act as the runtime role and do nothing else', () => {
    const login = `login_${randomUUID().slice(0, 8)}`;
    let asLogin: Database;
    beforeAll(async () => {
      const first = await ensureServiceLogin(workspace.url, login);
      const url = await ensureServiceLogin(workspace.url, login);
      expect(new URL(url).password).not.toBe(new URL(first).password);
      expect(await checkDatabase(url)).toEqual([]);
      asLogin = workspace.open({ url });
    });
    afterAll(async () => {
      await asLogin.close();
      await asOwner(workspace.url, `drop role ${login}`);
    });

    it('is all that a service needs', async () => {
      const own = newRule();
      await asLogin.inWorkspace(workspace.access, async (transaction) => {
        await insertAsset(transaction, 'rule', own);
        await publishAsset(transaction, 'rule', own.id, { versionId: randomUUID() });
      });
      expect(await findApiKey(asLogin, key.selector)).toMatchObject({ selector: key.selector });
      expect(
        await asLogin.inWorkspace(workspace.access, (transaction) => deleteAsset(transaction, 'rule', own.id)),
      ).toMatchObject({
        status: 'deleted',
      });
    });

    it.each(['reset role', 'set role none'])('gains nothing by "%s"', async (statement) => {
      const escaping = asLogin.inWorkspace(workspace.access, async (transaction) => {
        await transaction.raw(statement);
        await transaction.raw('select * from rules');
      });
      await expect(escaping).rejects.toMatchObject({ cause: { sqlState: '42501' } });
    });

    it('cannot become anybody else', async () => {
      await expect(asLogin.lookUp('set role pg_read_all_data')).rejects.toMatchObject({ cause: { sqlState: '42501' } });
    });
  });

  describe('the schema', () => {
    it('enables and forces row security on every table of a workspace', async () => {
      const tables = await asOwner(
        workspace.url,
        `select relname as name, relrowsecurity and relforcerowsecurity as secured,
         exists (select from pg_policy where polrelid = c.oid) as has_policy
       from pg_class c
       where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and relname not like 'schema_migrations%'`,
      );
      expect(tables.length).toBeGreaterThanOrEqual(8);
      expect(tables.filter(({ secured, has_policy }) => !secured || !has_policy)).toEqual([]);
    });

    it('puts the workspace on every table but those of the deployment', async () => {
      const without = await asOwner(
        workspace.url,
        `select table_name from information_schema.tables t
       where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'schema_migrations%'
         and not exists (
           select from information_schema.columns c
           where c.table_schema = 'public' and c.table_name = t.table_name and c.column_name = 'workspace_id' and c.is_nullable = 'NO'
         )`,
      );
      expect(without).toEqual(
        expect.arrayContaining(
          ['deployment_secrets', 'workspaces', 'decision_quarantine'].map((name) => ({ table_name: name })),
        ),
      );
      expect(without).toHaveLength(3);
    });

    it('refuses to change a version for every caller', async () => {
      await expect(asOwner(workspace.url, `update asset_versions set number = number + 1`)).rejects.toMatchObject({
        code: '23001',
      });
    });

    it('leaves no function to everybody that acts with the rights of its owner', async () => {
      const open = await asOwner(
        workspace.url,
        `select proname from pg_proc
       where pronamespace = 'public'::regnamespace and prosecdef
         and (has_function_privilege('public', oid, 'execute') or proconfig is null)`,
      );
      expect(open).toEqual([]);
    });

    it('still finds a key for the runtime role', async () => {
      expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ selector: key.selector });
    });
  });
});
