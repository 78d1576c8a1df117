import { randomUUID } from 'node:crypto';
import { waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import {
  admitSignIn,
  checkDatabase,
  checkServer,
  confirmTotp,
  createApiKey,
  createSession,
  createUserLink,
  deleteAsset,
  deleteUser,
  dropDatabase,
  ensureWorkspace,
  findApiKey,
  findSession,
  findSignIn,
  findSignInWorkspace,
  insertAsset,
  listUsers,
  loadVersion,
  migrate,
  noteSignIn,
  openDatabase,
  provisionPerson,
  publishAsset,
  recordSignIn,
  saveRecoveryCodes,
  setPassword,
  setTotp,
  takeRecoveryCode,
  takeUserLink,
} from '../../src';
import { runMigrations } from '../../src/cli/migrate';
import { allMigrations } from '../../src/migrations/all-migrations';
import { asOwner } from '../as-owner';
import { adminUrl, type FreshDatabase, freshDatabase } from './fresh-database';
import { newApiKey, newFlow, newRule, resolved } from '../assets/rule-fixtures';

const ALL = allMigrations.map(({ name }) => name);
const TABLES = [
  'announcements',
  'api_keys',
  'asset_ids',
  'asset_test_results',
  'asset_versions',
  'assets',
  'audit_entries',
  'context_foreign_keys',
  'context_history',
  'context_instances',
  'context_links',
  'context_operations',
  'context_registrations',
  'context_relationships',
  'context_removals',
  'context_tickets',
  'context_untold',
  'context_worlds',
  'contexts',
  'decision_log',
  'decision_quarantine',
  'decision_sequences',
  'deployment_secrets',
  'entity_writes',
  'environments',
  'flow_uses',
  'folders',
  'invitations',
  'kept_versions',
  'notifications',
  'release_approvals',
  'releases',
  'roles',
  'sessions',
  'sign_ins',
  'usage_batches',
  'usage_counters',
  'user_credentials',
  'user_groups',
  'user_links',
  'user_recovery_codes',
  'user_usage',
  'users',
  'value_revisions',
  'value_sync_members',
  'value_syncs',
  'worker_floors',
  'workspace_objects',
  'workspace_values',
  'workspaces',
];

let empty: FreshDatabase;
beforeEach(async () => {
  empty = await freshDatabase('migrating');
});
afterEach(() => empty.drop());

const tables = async (): Promise<readonly unknown[]> =>
  (
    await asOwner(
      empty.url,
      `select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'schema_%' order by 1`,
    )
  ).map(({ name }) => name);

describe('migrate', () => {
  it('brings an empty database up to date, and then finds nothing to do', async () => {
    expect(await migrate({ url: empty.url })).toEqual({ applied: ALL });
    expect(await tables()).toEqual(TABLES);
    expect(await migrate({ url: empty.url })).toEqual({ applied: [] });
  });

  it('run by twenty processes at once is done by one', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => migrate({ url: empty.url })));
    const applied = outcomes.map((outcome) => outcome.applied).filter((names) => names.length > 0);
    expect(applied).toEqual([ALL]);
    expect(await tables()).toEqual(TABLES);
  });

  it('run on several databases of one server at once does not collide', async () => {
    const databases = await Promise.all(Array.from({ length: 6 }, () => freshDatabase('at_once')));
    const outcomes = await Promise.all(databases.map(({ url }) => migrate({ url })));
    expect(outcomes).toEqual(databases.map(() => ({ applied: ALL })));
    await Promise.all(databases.map(({ drop }) => drop()));
  });

  it('leaves nothing behind if it dies while it works, and the next one does it all', async () => {
    const blocker = new Client({ connectionString: empty.url });
    await blocker.connect();
    // The first migration has made its tables when it comes to a name that another transaction is about to take.
    await blocker.query('begin; create table rules (id int)');
    const dying = migrate({ url: empty.url, applicationName: 'dying' });
    const failure = expect(dying).rejects.toMatchObject({ code: 'database_unavailable' });
    const isWaiting = async () =>
      (
        await asOwner(
          empty.url,
          `select 1 from pg_stat_activity where application_name = 'dying' and wait_event_type = 'Lock'`,
        )
      ).length > 0;
    await waitUntil(isWaiting);
    await asOwner(empty.url, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dying'`);
    await failure;
    await blocker.query('rollback');
    await blocker.end();
    expect(await tables()).toEqual([]);
    expect(await migrate({ url: empty.url })).toEqual({ applied: ALL });
  });

  it('goes on when a lock of the library was left over', async () => {
    await asOwner(empty.url, 'create table schema_migrations_lock (index serial primary key, is_locked integer)');
    await asOwner(empty.url, 'insert into schema_migrations_lock (is_locked) values (1)');
    expect(await migrate({ url: empty.url })).toEqual({ applied: ALL });
  });

  it('leaves alone what only a newer release knows', async () => {
    await migrate({ url: empty.url });
    await asOwner(empty.url, `insert into schema_migrations (name, batch) values ('9999-future', 2)`);
    expect(await migrate({ url: empty.url })).toEqual({ applied: [] });
    expect(await checkDatabase(empty.url)).toEqual([]);
  });

  it('says what happened if there is no server', async () => {
    await expect(migrate({ url: 'postgresql://user@127.0.0.1:1/name' })).rejects.toMatchObject({
      code: 'database_unavailable',
    });
  });
});

