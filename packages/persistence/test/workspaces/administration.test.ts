import { randomUUID } from 'node:crypto';
import { type ApiKeyRecord, type UserRecord } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import {
  addUsage,
  createApiKey,
  createInvitation,
  createUser,
  createUserGroup,
  deleteFolder,
  deleteRole,
  deleteUser,
  findApiKey,
  findInvitation,
  findRole,
  findAsset,
  findUnknownGroups,
  holdRole,
  insertAsset,
  listApiKeys,
  listAudit,
  listFolders,
  listInvitations,
  listRoles,
  listUserGroups,
  listUsers,
  type NewApiKey,
  type NewInvitation,
  type NewUser,
  readUsage,
  revokeApiKey,
  rotateApiKey,
  type RotateApiKeyOutcome,
  saveFolder,
  saveRole,
  takeInvitation,
  type Transaction,
  updateUser,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { createGate } from '../connection/gate';
import { newApiKey, newRule, UNKNOWN_ID } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
beforeAll(async () => {
  workspace = await openTestWorkspace('administration');
});
afterAll(() => workspace.close());

const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(access, work);
const here = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => as(workspace.access, work);
const inSales = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  as(workspace.restrictedTo('sales'), work);
const actionsOn = async (subjectId: string): Promise<string[]> =>
  (await here((transaction) => listAudit(transaction, { subjectId }, { limit: 100 }))).entries.map(({ action }) => action).reverse(); // prettier-ignore

const makeKey = async (parts: Partial<NewApiKey> = {}): Promise<ApiKeyRecord> => {
  const outcome = await here((transaction) => createApiKey(transaction, newApiKey(parts)));
  if (outcome.status !== 'created') throw new Error(outcome.status);
  return outcome.key;
};
const makeUser = async (parts: Partial<NewUser> = {}): Promise<UserRecord> => {
  const user = { email: `${randomUUID()}@example.com`, name: 'Ada', role: 'developer', userGroups: [], passwordHash: 'h', ...parts }; // prettier-ignore
  const outcome = await here((transaction) => createUser(transaction, user));
  if (outcome.status !== 'created') throw new Error(outcome.status);
  return outcome.user;
};

describe('folders', () => {
  it('are made by name, changed by id or name, listed and deleted, each recorded', async () => {
    const made = await here((transaction) => saveFolder(transaction, { name: 'Pricing', newUserGroups: [] }));
    if (made.status !== 'saved') throw new Error(made.status);
    expect(made.folder).toMatchObject({ name: 'Pricing', type: 'rule', description: null });
    const again = await here((transaction) => saveFolder(transaction, { name: 'Pricing', description: 'x', newUserGroups: [] })); // prettier-ignore
    expect(again).toMatchObject({ folder: { id: made.folder.id, description: 'x' } });
    const renamed = await here((transaction) => saveFolder(transaction, { id: made.folder.id, name: 'Prices', type: 'flow', newUserGroups: [] })); // prettier-ignore
    expect(renamed).toMatchObject({ folder: { name: 'Prices', type: 'flow', description: 'x' } });
    expect(await here((transaction) => listFolders(transaction, { name: 'Prices' }))).toHaveLength(1);
    expect(await here((transaction) => deleteFolder(transaction, made.folder.id))).toMatchObject({ name: 'Prices' });
    expect(await here((transaction) => deleteFolder(transaction, made.folder.id))).toBeUndefined();
    expect(await actionsOn(made.folder.id)).toEqual(['create', 'update', 'update', 'delete']);
  });

  it('take the id that is given, in every workspace its own', async () => {
    const id = randomUUID();
    for (const access of [workspace.access, await workspace.addWorkspace('folders')]) {
      expect(await as(access, (transaction) => saveFolder(transaction, { id, name: 'Mine', newUserGroups: [] }))).toMatchObject({ folder: { id } }); // prettier-ignore
    }
  });

  it('have names that are unique within their type, among hidden ones too', async () => {
    await here((transaction) => saveFolder(transaction, { name: 'Hidden', newUserGroups: ['eu'] }));
    const taken = await inSales((transaction) => saveFolder(transaction, { name: 'Hidden', newUserGroups: ['sales'] }));
    expect(taken).toEqual({ status: 'name_taken' });
    const other = await inSales((transaction) => saveFolder(transaction, { name: 'Hidden', type: 'flow', newUserGroups: ['sales'] })); // prettier-ignore
    expect(other.status).toBe('saved');
    await expect(inSales((transaction) => saveFolder(transaction, { name: 'Open', newUserGroups: [] }))).rejects.toMatchObject({ code: 'forbidden' }); // prettier-ignore
  });

  it('leave their rules behind', async () => {
    const made = await here((transaction) => saveFolder(transaction, { name: 'Going', newUserGroups: [] }));
    const id = made.status === 'saved' ? made.folder.id : '';
    const rule = newRule({ folder: { id, name: 'Going' } });
    await here((transaction) => insertAsset(transaction, 'rule', rule));
    await here((transaction) => deleteFolder(transaction, id));
    expect(await here((transaction) => findAsset(transaction, 'rule', { id: rule.id }))).toMatchObject({
      folder: null,
    });
  });
});

describe('users', () => {
  it('are made, listed with the public part of their key, changed with their keys, and deleted with them', async () => {
    const user = await makeUser({ email: 'Ada@example.com' });
    const key = await makeKey({ userId: user.id });
    expect(await here(listUsers)).toContainEqual({ ...user, selector: key.selector, sessions: 0, lastSessionAt: null });
    const changed = await here((transaction) =>
      updateUser(transaction, user.id, { role: 'viewer', userGroups: ['eu'] }),
    );
    expect(changed).toEqual({ user: { ...user, role: 'viewer', userGroups: ['eu'] }, selectors: [key.selector] });
    expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ role: 'viewer', userGroups: ['eu'] });
    expect(await here((transaction) => updateUser(transaction, user.id, { name: null }))).toMatchObject({ user: { name: null, role: 'viewer' } }); // prettier-ignore
    expect(await here((transaction) => deleteUser(transaction, user.id))).toMatchObject({ selectors: [key.selector] });
    expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ revokedAt: expect.any(String) });
    expect(await here((transaction) => deleteUser(transaction, user.id))).toBeUndefined();
    expect(await actionsOn(user.id)).toEqual(['create', 'update', 'update', 'delete']);
  });

  it('are disabled and enabled again, with their keys, and the moment stays that of the first time', async () => {
    const user = await makeUser();
    const key = await makeKey({ userId: user.id });
    const disable = (disabled: boolean) => here((transaction) => updateUser(transaction, user.id, { disabled }));
    const first = await disable(true);
    expect(first).toMatchObject({ user: { disabledAt: expect.any(String) }, selectors: [key.selector] });
    expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ revokedAt: first?.user.disabledAt });
    expect(await disable(true)).toEqual(first);
    expect(await here((transaction) => updateUser(transaction, user.id, { name: 'Ada B.' }))).toMatchObject({ user: { disabledAt: first?.user.disabledAt } }); // prettier-ignore
    expect(await disable(false)).toMatchObject({ user: { disabledAt: null } });
    expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ revokedAt: null });
  });

  it('see all groups or have groups, whichever was said last', async () => {
    const user = await makeUser({ userGroups: ['eu'], allGroups: true });
    expect(user).toMatchObject({ userGroups: [], allGroups: true });
    const change = async (changes: Parameters<typeof updateUser>[2]) =>
      (await here((transaction) => updateUser(transaction, user.id, changes)))?.user;
    expect(await change({ userGroups: ['eu'] })).toMatchObject({ userGroups: ['eu'], allGroups: false });
    expect(await change({ allGroups: true })).toMatchObject({ userGroups: [], allGroups: true });
    expect(await change({ userGroups: [] })).toMatchObject({ userGroups: [], allGroups: true });
    expect(await change({ allGroups: false })).toMatchObject({ userGroups: [], allGroups: false });
  });

  it('have addresses of their own, whatever the case, in each workspace', async () => {
    await makeUser({ email: 'eve@example.com' });
    await expect(makeUser({ email: 'EVE@example.com' })).rejects.toThrow('email_taken');
    const elsewhere = await workspace.addWorkspace('eve');
    const there = { email: 'eve@example.com', name: null, role: 'admin', userGroups: [], passwordHash: 'h' };
    expect(await as(elsewhere, (transaction) => createUser(transaction, there))).toMatchObject({ status: 'created' });
  });

  it('never show their password, not in the audit either', async () => {
    const user = await makeUser({ passwordHash: 'scrypt-of-something' });
    const all = await here((transaction) => listAudit(transaction, { subjectId: user.id }, { limit: 9 }));
    expect(JSON.stringify([all, await here(listUsers)])).not.toContain('scrypt-of');
    expect(await asOwner(workspace.url, `select password_hash from users where id = '${user.id}'`)).toEqual([
      { password_hash: 'scrypt-of-something' },
    ]);
  });

  it('belong to the groups of the restricted access that makes them', async () => {
    const make = (userGroups: string[]) =>
      inSales((transaction) =>
        createUser(transaction, {
          email: `${randomUUID()}@x.y`,
          name: null,
          role: 'viewer',
          userGroups,
          passwordHash: 'h',
        }),
      );
    for (const groups of [[], ['eu'], ['sales', 'eu']]) await expect(make(groups)).rejects.toMatchObject({ code: 'forbidden' }); // prettier-ignore
    expect(await make(['sales'])).toMatchObject({ status: 'created' });
  });
});

