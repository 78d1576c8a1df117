import { randomUUID } from 'node:crypto';
import { ServiceError } from '@decision/contracts';
import {
  applyMapping,
  createApiKey,
  createUser,
  deleteUser,
  ensureAdmin,
  findAdmin,
  findApiKey,
  findPerson,
  findSignInWorkspace,
  listAssets,
  insertAsset,
  listApiKeys,
  listAudit,
  listUsers,
  type ProvisionedIdentity,
  type ProvisionedPerson,
  provisionPerson,
  readSsoRoleMapping,
  rotateApiKey,
  saveSsoRoleMapping,
  type Transaction,
  updateUser,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { newApiKey, newRule, UNKNOWN_ID } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
/** A separate workspace for each test. */
let access: WorkspaceAccess;
beforeAll(async () => {
  workspace = await openTestWorkspace('people');
});
beforeEach(async () => {
  access = await workspace.addWorkspace(randomUUID());
});
afterAll(() => workspace.close());

const as = <T>(of: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(of, work);
const here = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  as({ ...access, actor: 'passthrough' }, work);
const asPerson = <T>(userId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  as({ workspaceId: access.workspaceId, userGroups: undefined, userId, actor: `user:${userId}` }, work);

const restrictedTo = (...userGroups: string[]): WorkspaceAccess => ({ ...access, userGroups });

const identity = (parts: Partial<ProvisionedIdentity> = {}): ProvisionedIdentity => ({
  email: 'ada@example.com',
  adminEmail: 'boss@example.com',
  name: 'Ada',
  externalSub: 'dir-1',
  externalClaims: { email: 'ada@example.com', team: 'sales' },
  ...parts,
});
const provision = (parts: Partial<ProvisionedIdentity> = {}): Promise<ProvisionedPerson> =>
  here((transaction) => provisionPerson(transaction, identity(parts)));
const people = (): Promise<readonly Record<string, unknown>[]> =>
  asOwner(workspace.url, `select * from users where workspace_id = '${access.workspaceId}' order by created_at, id`);
const keysOf = (userId: string): Promise<readonly Record<string, unknown>[]> =>
  asOwner(
    workspace.url,
    `select selector, role, user_groups, follows_person from api_keys where user_id = '${userId}' order by created_at`,
  );
const auditOf = async (subjectId: string): Promise<readonly string[]> =>
  (await here((transaction) => listAudit(transaction, { subjectId }, { limit: 100 }))).entries.map(({ action, actor }) => `${actor} ${action}`).reverse(); // prettier-ignore
const disable = (userId: string): Promise<unknown> =>
  asOwner(workspace.url, `update users set disabled_at = clock_timestamp() where id = '${userId}'`);

describe('provisioning', () => {
  it('makes the first person a child of an administrator whose row waits', async () => {
    const { status, person } = await provision();
    const admin = await here(findAdmin);
    expect(status).toBe('created');
    expect(admin).toMatchObject({ email: 'boss@example.com', role: 'admin', isAdmin: true, isPlaceholder: true, allGroups: true, parentId: null }); // prettier-ignore
    expect(person).toMatchObject({ email: 'ada@example.com', name: 'Ada', role: 'developer', isAdmin: false, parentId: admin?.id, disabledAt: null }); // prettier-ignore
    expect(person.metadata).toEqual({
      external_sub: 'dir-1',
      external_claims: { email: 'ada@example.com', team: 'sales' },
      full_name: 'Ada',
      profile: {},
    });
    expect(await auditOf(person.id)).toEqual(['passthrough create']);
    expect(await auditOf(admin?.id ?? '')).toEqual(['passthrough create']);
  });

  it('takes the waiting row of the administrator over, and makes no new one', async () => {
    await provision();
    const waiting = await here(findAdmin);
    const { status, person } = await provision({ email: 'Boss@Example.com', name: 'Grace' });
    expect(status).toBe('taken_over');
    expect(person).toMatchObject({ id: waiting?.id, email: 'boss@example.com', name: 'Grace', role: 'admin', isAdmin: true, isPlaceholder: false, allGroups: true, parentId: null }); // prettier-ignore
    expect(await people()).toHaveLength(2);
    expect(await auditOf(person.id)).toEqual(['passthrough create', 'passthrough take_over']);
    expect(await provision({ email: 'boss@example.com', name: 'Grace' })).toMatchObject({ status: 'unchanged' });
  });

  it('makes one user of a hundred first requests of one new person at once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        provision({ email: index % 2 === 0 ? 'ada@example.com' : 'ADA@example.com' }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'created')).toHaveLength(1);
    expect(new Set(outcomes.map(({ person }) => person.id)).size).toBe(1);
    expect(await people()).toHaveLength(2);
    expect(await keysOf(outcomes[0]?.person.id ?? '')).toHaveLength(1);
    expect(
      await asOwner(workspace.url, `select 1 from user_usage where workspace_id = '${access.workspaceId}'`),
    ).toHaveLength(2);
  });

  it('makes one administrator of a hundred first requests of it at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => provision({ email: 'boss@example.com' })));
    expect(outcomes.filter(({ status }) => status === 'taken_over')).toHaveLength(1);
    expect(await people()).toHaveLength(1);
  });

  it.each([
    ['ADA@EXAMPLE.COM', 'ada@example.com'],
    ['Zoë@example.com', 'ZOË@EXAMPLE.COM'],
  ])('finds %s by %s and keeps what was written first', async (first, second) => {
    const { person } = await provision({ email: first });
    expect((await provision({ email: second })).person).toMatchObject({ id: person.id, email: first });
    expect(await people()).toHaveLength(2);
  });

  it.each([
    ['a Kelvin sign', 'kim@example.com', '\u212Aim@example.com'],
    ['an ångström sign', '\u00e5sa@example.com', '\u212Bsa@example.com'],
  ])('refuses an address that becomes the one of another person by folding: %s', async (_, theirs, folded) => {
    const { person } = await provision({ email: theirs });
    await expect(provision({ email: folded, name: 'Mallory' })).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'email_ambiguous' },
    });
    expect(await here((transaction) => findPerson(transaction, person.id))).toEqual(person);
  });

  it.each([
    ['a long s', 'sam@example.com', '\u017fam@example.com'],
    ['a dotted capital I', 'ina@example.com', '\u0130na@example.com'],
    ['a dotless i', 'ina@example.com', '\u0131na@example.com'],
    ['full-width letters', 'ada@example.com', '\uff41da@example.com'],
    ['a decomposed letter', 'zo\u00eb@example.com', 'zoe\u0308@example.com'],
    ['a Cyrillic letter', 'ada@example.com', '\u0430da@example.com'],
    ['blanks around it', 'ada@example.com', ' ada@example.com '],
  ])('never takes an address for the one of another person: %s', async (_, theirs, other) => {
    const { person } = await provision({ email: theirs });
    const second = await provision({ email: other }).catch((error: unknown) => error);
    expect(second).not.toMatchObject({ person: { id: person.id } });
    expect(await here((transaction) => findPerson(transaction, person.id))).toEqual(person);
  });

  it('writes down what the directory says now, and claims alone leave no entry in the audit', async () => {
    const { person } = await provision();
    const later = await provision({ externalClaims: { email: 'ada@example.com', team: 'eu', iat: 2 } });
    expect(later).toMatchObject({ status: 'updated', person: { id: person.id, metadata: { external_claims: { team: 'eu', iat: 2 } } } }); // prettier-ignore
    expect(await auditOf(person.id)).toEqual(['passthrough create']);
    expect(await provision({ name: 'Ada L.', externalSub: 'dir-2' })).toMatchObject({ person: { name: 'Ada L.', metadata: { external_sub: 'dir-2', full_name: 'Ada L.' } } }); // prettier-ignore
    expect(await auditOf(person.id)).toEqual(['passthrough create', 'passthrough update']);
    expect(await provision({ name: null, externalSub: 'dir-2' })).toMatchObject({ person: { name: 'Ada L.', metadata: { full_name: null } } }); // prettier-ignore
  });

  it('keeps every claim as received', async () => {
    const externalClaims = JSON.parse('{"__proto__": {"admin": true}, "a\\u0000b": ["\\u0000"], "n": 1e300, "deep": [[[[{}]]]]}') as Record<string, unknown>; // prettier-ignore
    const { person } = await provision({ externalClaims });
    const found = await here((transaction) => findPerson(transaction, person.id));
    expect(JSON.stringify(found?.metadata.external_claims)).toBe(JSON.stringify(externalClaims));
  });

  it('refuses a disabled person and never enables it again', async () => {
    const { person } = await provision();
    await disable(person.id);
    await expect(provision({ name: 'Again' })).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'user_disabled' },
    });
    expect(await here((transaction) => findPerson(transaction, person.id))).toMatchObject({ name: 'Ada', disabledAt: expect.any(String) }); // prettier-ignore
  });

  it('makes a deleted person anew, with another id', async () => {
    const { person } = await provision();
    await here((transaction) => deleteUser(transaction, person.id));
    const again = await provision();
    expect(again.status).toBe('created');
    expect(again.person.id).not.toBe(person.id);
  });

  it('makes a user of a key a child at the first sign-in, with the role and groups that the user has', async () => {
    const make = (email: string, userGroups: string[]) =>
      here((transaction) =>
        createUser(transaction, { email, name: null, role: 'viewer', userGroups, passwordHash: 'h' }),
      );
    await make('sales@example.com', ['sales']);
    await make('all@example.com', []);
    const admin = (await provision()).person.parentId;
    expect((await provision({ email: 'sales@example.com' })).person).toMatchObject({ role: 'viewer', userGroups: ['sales'], allGroups: false, parentId: admin }); // prettier-ignore
    expect((await provision({ email: 'all@example.com' })).person).toMatchObject({ role: 'viewer', userGroups: [], allGroups: true, parentId: admin }); // prettier-ignore
  });

  it('shows new people all groups until a mapping of tenants is saved, and none afterwards', async () => {
    expect((await provision()).person).toMatchObject({ userGroups: [], allGroups: true });
    await here((transaction) => saveSsoRoleMapping(transaction, { role: {} }));
    expect((await provision({ email: 'b@example.com' })).person).toMatchObject({ allGroups: true });
    await here((transaction) => saveSsoRoleMapping(transaction, { tenants: {} }));
    expect((await provision({ email: 'c@example.com' })).person).toMatchObject({ userGroups: [], allGroups: false });
  });
});

