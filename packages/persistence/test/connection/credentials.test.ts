import { randomUUID } from 'node:crypto';
import { waitUntil } from '@decision/local-stack';
import {
  admitSignIn,
  applyMapping,
  clearTotp,
  confirmTotp,
  createUserLink,
  offerUserLink,
  deleteUser,
  describeCredentials,
  ensureAdmin,
  findAdmin,
  findPendingTotp,
  findSignIn,
  findUserLink,
  listAudit,
  noteSignIn,
  provisionPerson,
  saveRecoveryCodes,
  setPassword,
  setTotp,
  takeRecoveryCode,
  takeTotpStep,
  takeUserLink,
  type Transaction,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { createGate } from './gate';
import { UNKNOWN_ID } from '../assets/rule-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('credentials');
const here = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => workspace.inside(work);
const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(access, work);
const ofPerson = (userId: string): WorkspaceAccess => ({ ...workspace.access, userId });

const newPerson = async (
  userGroups: readonly string[] = [],
  address = `${randomUUID()}@example.com`,
): Promise<{ id: string; email: string }> => {
  // prettier-ignore
  const identity = { email: address, adminEmail: 'boss@example.com', name: 'Ada', externalSub: null, externalClaims: {} };
  const { person } = await here((transaction) => provisionPerson(transaction, identity));
  await here((transaction) => applyMapping(transaction, person.id, { userGroups }));
  return { id: person.id, email: person.email };
};
const find = (email: string, workspaceId = workspace.access.workspaceId) => findSignIn(workspace.database, workspaceId, email); // prettier-ignore
const disable = (id: string) => asOwner(workspace.url, `update users set disabled_at = clock_timestamp() where id = '${id}'`); // prettier-ignore
const actionsOn = async (subjectId: string): Promise<readonly string[]> =>
  (await here((transaction) => listAudit(transaction, { subjectId }, { limit: 100 }))).entries.map(({ action }) => action).reverse(); // prettier-ignore
const HASH = 'ab'.repeat(32);
const OTHER_HASH = 'cd'.repeat(32);

describe('a password', () => {
  it('is found by the address in whatever case, and is nowhere else to be read', async () => {
    const { id, email } = await newPerson();
    expect(await find(email)).toMatchObject({ userId: id, email, passwordHash: null, failedAttempts: 0, lockedUntil: null, totpSecret: null, totpLastStep: null, disabledAt: null }); // prettier-ignore
    await here((transaction) => setPassword(transaction, id, 'argon2-of-something'));
    expect(await find(email.toUpperCase())).toMatchObject({ userId: id, email, passwordHash: 'argon2-of-something' });
    const told = await here(async (transaction) => [
      await listAudit(transaction, { subjectId: id }, { limit: 9 }),
      await describeCredentials(transaction, id),
    ]);
    expect(JSON.stringify(told)).not.toContain('argon2-of');
    expect(await actionsOn(id)).toEqual(['create', 'map', 'set_password']);
  });

  it('is not found by an address that becomes the same one by folding, nor in another workspace', async () => {
    const { id } = await newPerson([], 'kim@example.com');
    await here((transaction) => setPassword(transaction, id, 'hash'));
    const elsewhere = await workspace.addWorkspace('elsewhere');
    expect(await find('\u212Aim@example.com')).toBeUndefined();
    expect(await find('kim@example.com', elsewhere.workspaceId)).toBeUndefined();
    for (const workspaceId of [UNKNOWN_ID, '', 'x']) expect(await find('kim@example.com', workspaceId)).toBeUndefined();
    expect(await find('')).toBeUndefined();
    await expect(find('kim\u0000@example.com')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('says whether its user is disabled, and is deleted with it', async () => {
    const { id, email } = await newPerson();
    await here((transaction) => setPassword(transaction, id, 'hash'));
    await disable(id);
    expect(await find(email)).toMatchObject({ disabledAt: expect.any(String) });
    await here((transaction) => deleteUser(transaction, id));
    expect(await find(email)).toBeUndefined();
  });

  it('of the administrator ends the waiting of its row', async () => {
    const admin = await here((transaction) => ensureAdmin(transaction, 'boss@example.com'));
    expect(admin.isPlaceholder).toBe(true);
    await here((transaction) => setPassword(transaction, admin.id, 'hash'));
    await here((transaction) => noteSignIn(transaction, admin.id));
    expect(await here(findAdmin)).toMatchObject({ id: admin.id, isPlaceholder: false, isAdmin: true });
  });
});

describe('guesses', () => {
  const admit = (id: string, lockSeconds = 60) => here((transaction) => admitSignIn(transaction, id, { lockAfter: 3, lockSeconds })); // prettier-ignore

  it('are counted before they are checked, up to a lock, and forgiven by a sign-in', async () => {
    const { id, email } = await newPerson();
    expect([await admit(id), await admit(id)]).toMatchObject([
      { admitted: true, failedAttempts: 1, lockedUntil: null },
      { admitted: true, failedAttempts: 2, lockedUntil: null },
    ]);
    expect(await admit(id)).toMatchObject({ admitted: true, failedAttempts: 3, lockedUntil: expect.any(String) });
    expect(await admit(id)).toMatchObject({ admitted: false, failedAttempts: 3 });
    expect(await find(email)).toMatchObject({ failedAttempts: 3, lockedUntil: expect.any(String) });
    await here((transaction) => noteSignIn(transaction, id));
    expect(await find(email)).toMatchObject({ failedAttempts: 0, lockedUntil: null });
  });

  it('of a hundred at once are admitted as often as the limit says', async () => {
    const { id } = await newPerson();
    const admissions = await Promise.all(Array.from({ length: 100 }, () => admit(id)));
    expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(3);
  });

  it('wait for the guess before them: one that began before the lock is not admitted after it', async () => {
    const { id } = await newPerson();
    await admit(id);
    await admit(id);
    const [begun, gate] = [createGate(), createGate()];
    const last = here(async (transaction) => {
      const admission = await admitSignIn(transaction, id, { lockAfter: 3, lockSeconds: 60 });
      begun.open();
      await gate.opened;
      return admission;
    });
    await begun.opened;
    const late = admit(id);
    const waits = `select 1 from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())`; // prettier-ignore
    await waitUntil(async () => (await asOwner(workspace.url, waits)).length > 0);
    gate.open();
    expect(await Promise.all([last, late])).toMatchObject([{ admitted: true }, { admitted: false, failedAttempts: 3 }]);
  });

  it('are one for each lock once there were too many', async () => {
    const { id } = await newPerson();
    for (let guess = 1; guess <= 3; guess += 1) await admit(id);
    await asOwner(workspace.url, `update user_credentials set locked_until = clock_timestamp() - interval '1 second' where user_id = '${id}'`); // prettier-ignore
    expect([await admit(id), await admit(id)]).toMatchObject([
      { admitted: true, failedAttempts: 4 },
      { admitted: false, failedAttempts: 4 },
    ]);
  });

  it('are forgiven by another password', async () => {
    const { id, email } = await newPerson();
    for (let guess = 1; guess <= 3; guess += 1) await admit(id);
    await here((transaction) => setPassword(transaction, id, 'hash'));
    expect(await find(email)).toMatchObject({ failedAttempts: 0, lockedUntil: null });
  });
});

describe('a link', () => {
  const EXPIRES = '2099-01-01T00:00:00.000Z';
  const make = async (userId: string, parts: { expiresAt?: string } = {}) => {
    const link = { userId, purpose: 'reset', selector: randomUUID(), tokenHash: HASH, expiresAt: EXPIRES, ...parts } as const; // prettier-ignore
    await here((transaction) => createUserLink(transaction, link));
    return link;
  };
  const look = (link: { selector: string; tokenHash: string }) => findUserLink(workspace.database, link);
  const take = (link: { selector: string; tokenHash: string }, access = workspace.access) =>
    as(access, (transaction) => takeUserLink(transaction, link));

  it('is found by both of its parts, and is used up once', async () => {
    const { id, email } = await newPerson();
    const link = await make(id);
    expect(await look(link)).toEqual({
      workspaceId: workspace.access.workspaceId,
      userId: id,
      email,
      purpose: 'reset',
    });
    for (const wrong of [
      { ...link, tokenHash: OTHER_HASH },
      { ...link, selector: 'x' },
    ]) {
      expect(await look(wrong)).toBeUndefined();
      expect(await take(wrong)).toBeUndefined();
    }
    expect(await take(link, await workspace.addWorkspace('elsewhere'))).toBeUndefined();
    const takes = await Promise.all(Array.from({ length: 10 }, () => take(link)));
    expect(takes.filter((taken) => taken !== undefined)).toEqual([{ userId: id, purpose: 'reset' }]);
    expect(await look(link)).toBeUndefined();
    expect(await actionsOn(id)).toEqual(['create', 'map', 'create_link']);
  });

  it('that somebody asks for comes once within the pause, and the one before stays good', async () => {
    const { id } = await newPerson();
    const offer = async (pauseSeconds: number, userId = id) => {
      const link = { userId, purpose: 'reset', selector: randomUUID(), tokenHash: HASH, expiresAt: EXPIRES } as const;
      return (await here((transaction) => offerUserLink(transaction, link, pauseSeconds))) ? link : undefined;
    };
    const offers = await Promise.all(Array.from({ length: 5 }, () => offer(300)));
    const [first, ...others] = offers.filter((link) => link !== undefined);
    expect([first !== undefined, others]).toEqual([true, []]);
    expect(first && (await look(first))).toBeDefined();
    expect(await offer(0)).toBeDefined();
    expect(first && (await look(first))).toBeUndefined();
    expect(await offer(0, randomUUID())).toBeUndefined();
    expect(await actionsOn(id)).toEqual(['create', 'map', 'create_link', 'create_link']);
  });

  it('is void once it is expired, replaced or overtaken by another password, and while its user is disabled', async () => {
    const { id } = await newPerson();
    const expired = await make(id, { expiresAt: '2020-01-01T00:00:00.000Z' });
    expect([await look(expired), await take(expired)]).toEqual([undefined, undefined]);
    const replaced = await make(id);
    const link = await make(id);
    expect([await look(replaced), await take(replaced)]).toEqual([undefined, undefined]);
    await disable(id);
    expect([await look(link), await take(link)]).toEqual([undefined, undefined]);
    await asOwner(workspace.url, `update users set disabled_at = null where id = '${id}'`);
    expect(await look(link)).toBeDefined();
    await here((transaction) => setPassword(transaction, id, 'hash'));
    expect([await look(link), await take(link)]).toEqual([undefined, undefined]);
  });
});

describe('a second factor', () => {
  it('counts once its first code was right, takes each step once, and is cleared with its codes', async () => {
    const { id, email } = await newPerson();
    const own = ofPerson(id);
    await as(own, (transaction) => setTotp(transaction, id, 'first'));
    expect(await find(email)).toMatchObject({ totpSecret: null });
    expect(await as(own, findPendingTotp)).toBe('first');
    expect(await as(own, (transaction) => confirmTotp(transaction, id, 100))).toBe(true);
    expect(await as(own, (transaction) => confirmTotp(transaction, id, 101))).toBe(false);
    expect(await find(email)).toMatchObject({ totpSecret: 'first', totpLastStep: 100 });
    const takes = await Promise.all([100, 101, 101, 99].map((step) => here((transaction) => takeTotpStep(transaction, id, step)))); // prettier-ignore
    expect(takes.filter(Boolean)).toHaveLength(1);
    await as(own, (transaction) => setTotp(transaction, id, 'second'));
    expect(await find(email)).toMatchObject({ totpSecret: 'first', totpLastStep: 101 });
    await as(own, (transaction) => saveRecoveryCodes(transaction, id, [HASH, OTHER_HASH]));
    expect(await as(own, (transaction) => describeCredentials(transaction, id))).toEqual({ hasPassword: false, hasTotp: true, recoveryCodes: 2, lockedUntil: null, passwordChangedAt: null }); // prettier-ignore
    expect(await here((transaction) => clearTotp(transaction, id))).toBe(true);
    expect(await here((transaction) => clearTotp(transaction, id))).toBe(false);
    expect(await find(email)).toMatchObject({ totpSecret: null, totpLastStep: null });
    expect(await here((transaction) => takeTotpStep(transaction, id, 999))).toBe(false);
    expect(await here((transaction) => describeCredentials(transaction, id))).toMatchObject({ recoveryCodes: 0 });
    expect(await actionsOn(id)).toEqual(['create', 'map', 'confirm_totp', 'save_recovery_codes', 'clear_totp']);
  });

  it('shows the secret that waits of the person itself alone', async () => {
    const { id } = await newPerson();
    await as(ofPerson(id), (transaction) => setTotp(transaction, id, 'secret'));
    expect(await here(findPendingTotp)).toBeUndefined();
    expect(await as(ofPerson((await newPerson()).id), findPendingTotp)).toBeUndefined();
  });

  it('has recovery codes that work once, and no longer once they are replaced', async () => {
    const { id } = await newPerson();
    const save = (...hashes: string[]) => here((transaction) => saveRecoveryCodes(transaction, id, hashes));
    const take = (hash: string) => here((transaction) => takeRecoveryCode(transaction, id, hash));
    await save(HASH, HASH, OTHER_HASH);
    const takes = await Promise.all(Array.from({ length: 5 }, () => take(HASH)));
    expect(takes.filter(Boolean)).toHaveLength(1);
    await save();
    expect(await take(OTHER_HASH)).toBe(false);
    await save(...Array.from({ length: 25 }, (_, index) => index.toString(16).padStart(64, '0')));
    expect(await here((transaction) => describeCredentials(transaction, id))).toMatchObject({ recoveryCodes: 20 });
  });
});

it('V24: changes of credentials reach the person itself and whom an access sees, and nobody else', async () => {
  const { id, email } = await newPerson(['sales']);
  const stranger = await newPerson([]);
  const elsewhere = await workspace.addWorkspace('other-company');
  const link = { userId: id, purpose: 'reset', selector: randomUUID(), tokenHash: HASH, expiresAt: '2099-01-01T00:00:00.000Z' } as const; // prettier-ignore
  const changes: readonly ((transaction: Transaction, id: string) => Promise<unknown>)[] = [
    (transaction, userId) => setPassword(transaction, userId, 'theirs'),
    (transaction, userId) => createUserLink(transaction, { ...link, userId }),
    (transaction, userId) => admitSignIn(transaction, userId, { lockAfter: 1, lockSeconds: 60 }),
    (transaction, userId) => noteSignIn(transaction, userId),
    (transaction, userId) => setTotp(transaction, userId, 'theirs'),
    (transaction, userId) => saveRecoveryCodes(transaction, userId, [HASH]),
  ];
  const silent: readonly ((transaction: Transaction, id: string) => Promise<unknown>)[] = [
    (transaction, userId) => confirmTotp(transaction, userId, 1),
    (transaction, userId) => takeTotpStep(transaction, userId, 1),
    clearTotp,
    (transaction, userId) => takeRecoveryCode(transaction, userId, HASH),
    async (transaction, userId) => (await describeCredentials(transaction, userId)) !== undefined,
  ];
  for (const access of [workspace.restrictedTo('eu'), workspace.restrictedTo(), ofPerson(stranger.id), elsewhere]) {
    for (const change of changes) await expect(as(access, (transaction) => change(transaction, id))).rejects.toMatchObject({ code: 'user_not_found' }); // prettier-ignore
    for (const change of silent) expect(await as(access, (transaction) => change(transaction, id))).toBe(false);
  }
  for (const userId of [UNKNOWN_ID, 'x']) {
    for (const change of changes) await expect(here((transaction) => change(transaction, userId))).rejects.toMatchObject({ code: 'user_not_found' }); // prettier-ignore
    for (const change of silent) expect(await here((transaction) => change(transaction, userId))).toBe(false);
  }
  expect(await find(email)).toMatchObject({ passwordHash: null, failedAttempts: 0, totpSecret: null });
  for (const access of [workspace.restrictedTo('sales'), ofPerson(id)]) for (const change of changes) await as(access, (transaction) => change(transaction, id)); // prettier-ignore
  expect(await find(email)).toMatchObject({ passwordHash: 'theirs' });
});

it('whom an address belongs to is found by an index among many', async () => {
  await asOwner(workspace.url, `insert into users (workspace_id, email, role, password_hash) select '${workspace.access.workspaceId}', 'many-' || n || '@example.com', 'viewer', 'h' from generate_series(1, 3000) as n`); // prettier-ignore
  await asOwner(workspace.url, 'analyze users, user_credentials, user_links');
  const planOf = async (name: string, values: Readonly<Record<string, string>>): Promise<string> => {
    const [row] = await asOwner(workspace.url, `select prosrc from pg_proc where proname = '${name}'`);
    const sql = Object.entries(values).reduce((text, [word, value]) => text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), `'${value}'`), String(row?.['prosrc'])); // prettier-ignore
    return (await asOwner(workspace.url, `explain ${sql}`)).map((line) => String(line['QUERY PLAN'])).join('\n');
  };
  const signIn = await planOf('find_sign_in', { space: `${workspace.access.workspaceId}`, wanted: 'many-7@example.com' }); // prettier-ignore
  expect(signIn).toContain('Index Scan using users_by_email');
});