describe('invitations', () => {
  const invitation = (parts: Partial<NewInvitation> = {}): NewInvitation => ({
    email: `${randomUUID()}@example.com`,
    role: 'editor',
    userGroups: [],
    selector: randomUUID(),
    tokenHash: 'ab'.repeat(32),
    expiresAt: '2099-01-01T00:00:00.000Z',
    ...parts,
  });
  const invite = (parts: Partial<NewInvitation> = {}) => here((transaction) => createInvitation(transaction, invitation(parts))); // prettier-ignore

  it('are found by their link, listed without it, and taken once', async () => {
    const outcome = await invite({ selector: 'linked' });
    if (outcome.status !== 'created') throw new Error(outcome.status);
    const { id, email } = outcome.invitation;
    expect(await findInvitation(workspace.database, 'linked')).toMatchObject({
      id,
      email,
      role: 'editor',
      workspaceName: 'Main',
      tokenHash: 'ab'.repeat(32),
    });
    expect(await findInvitation(workspace.database, 'unknown')).toBeUndefined();
    const listed = await here(listInvitations);
    expect(listed.map((entry) => entry.id)).toContain(id);
    expect(JSON.stringify(listed)).not.toMatch(/linked|(?:ab){8}/);
    const takes = await Promise.all([1, 2, 3].map(() => here((transaction) => takeInvitation(transaction, id, 'accept')))); // prettier-ignore
    expect(takes.filter((taken) => taken !== undefined)).toHaveLength(1);
    expect(await findInvitation(workspace.database, 'linked')).toBeUndefined();
    expect(await actionsOn(id)).toEqual(['create', 'accept']);
  });

  it('replace an earlier one for the address, and are refused if it has a user', async () => {
    await invite({ email: 'two@example.com', selector: 'first' });
    expect(await invite({ email: 'TWO@example.com', selector: 'second' })).toMatchObject({ status: 'created' });
    expect(await findInvitation(workspace.database, 'first')).toBeUndefined();
    await makeUser({ email: 'here@example.com' });
    expect(await invite({ email: 'Here@example.com' })).toEqual({ status: 'email_taken' });
  });

  it('are not listed once they have expired', async () => {
    const outcome = await invite({ expiresAt: '2020-01-01T00:00:00Z' });
    const id = outcome.status === 'created' ? outcome.invitation.id : '';
    expect((await here(listInvitations)).map((entry) => entry.id)).not.toContain(id);
  });
});