describe('a user who is no superuser', () => {
  const owner = `owner_${randomUUID().slice(0, 8)}`;
  let ownerUrl: string;
  beforeEach(async () => {
    await asOwner(adminUrl(), `create role ${owner} login password 'secret' createrole`);
    await asOwner(adminUrl(), `alter database ${empty.name} owner to ${owner}`);
    const url = new URL(empty.url);
    url.username = owner;
    url.password = 'secret';
    ownerUrl = url.href;
  });
  afterEach(async () => {
    await dropDatabase(adminUrl(), empty.name);
    await asOwner(adminUrl(), `drop role ${owner}`);
  });

  it('is told what a superuser has to run when the role is not theirs to give', async () => {
    await asOwner(adminUrl(), 'do $$ begin create role decision_runtime; exception when others then null; end $$');
    await expect(migrate({ url: ownerUrl })).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('GRANT decision_runtime TO'),
    });
  });

  it('migrates, makes workspaces and serves, and sees nothing without claims', async () => {
    await asOwner(adminUrl(), 'do $$ begin create role decision_runtime; exception when others then null; end $$');
    await asOwner(adminUrl(), `grant decision_runtime to ${owner} with inherit false, set true`);
    expect(await migrate({ url: ownerUrl })).toEqual({ applied: ALL });
    expect(await checkDatabase(ownerUrl)).toEqual([]);
    const { id, created } = await ensureWorkspace(ownerUrl, { slug: 'owned', name: 'Owned' });
    expect(created).toBe(true);
    expect(await ensureWorkspace(ownerUrl, { slug: 'owned', name: 'Owned' })).toEqual({ id, created: false });
    const database = openDatabase({ url: ownerUrl, applicationName: 'owned' });
    const key = newApiKey();
    const outcome = await database.inWorkspace({ workspaceId: id, userGroups: undefined }, (transaction) =>
      createApiKey(transaction, key),
    );
    expect(outcome.status).toBe('created');
    expect(await findApiKey(database, key.selector)).toMatchObject({ workspaceId: id, secretHash: key.secretHash });
    await database.close();
    expect(await asOwner(ownerUrl, 'select id from api_keys')).toEqual([]);
  });

  it('lets people sign in, and ends them, if the tables are theirs', async () => {
    await asOwner(adminUrl(), `grant decision_runtime to ${owner} with inherit false, set true`);
    await migrate({ url: ownerUrl });
    const { id: workspaceId } = await ensureWorkspace(ownerUrl, { slug: 'owned', name: 'Owned' });
    const database = openDatabase({ url: ownerUrl, applicationName: 'owned' });
    const inside = { workspaceId, userGroups: undefined };
    expect(await findSignInWorkspace(database)).toMatchObject({ id: workspaceId });
    const identity = { email: 'ada@x.y', adminEmail: 'boss@x.y', name: null, externalSub: null, externalClaims: {} };
    const provision = () => database.inWorkspace(inside, (transaction) => provisionPerson(transaction, identity));
    const { status, person } = await provision();
    expect([status, (await provision()).status]).toEqual(['created', 'unchanged']);
    const session = { userId: person.id, method: 'oidc', expiresAt: '2099-01-01T00:00:00Z', address: null, userAgent: null } as const; // prettier-ignore
    const sessionId = await database.inWorkspace(inside, async (transaction) => {
      await recordSignIn(transaction, { ...session, email: person.email, outcome: 'succeeded' });
      return createSession(transaction, session);
    });
    expect(await findSession(database, sessionId)).toMatchObject({ userId: person.id, role: 'developer' });
    const seen = await database.inWorkspace({ ...inside, userId: person.id }, (transaction) => listUsers(transaction));
    expect(seen).toHaveLength(2);
    const link = { userId: person.id, purpose: 'reset', selector: 'link', tokenHash: 'ab'.repeat(32), expiresAt: '2099-01-01T00:00:00Z' } as const; // prettier-ignore
    await database.inWorkspace({ ...inside, userId: person.id }, async (transaction) => {
      await createUserLink(transaction, link);
      expect(await takeUserLink(transaction, link)).toMatchObject({ userId: person.id });
      await setPassword(transaction, person.id, 'hash');
      expect(await admitSignIn(transaction, person.id, { lockAfter: 1, lockSeconds: 9 })).toMatchObject({
        admitted: true,
      });
      await noteSignIn(transaction, person.id);
      await setTotp(transaction, person.id, 'secret');
      expect(await confirmTotp(transaction, person.id, 1)).toBe(true);
      await saveRecoveryCodes(transaction, person.id, ['cd'.repeat(32)]);
      expect(await takeRecoveryCode(transaction, person.id, 'cd'.repeat(32))).toBe(true);
    });
    expect(await findSignIn(database, workspaceId, 'ADA@x.y')).toMatchObject({ passwordHash: 'hash', totpSecret: 'secret', failedAttempts: 0 }); // prettier-ignore
    await database.inWorkspace(inside, (transaction) => deleteUser(transaction, person.id));
    expect(await findSession(database, sessionId)).toBeUndefined();
    await database.close();
  });

  it('keeps versions that flows use, and lets them go, if the tables are theirs', async () => {
    await asOwner(adminUrl(), `grant decision_runtime to ${owner} with inherit false, set true`);
    await migrate({ url: ownerUrl });
    const { id: workspaceId } = await ensureWorkspace(ownerUrl, { slug: 'owned', name: 'Owned' });
    const database = openDatabase({ url: ownerUrl, applicationName: 'owned' });
    const [rule, flow, versionId] = [newRule({ userGroups: ['sales'] }), newFlow(), randomUUID()];
    const use = { kind: 'rule', slug: rule.slug, selector: '1', asset_id: rule.id, version_id: versionId } as const;
    await database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
      await insertAsset(transaction, 'rule', rule);
      await publishAsset(transaction, 'rule', rule.id, { versionId });
      await insertAsset(transaction, 'flow', flow);
      await publishAsset(transaction, 'flow', flow.id, { versionId: randomUUID(), flow: resolved(use) });
      await deleteAsset(transaction, 'rule', rule.id);
      expect(await loadVersion(transaction, versionId)).toMatchObject({ conditions: rule.conditions });
      await deleteAsset(transaction, 'flow', flow.id);
      expect(await loadVersion(transaction, versionId)).toBeUndefined();
    });
    await database.close();
  });
});