describe('the administrator', () => {
  it('is the user who has the address already', async () => {
    const made = await here((transaction) =>
      createUser(transaction, {
        email: 'Boss@example.com',
        name: 'G',
        role: 'viewer',
        userGroups: ['eu'],
        passwordHash: 'h',
      }),
    );
    const key = newApiKey({
      userId: made.status === 'created' ? made.user.id : '',
      role: 'viewer',
      userGroups: ['eu'],
    });
    await here((transaction) => createApiKey(transaction, key));
    expect(await here((transaction) => ensureAdmin(transaction, 'boss@example.com'))).toMatchObject({ email: 'Boss@example.com', role: 'admin', userGroups: [], allGroups: true, isPlaceholder: false }); // prettier-ignore
    expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ role: 'admin', userGroups: [] });
  });

  it('can get another address until the person first signs in, with the mapping and the children', async () => {
    const child = await provision({ adminEmail: 'typo@example.com' });
    await here((transaction) => saveSsoRoleMapping(transaction, { role: { default: 'viewer' } }));
    const { person } = await provision({ email: 'boss@example.com' });
    expect(person).toMatchObject({ isAdmin: true, isPlaceholder: false });
    expect(await here(readSsoRoleMapping)).toEqual({ role: { default: 'viewer' } });
    expect(await here((transaction) => findPerson(transaction, child.person.id))).toMatchObject({
      parentId: person.id,
    });
    expect(await people()).toHaveLength(2);
    await provision({ email: 'next@example.com', adminEmail: 'next@example.com' });
    expect(await here(findAdmin)).toMatchObject({ id: person.id });
    expect(await people()).toHaveLength(3);
  });

  it.each([
    ['deleted', (id: string) => here((transaction) => deleteUser(transaction, id))],
    ['given another role', (id: string) => here((transaction) => updateUser(transaction, id, { role: 'viewer' }))],
    ['given groups', (id: string) => here((transaction) => updateUser(transaction, id, { userGroups: ['eu'] }))],
    ['disabled', (id: string) => here((transaction) => transaction.raw(`update users set disabled_at = clock_timestamp() where id = '${id}'`))], // prettier-ignore
  ])('cannot be %s', async (_, change) => {
    const { person } = await provision({ email: 'boss@example.com' });
    await expect(change(person.id)).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('administrator') }); // prettier-ignore
    expect(await here(findAdmin)).toEqual(person);
  });

  it('that was disabled before it became one can be changed and enabled', async () => {
    const made = await here((transaction) => createUser(transaction, { email: 'boss@example.com', name: 'G', role: 'viewer', userGroups: [], passwordHash: 'h' })); // prettier-ignore
    const id = made.status === 'created' ? made.user.id : '';
    await disable(id);
    await expect(provision({ email: 'boss@example.com' })).rejects.toMatchObject({
      details: { reason: 'user_disabled' },
    });
    await provision();
    expect(await here((transaction) => updateUser(transaction, id, { name: 'Grace' }))).toMatchObject({ user: { name: 'Grace', role: 'admin' } }); // prettier-ignore
    await here((transaction) => updateUser(transaction, id, { disabled: false }));
    expect(await provision({ email: 'boss@example.com' })).toMatchObject({ person: { id, isAdmin: true, disabledAt: null } }); // prettier-ignore
  });

  it('goes with its workspace', async () => {
    await provision({ email: 'boss@example.com' });
    await provision();
    await asOwner(workspace.url, `delete from workspaces where id = '${access.workspaceId}'`);
    expect(await people()).toEqual([]);
  });

  it('is one in each workspace', async () => {
    await provision();
    const elsewhere = await workspace.addWorkspace(randomUUID());
    const other = await as(elsewhere, (transaction) => provisionPerson(transaction, identity()));
    expect(other.status).toBe('created');
    expect(await people()).toHaveLength(2);
    expect(await as(elsewhere, listUsers)).toHaveLength(2);
  });
});