describe('user groups', () => {
  it('are made once, listed by name, and a restricted access sees its own', async () => {
    for (const name of ['sales', 'eu']) await here((transaction) => createUserGroup(transaction, { name, description: null })); // prettier-ignore
    expect((await here(listUserGroups)).map(({ name }) => name)).toEqual(['eu', 'sales']);
    expect((await inSales(listUserGroups)).map(({ name }) => name)).toEqual(['sales']);
    expect(await here((transaction) => createUserGroup(transaction, { name: 'eu', description: 'x' }))).toEqual({
      status: 'name_taken',
    });
    await expect(inSales((transaction) => createUserGroup(transaction, { name: 'new', description: null }))).rejects.toMatchObject({ code: 'forbidden' }); // prettier-ignore
    expect(await here((transaction) => findUnknownGroups(transaction, ['eu', 'none']))).toEqual(['none']);
  });
});

describe('roles', () => {
  it('are built in, or made, changed and deleted, and their keys are named', async () => {
    expect((await here(listRoles)).filter(({ builtIn }) => builtIn).map(({ name }) => name)).toEqual([
      'admin',
      'developer',
      'editor',
      'solver',
      'viewer',
    ]);
    const save = (entitlements: string[]) => here((transaction) => saveRole(transaction, { name: 'auditor', entitlements })); // prettier-ignore
    expect(await save(['rules.read'])).toMatchObject({ status: 'saved', selectors: [] });
    const key = await makeKey({ role: 'auditor', userGroups: ['eu'] });
    expect(await save(['audit.read'])).toMatchObject({ role: { entitlements: ['audit.read'] }, selectors: [key.selector] }); // prettier-ignore
    expect(await findApiKey(workspace.database, key.selector)).toMatchObject({ entitlements: ['audit.read'] });
    expect(await here((transaction) => deleteRole(transaction, 'auditor'))).toEqual({ status: 'in_use', holders: 1 });
    await here((transaction) => revokeApiKey(transaction, key.id));
    expect(await here((transaction) => deleteRole(transaction, 'auditor'))).toEqual({ status: 'deleted' });
    expect(await here((transaction) => deleteRole(transaction, 'auditor'))).toEqual({ status: 'not_found' });
    expect(await here((transaction) => findRole(transaction, 'auditor'))).toBeUndefined();
    expect(await actionsOn('auditor')).toEqual(['create', 'update', 'delete']);
  });

  it.each(['given first', 'deleted first'])('that are given and deleted at once take turns: %s', async (order) => {
    const name = order.replaceAll(' ', '-');
    await here((transaction) => saveRole(transaction, { name, entitlements: [] }));
    const gate = createGate();
    const give = async (transaction: Transaction): Promise<string> =>
      (await holdRole(transaction, name)) === undefined
        ? 'unknown'
        : (await createApiKey(transaction, newApiKey({ role: name }))).status;
    const remove = async (transaction: Transaction): Promise<string> => (await deleteRole(transaction, name)).status;
    const [first, second] = order === 'given first' ? [give, remove] : [remove, give];
    const begun = createGate();
    const ends = [
      here(async (transaction) => {
        const end = await first(transaction);
        begun.open();
        await gate.opened;
        return end;
      }),
      begun.opened.then(() => here(second)),
    ];
    await begun.opened;
    const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`; // prettier-ignore
    await waitUntil(async () => (await asOwner(workspace.url, waits)).length > 0);
    gate.open();
    expect(await Promise.all(ends)).toEqual(order === 'given first' ? ['created', 'in_use'] : ['deleted', 'unknown']);
  });

  it('stay as they are where they are built in', async () => {
    expect(await here((transaction) => saveRole(transaction, { name: 'viewer', entitlements: ['solve'] }))).toEqual({
      status: 'built_in',
    });
    expect(await here((transaction) => deleteRole(transaction, 'solver'))).toEqual({ status: 'built_in' });
    const before = await here(listRoles);
    await here((transaction) =>
      transaction.raw(`update roles set entitlements = '{keys.manage}' where built_in`).then(),
    );
    await expect(here((transaction) => transaction.raw(`insert into roles (name, entitlements, built_in) values ('x', '{}', true)`).then())).rejects.toMatchObject({ code: 'forbidden' }); // prettier-ignore
    expect(await here(listRoles)).toEqual(before);
  });

  it('are the business of accesses without restriction', async () => {
    await here((transaction) => saveRole(transaction, { name: 'custom', entitlements: [] }));
    await expect(inSales((transaction) => saveRole(transaction, { name: 'other', entitlements: [] }))).rejects.toMatchObject({ code: 'forbidden' }); // prettier-ignore
    expect(await inSales((transaction) => deleteRole(transaction, 'custom'))).toEqual({ status: 'not_found' });
    expect(await here((transaction) => findRole(transaction, 'custom'))).toBeDefined();
  });
});

describe('rotating a key', () => {
  const rotate = (id: string, overlapSeconds = 60): Promise<RotateApiKeyOutcome> =>
    here((transaction) => rotateApiKey(transaction, id, { selector: randomUUID(), secretHash: 'cd'.repeat(32), overlapSeconds })); // prettier-ignore
  const alive = async (ids: readonly string[]): Promise<string[]> => {
    const { keys } = await here((transaction) => listApiKeys(transaction, { limit: 1_000 }));
    const live = keys.filter((key) => key.revokedAt === null && (key.expiresAt === null || Date.parse(key.expiresAt) > Date.now())); // prettier-ignore
    return live.map(({ id }) => id).filter((id) => ids.includes(id));
  };

  it('makes an equal one beside it, and at most two are alive at once', async () => {
    const first = await makeKey({ name: 'CI', role: 'editor', userGroups: ['eu'], expiresAt: '2099-01-01T00:00:00.000Z' }); // prettier-ignore
    const second = await rotate(first.id);
    if (second.status !== 'rotated') throw new Error(second.status);
    expect(second).toMatchObject({
      key: { name: 'CI', role: 'editor', userGroups: ['eu'], expiresAt: '2099-01-01T00:00:00.000Z' },
      ended: [first.selector],
    });
    expect(await alive([first.id, second.key.id])).toHaveLength(2);
    const third = await rotate(second.key.id);
    if (third.status !== 'rotated') throw new Error(third.status);
    expect(third.ended).toEqual([second.key.selector, first.selector]);
    expect((await alive([first.id, second.key.id, third.key.id])).sort()).toEqual([second.key.id, third.key.id].sort());
    expect(await actionsOn(second.key.id)).toEqual(['create', 'rotate']);
  });

  it('ends the old one at once if no overlap is wanted', async () => {
    const key = await makeKey();
    await rotate(key.id, 0);
    expect(await alive([key.id])).toEqual([]);
  });

  it('happens once, also when several try at once, and not to dead keys', async () => {
    const key = await makeKey();
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => rotate(key.id)));
    expect(outcomes.filter(({ status }) => status === 'rotated')).toHaveLength(1);
    expect(await rotate(key.id)).toEqual({ status: 'not_rotatable', state: 'rotated' });
    const revoked = await makeKey();
    await here((transaction) => revokeApiKey(transaction, revoked.id));
    expect(await rotate(revoked.id)).toEqual({ status: 'not_rotatable', state: 'revoked' });
    expect(await rotate((await makeKey({ expiresAt: '2020-01-01T00:00:00Z' })).id)).toEqual({ status: 'not_rotatable', state: 'expired' }); // prettier-ignore
    expect(await rotate(UNKNOWN_ID)).toEqual({ status: 'not_found' });
  });
});

describe('usage', () => {
  it('adds up, each batch once, by workspace and month', async () => {
    const month = '2026-01-01';
    const batch = { id: randomUUID(), month, executions: 40 };
    await Promise.all([1, 2, 3].map(() => here((transaction) => addUsage(transaction, batch))));
    await here((transaction) => addUsage(transaction, { id: randomUUID(), month, executions: 2 }));
    expect(await here((transaction) => readUsage(transaction, month))).toEqual({
      executions: 42,
      countedUntil: expect.stringMatching(/Z$/),
    });
    expect(await here((transaction) => readUsage(transaction, '2026-02-01'))).toEqual({ executions: 0, countedUntil: null }); // prettier-ignore
    const elsewhere = await workspace.addWorkspace('usage');
    expect(await as(elsewhere, (transaction) => readUsage(transaction, month))).toMatchObject({ executions: 0 });
  });

  it('loses no batch of many that come at once', async () => {
    const month = '2026-03-01';
    await Promise.all(Array.from({ length: 50 }, () => here((transaction) => addUsage(transaction, { id: randomUUID(), month, executions: 3 })))); // prettier-ignore
    expect(await here((transaction) => readUsage(transaction, month))).toMatchObject({ executions: 150 });
  });
});