describe('checkDatabase', () => {
  it('names what is pending and says what to do', async () => {
    expect(await checkServer(empty.url)).toEqual([]);
    expect(await checkDatabase(empty.url)).toEqual([
      `The database lacks the migrations ${ALL.join(', ')}. Run the migrations before the services.`,
    ]);
    await migrate({ url: empty.url });
    expect(await checkDatabase(empty.url)).toEqual([]);
  });

  it('names the grant that a login lacks', async () => {
    await migrate({ url: empty.url });
    const login = `login_${randomUUID().slice(0, 8)}`;
    await asOwner(empty.url, `create role ${login} login password 'secret'`);
    const url = new URL(empty.url);
    url.username = login;
    url.password = 'secret';
    const grant = `GRANT decision_runtime TO "${login}" WITH INHERIT FALSE, SET TRUE;`;
    expect(await checkDatabase(url.href)).toEqual([expect.stringContaining(grant)]);
    const database = openDatabase({ url: url.href, applicationName: 'no-grant' });
    await expect(database.ping()).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('migrations'),
    });
    // A connection that cannot be prepared is closed, though the pool stays open.
    const sessions = `select 1 from pg_stat_activity where application_name = 'no-grant'`;
    await waitUntil(async () => (await asOwner(empty.url, sessions)).length === 0);
    await database.close();
    await asOwner(empty.url, grant);
    expect(await checkDatabase(url.href)).toEqual([]);
    await asOwner(empty.url, `drop role ${login}`);
  });

  it('throws if the server cannot be asked', async () => {
    await expect(checkDatabase('postgresql://user@127.0.0.1:1/name')).rejects.toMatchObject({
      code: 'database_unavailable',
    });
  });
});

describe('the command for operators', () => {
  const run = async (environment: Record<string, string>): Promise<{ code: number; lines: readonly string[] }> => {
    const lines: string[] = [];
    const code = await runMigrations(environment, (line) => lines.push(line));
    return { code, lines };
  };

  it('applies what is pending, says so, and the second time has nothing to do', async () => {
    expect(await run({ DATABASE_URL: empty.url })).toEqual({ code: 0, lines: ALL.map((name) => `applied ${name}`) });
    expect(await run({ DATABASE_URL: empty.url })).toEqual({ code: 0, lines: ['The schema is up to date.'] });
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['no address', {}, /^DATABASE_URL is not set/],
    ['an empty address', { DATABASE_URL: '' }, /^DATABASE_URL is not set/],
    ['an address of another form', { DATABASE_URL: 'mysql://root:hunter2@host/x' }, /must look like postgresql:/],
    [
      'a server that is away',
      { DATABASE_URL: 'postgresql://user:hunter2@127.0.0.1:1/x' },
      /cannot be reached.*\n.*ECONNREFUSED/,
    ],
  ])('with %s fails and says why', async (_, environment, sentence) => {
    const { code, lines } = await run(environment);
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(sentence)]);
    expect(lines.join()).not.toContain('hunter2');
  });
});

describe('createDatabase and dropDatabase', () => {
  it('accept plain names only', async () => {
    for (const name of ['', 'Upper', '1st', 'a-b', 'a"; drop database postgres; --', 'x'.repeat(64)]) {
      await expect(dropDatabase(adminUrl(), name)).rejects.toMatchObject({ code: 'internal_error' });
    }
  });

  it('may drop what does not exist, and what is in use', async () => {
    const { url, drop } = await freshDatabase('dropped');
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await drop();
    await drop();
    await client.end();
  });
});