describe('the key of a person', () => {
  let fresh: string;
  beforeEach(() => {
    fresh = randomUUID();
  });
  it('has no known secret until its first rotation', async () => {
    const { person } = await provision();
    const { keys } = await here((transaction) => listApiKeys(transaction, { limit: 9 }));
    expect(keys).toMatchObject([
      { name: 'ada@example.com', role: 'developer', selector: expect.stringMatching(/^[0-9a-f]{12}$/) },
    ]);
    const id = keys[0]?.id ?? '';
    expect(await auditOf(id)).toEqual(['passthrough create']);
    const rotated = await here((transaction) => rotateApiKey(transaction, id, { selector: fresh, secretHash: 'cd'.repeat(32), overlapSeconds: 0 })); // prettier-ignore
    expect(rotated.status).toBe('rotated');
    expect(await findApiKey(workspace.database, fresh)).toMatchObject({
      role: 'developer',
      userGroups: [],
      revokedAt: null,
    });
    expect(await keysOf(person.id)).toMatchObject([{ follows_person: true }, { follows_person: true }]);
  });

  it('V23: sees nothing if the person sees nothing, also after a rotation', async () => {
    const { person } = await provision();
    const rule = newRule();
    await here((transaction) => insertAsset(transaction, 'rule', rule));
    const { selectors } = await here((transaction) => applyMapping(transaction, person.id, { userGroups: [] }));
    expect(selectors).toHaveLength(1);
    const [key] = await keysOf(person.id);
    expect(key).toMatchObject({ user_groups: [`user:${person.id}`] });
    const { keys } = await here((transaction) => listApiKeys(transaction, { limit: 9 }));
    await here((transaction) => rotateApiKey(transaction, keys[0]?.id ?? '', { selector: fresh, secretHash: 'cd'.repeat(32), overlapSeconds: 9 })); // prettier-ignore
    const stored = await findApiKey(workspace.database, fresh);
    const seen = await as(restrictedTo(...(stored?.userGroups ?? [])), (transaction) => listAssets(transaction, 'rule', {})); // prettier-ignore
    expect(seen.assets).toEqual([]);
    await here((transaction) => applyMapping(transaction, person.id, { userGroups: ['sales'] }));
    expect(await findApiKey(workspace.database, fresh)).toMatchObject({ userGroups: ['sales'] });
    await here((transaction) => applyMapping(transaction, person.id, { allGroups: true }));
    expect(await findApiKey(workspace.database, fresh)).toMatchObject({ userGroups: [] });
  });

  it('that was made with a user keeps its meaning: without groups it is not restricted', async () => {
    const made = await here((transaction) => createUser(transaction, { email: 'key@example.com', name: null, role: 'viewer', userGroups: ['eu'], passwordHash: 'h' })); // prettier-ignore
    const userId = made.status === 'created' ? made.user.id : '';
    const key = newApiKey({ userId, role: 'viewer', userGroups: ['eu'] });
    await here((transaction) => createApiKey(transaction, key));
    expect(await keysOf(userId)).toHaveLength(1);
    await here((transaction) => updateUser(transaction, userId, { userGroups: [] }));
    expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ userGroups: [] });
  });

  it('is answered as revoked while the person is disabled', async () => {
    const { person } = await provision();
    const selector = String((await keysOf(person.id))[0]?.['selector']);
    expect(await findApiKey(workspace.database, selector)).toMatchObject({ revokedAt: null });
    await disable(person.id);
    expect(await findApiKey(workspace.database, selector)).toMatchObject({ revokedAt: expect.any(String) });
  });
});

describe('a mapping', () => {
  it('is saved on the row of the administrator, with what it was before in the audit', async () => {
    expect(await here(readSsoRoleMapping)).toBeUndefined();
    expect(await here((transaction) => saveSsoRoleMapping(transaction, { role: {} }))).toBe('no_admin');
    const { person } = await provision({ email: 'boss@example.com' });
    expect(await here((transaction) => saveSsoRoleMapping(transaction, { role: { default: 'viewer' } }))).toBe('saved');
    expect(await here(readSsoRoleMapping)).toEqual({ role: { default: 'viewer' } });
    expect(await here((transaction) => saveSsoRoleMapping(transaction, null))).toBe('saved');
    expect(await here(readSsoRoleMapping)).toBeUndefined();
    const { entries } = await here((transaction) => listAudit(transaction, { kind: 'sso_mapping' }, { limit: 9 }));
    expect(entries).toMatchObject([
      { action: 'delete', subjectId: person.id, before: { role: { default: 'viewer' } }, after: null },
      { action: 'create', before: null, after: { role: { default: 'viewer' } } },
    ]);
  });

  it('is neither seen nor saved by an access that is restricted', async () => {
    await provision();
    await here((transaction) => saveSsoRoleMapping(transaction, { role: {} }));
    const sales = restrictedTo('sales');
    expect(await as(sales, readSsoRoleMapping)).toBeUndefined();
    expect(await as(sales, (transaction) => saveSsoRoleMapping(transaction, null))).toBe('no_admin');
    expect(await here(readSsoRoleMapping)).toEqual({ role: {} });
  });

  it('gives role, groups and profile, once: what is so already changes nothing', async () => {
    const { person } = await provision();
    const apply = () => here((transaction) => applyMapping(transaction, person.id, { role: 'editor', userGroups: ['sales'], profile: { team: 'S' } })); // prettier-ignore
    expect(await apply()).toMatchObject({ changed: true, person: { role: 'editor', userGroups: ['sales'], allGroups: false, metadata: { profile: { team: 'S' }, external_sub: 'dir-1' } } }); // prettier-ignore
    expect(await apply()).toMatchObject({ changed: false, selectors: [] });
    expect(await auditOf(person.id)).toEqual(['passthrough create', 'passthrough map']);
    expect((await provision()).person).toMatchObject({ role: 'editor', metadata: { profile: { team: 'S' } } });
  });

  it('leaves the administrator the role and all groups', async () => {
    const { person } = await provision({ email: 'boss@example.com' });
    const mapped = await here((transaction) => applyMapping(transaction, person.id, { role: 'viewer', userGroups: [], profile: { a: 1 } })); // prettier-ignore
    expect(mapped.person).toMatchObject({ role: 'admin', allGroups: true, metadata: { profile: { a: 1 } } });
  });

  it('that names a role which is gone, or a user who is gone, is refused', async () => {
    const { person } = await provision();
    await expect(here((transaction) => applyMapping(transaction, person.id, { role: 'gone' }))).rejects.toMatchObject({ code: 'forbidden', details: { reason: 'unknown_role' } }); // prettier-ignore
    await expect(here((transaction) => applyMapping(transaction, UNKNOWN_ID, {}))).rejects.toMatchObject({ code: 'user_not_found' }); // prettier-ignore
    expect(await here((transaction) => findPerson(transaction, person.id))).toEqual(person);
  });
});

describe('a transaction on behalf of a person', () => {
  const rules = async (transaction: Transaction): Promise<readonly string[]> =>
    (await listAssets(transaction, 'rule', {})).assets.map(({ slug }) => slug).sort();
  beforeEach(async () => {
    await here(async (transaction) => {
      await insertAsset(transaction, 'rule', newRule({ slug: 'of-sales', userGroups: ['sales'] }));
      await insertAsset(transaction, 'rule', newRule({ slug: 'of-eu', userGroups: ['eu'] }));
      await insertAsset(transaction, 'rule', newRule({ slug: 'of-nobody' }));
    });
  });
  const give = (userId: string, rights: { userGroups?: string[]; allGroups?: boolean }): Promise<unknown> =>
    here((transaction) => applyMapping(transaction, userId, rights));

  it('V22: sees what the groups of the person allow now, whatever the caller says of groups', async () => {
    const { id } = (await provision()).person;
    expect(await asPerson(id, rules)).toEqual(['of-eu', 'of-nobody', 'of-sales']);
    await give(id, { userGroups: [] });
    expect(await asPerson(id, rules)).toEqual([]);
    await give(id, { userGroups: ['sales'] });
    expect(await asPerson(id, rules)).toEqual(['of-sales']);
    await give(id, { userGroups: ['*'] });
    expect(await asPerson(id, rules)).toEqual([]);
    await give(id, { userGroups: ['eu', 'a "quoted", {group}'] });
    expect(await asPerson(id, rules)).toEqual(['of-eu']);
    await give(id, { allGroups: true });
    expect(await asPerson(id, rules)).toHaveLength(3);
  });

  it('V23: shows the own row alone to a person without groups', async () => {
    const { id } = (await provision()).person;
    await provision({ email: 'other@example.com' });
    await give(id, { userGroups: [] });
    expect((await asPerson(id, listUsers)).map((user) => user.id)).toEqual([id]);
    expect(await asPerson(id, (transaction) => findPerson(transaction, id))).toMatchObject({ id });
    expect(await asPerson(id, findAdmin)).toBeUndefined();
    expect(await asPerson(id, (transaction) => updateUser(transaction, id, { role: 'admin' }))).toBeUndefined();
  });

  it('shows a person of a group nothing of others', async () => {
    const { id } = (await provision()).person;
    await give(id, { userGroups: ['sales'] });
    for (const [email, userGroups] of [
      ['s@example.com', ['sales']],
      ['e@example.com', ['eu']],
    ] as const)
      await give((await provision({ email })).person.id, { userGroups: [...userGroups] });
    expect((await asPerson(id, listUsers)).map(({ email }) => email).sort()).toEqual([
      'ada@example.com',
      's@example.com',
    ]);
    await expect(asPerson(id, (transaction) => insertAsset(transaction, 'rule', newRule({ userGroups: ['eu'] })))).rejects.toMatchObject({ code: 'forbidden' }); // prettier-ignore
  });

  it('that is restricted provisions nobody: it needs an access without restriction', async () => {
    const { id } = (await provision()).person;
    for (const restricted of [restrictedTo('sales'), restrictedTo()]) {
      await expect(as(restricted, (transaction) => provisionPerson(transaction, identity({ email: 'x@example.com' })))).rejects.toBeInstanceOf(ServiceError); // prettier-ignore
      await expect(as(restricted, (transaction) => ensureAdmin(transaction, 'x@example.com'))).rejects.toBeInstanceOf(ServiceError); // prettier-ignore
      await expect(as(restricted, (transaction) => applyMapping(transaction, id, { allGroups: true }))).rejects.toMatchObject({ code: 'user_not_found' }); // prettier-ignore
    }
    expect(await people()).toHaveLength(2);
  });

  it('V24: gives a restricted access no way to widen itself or another', async () => {
    const { id } = (await provision()).person;
    await give(id, { userGroups: ['sales'] });
    const widen = (sql: string) => as(restrictedTo('sales'), (transaction) => transaction.raw(sql));
    for (const change of [
      'all_groups = true',
      'is_admin = true',
      `sso_role_mapping = '{}'`,
      'parent_id = id',
      'is_placeholder = true',
    ])
      await expect(widen(`update users set ${change}`)).rejects.toMatchObject({ code: 'forbidden' });
    for (const column of ['all_groups', 'is_admin'])
      await expect(widen(`insert into users (email, role, user_groups, ${column}) values ('x@y.z', 'viewer', '{sales}', true)`)).rejects.toMatchObject({ code: 'forbidden' }); // prettier-ignore
    expect(await asPerson(id, rules)).toEqual(['of-sales']);
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['disabled', disable],
    ['deleted', (id) => here((transaction) => deleteUser(transaction, id))],
  ])('V22: does not begin for a person who was %s, and runs nothing', async (_, end) => {
    const { id } = (await provision()).person;
    await end(id);
    await expect(asPerson(id, (transaction) => insertAsset(transaction, 'rule', newRule({ slug: 'late' })))).rejects.toMatchObject({ code: 'invalid_session' }); // prettier-ignore
    const pipelined = workspace.open({ isPipelined: true });
    const ofPerson = { ...access, userId: id };
    await expect(pipelined.inWorkspace(ofPerson, (transaction) => insertAsset(transaction, 'rule', newRule({ slug: 'late' })))).rejects.toMatchObject({ code: 'invalid_session' }); // prettier-ignore
    expect(await here(rules)).not.toContain('late');
  });

  it('V22: does not begin for an unknown person or a person of another workspace', async () => {
    const elsewhere = await workspace.addWorkspace(randomUUID());
    const stranger = await as(elsewhere, (transaction) => provisionPerson(transaction, identity()));
    for (const userId of [stranger.person.id, UNKNOWN_ID, randomUUID(), '', `x'; drop table users; --`])
      await expect(asPerson(userId, rules)).rejects.toMatchObject({ code: 'invalid_session' });
  });

  it('leaves no claim to the next one of its connection', async () => {
    const single = workspace.open({ poolMax: 1 });
    const { id } = (await provision()).person;
    const claims = (transaction: Transaction) =>
      transaction.raw<{ rows: unknown[] }>(`select app_user_id() as person, current_setting('app.user_groups', true) as groups`).then(({ rows }) => rows[0]); // prettier-ignore
    const { workspaceId } = access;
    expect(await single.inWorkspace({ workspaceId, userGroups: ['eu'], userId: id }, claims)).toEqual({ person: id, groups: '*' }); // prettier-ignore
    expect(await single.inWorkspace({ workspaceId, userGroups: ['eu'] }, claims)).toEqual({ person: null, groups: '{eu}' }); // prettier-ignore
    await disable(id);
    await expect(single.inWorkspace({ workspaceId, userGroups: undefined, userId: id }, claims)).rejects.toMatchObject({ code: 'invalid_session' }); // prettier-ignore
    expect(await single.lookUp(`select app_user_id() as person, coalesce(current_setting('app.user_groups', true), '') as groups`)).toEqual([{ person: null, groups: '' }]); // prettier-ignore
  });

  it('is told in the audit by id and address', async () => {
    const { id } = (await provision()).person;
    const rule = newRule();
    await asPerson(id, (transaction) => insertAsset(transaction, 'rule', rule));
    const { entries } = await here((transaction) => listAudit(transaction, { subjectId: rule.id }, { limit: 9 }));
    expect(entries).toMatchObject([{ actor: `user:${id}`, actorName: 'ada@example.com' }]);
  });
});

it('the workspace that people sign in to is the named one, or the only one', async () => {
  const alone = await openTestWorkspace('sign_in_workspace');
  const { workspaceId: id } = alone.access;
  expect(await findSignInWorkspace(alone.database)).toEqual({ id, slug: 'main', name: 'Main' });
  expect(await findSignInWorkspace(alone.database, 'main')).toMatchObject({ id });
  expect(await findSignInWorkspace(alone.database, 'gone')).toBeUndefined();
  await alone.addWorkspace('elsewhere');
  expect(await findSignInWorkspace(alone.database)).toBeUndefined();
  await alone.close();
});
