import { randomUUID } from 'node:crypto';
import {
  applyMapping,
  createSession,
  deleteUser,
  findSession,
  listAudit,
  listSessions,
  listSignIns,
  listUsers,
  type NewSession,
  type NewSignIn,
  provisionPerson,
  recordSignIn,
  revokeSession,
  revokeSessionsOf,
  type StoredSession,
  type Transaction,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { UNKNOWN_ID } from '../assets/rule-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('sessions');
const here = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => workspace.inside(work);
const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(access, work);
const ofPerson = (userId: string): WorkspaceAccess => ({ ...workspace.access, userId });

const EXPIRES = '2099-01-01T00:00:00.000Z';
const newPerson = async (userGroups?: readonly string[]): Promise<string> => {
  const identity = { email: `${randomUUID()}@example.com`, adminEmail: 'boss@example.com', name: 'Ada', externalSub: null, externalClaims: {} }; // prettier-ignore
  const { person } = await here((transaction) => provisionPerson(transaction, identity));
  if (userGroups) await here((transaction) => applyMapping(transaction, person.id, { userGroups }));
  return person.id;
};
const begin = (userId: string, parts: Partial<NewSession> = {}): Promise<string> =>
  here((transaction) => createSession(transaction, { userId, method: 'passthrough', expiresAt: EXPIRES, address: '192.0.2.1', userAgent: 'a browser', ...parts })); // prettier-ignore
const find = (sessionId: string): Promise<StoredSession | undefined> => findSession(workspace.database, sessionId);
const page = { limit: 100 };
const sessionsOf = async (userId: string, access = workspace.access): Promise<readonly string[]> =>
  (await as(access, (transaction) => listSessions(transaction, { userId, page }))).sessions.map(({ id }) => id);

describe('a session', () => {
  it('is found by its id with the person as it is now', async () => {
    const userId = await newPerson();
    const sessionId = await begin(userId, { method: 'oidc' });
    const found = await find(sessionId);
    expect(found).toMatchObject({
      ...{
        sessionId,
        userId,
        workspaceId: workspace.access.workspaceId,
        name: 'Ada',
        role: 'developer',
        method: 'oidc',
      },
      ...{ userGroups: [], allGroups: true, expiresAt: EXPIRES, revokedAt: null, disabledAt: null },
    });
    expect(found?.entitlements).toContain('rules.read');
    await here((transaction) => applyMapping(transaction, userId, { role: 'viewer', userGroups: ['sales'] }));
    expect(await find(sessionId)).toMatchObject({ role: 'viewer', userGroups: ['sales'], allGroups: false });
    await asOwner(workspace.url, `update users set disabled_at = clock_timestamp() where id = '${userId}'`);
    expect(await find(sessionId)).toMatchObject({ disabledAt: expect.any(String) });
  });

  it('is not found by what is no id, nor once its user is deleted', async () => {
    const userId = await newPerson();
    const sessionId = await begin(userId);
    for (const id of ['', 'x', UNKNOWN_ID, `${sessionId}'`]) expect(await find(id)).toBeUndefined();
    await here((transaction) => deleteUser(transaction, userId));
    expect(await find(sessionId)).toBeUndefined();
  });

  it('does not begin for a person who is disabled, deleted or of another workspace', async () => {
    const userId = await newPerson();
    const elsewhere = await workspace.addWorkspace('elsewhere');
    const session = { method: 'passthrough', expiresAt: EXPIRES, address: null, userAgent: null } as const;
    await expect(as(elsewhere, (transaction) => createSession(transaction, { ...session, userId }))).rejects.toMatchObject({ code: 'invalid_session' }); // prettier-ignore
    await asOwner(workspace.url, `update users set disabled_at = clock_timestamp() where id = '${userId}'`);
    for (const id of [userId, UNKNOWN_ID, 'x'])
      await expect(begin(id)).rejects.toMatchObject({ code: 'invalid_session' });
  });

  it('is counted for its person', async () => {
    const userId = await newPerson();
    await Promise.all([begin(userId), begin(userId), begin(userId)]);
    expect(await asOwner(workspace.url, `select sessions, last_session_at from user_usage where user_id = '${userId}'`)).toEqual([{ sessions: '3', last_session_at: expect.any(Date) }]); // prettier-ignore
    expect((await here(listUsers)).find(({ id }) => id === userId)).toMatchObject({ sessions: 3, lastSessionAt: expect.stringMatching(/Z$/) }); // prettier-ignore
  });

  it('keeps what a stranger sends cut to its size', async () => {
    const userId = await newPerson();
    await begin(userId, { userAgent: `\u0000\ud800${'x'.repeat(9_999)}`, address: 'y'.repeat(999) });
    const { sessions } = await here((transaction) => listSessions(transaction, { userId, page }));
    expect(sessions[0]?.userAgent).toBe(`\ufffd\ufffd${'x'.repeat(498)}`);
    expect(sessions[0]?.address).toHaveLength(100);
  });

  it('ends once a hundred newer ones of its person are live', async () => {
    const [userId, other] = [await newPerson(), await newPerson()];
    const [oldest, theirs] = [await begin(userId), await begin(other)];
    await Promise.all(Array.from({ length: 99 }, () => begin(userId)));
    expect(await find(oldest)).toMatchObject({ revokedAt: null });
    const newest = await begin(userId);
    expect(await find(oldest)).toMatchObject({ revokedAt: expect.any(String) });
    for (const id of [newest, theirs]) expect(await find(id)).toMatchObject({ revokedAt: null });
    expect(await here((transaction) => revokeSessionsOf(transaction, userId))).toHaveLength(100);
  });

  it('goes a month after its end, a few at a time', async () => {
    const userId = await newPerson();
    await asOwner(workspace.url, `insert into sessions (workspace_id, user_id, method, expires_at) select workspace_id, id, 'passthrough', clock_timestamp() - interval '31 days' from users, generate_series(1, 25) where id = '${userId}'`); // prettier-ignore
    const count = async () =>
      (await asOwner(workspace.url, `select 1 from sessions where user_id = '${userId}'`)).length;
    await begin(userId);
    expect(await count()).toBe(6);
    await begin(userId);
    expect(await count()).toBe(2);
  });
});

describe('ending sessions', () => {
  it('ends one, once, and says so in the audit under the person', async () => {
    const userId = await newPerson();
    const [one, other] = [await begin(userId), await begin(userId)];
    expect(await here((transaction) => revokeSession(transaction, one))).toEqual({ userId });
    expect(await here((transaction) => revokeSession(transaction, one))).toBeUndefined();
    for (const id of [UNKNOWN_ID, 'x']) expect(await here((transaction) => revokeSession(transaction, id))).toBeUndefined(); // prettier-ignore
    expect(await find(one)).toMatchObject({ revokedAt: expect.any(String) });
    expect(await find(other)).toMatchObject({ revokedAt: null });
    const { entries } = await here((transaction) =>
      listAudit(transaction, { kind: 'session', subjectId: userId }, page),
    );
    expect(entries).toMatchObject([{ action: 'revoke', before: { sessions: 1 } }]);
  });

  it('ends all of a person, or all but the one that asks', async () => {
    const [userId, other] = [await newPerson(), await newPerson()];
    const [first, second, third] = [await begin(userId), await begin(userId), await begin(userId)];
    const theirs = await begin(other);
    const end = (options?: { except?: string }) =>
      here((transaction) => revokeSessionsOf(transaction, userId, options));
    expect([...(await end({ except: second }))].sort()).toEqual([first, third].sort());
    expect(await sessionsOf(userId)).toEqual([second]);
    expect(await end({ except: 'x' })).toEqual([second]);
    expect(await end()).toEqual([]);
    expect(await find(theirs)).toMatchObject({ revokedAt: null });
  });
});

describe('listed sessions', () => {
  it('are the live ones of a person or of all, newest first, by pages', async () => {
    const userId = await newPerson();
    const [first, second, ended] = [await begin(userId), await begin(userId), await begin(userId)];
    await here((transaction) => revokeSession(transaction, ended));
    await begin(userId, { expiresAt: '2020-01-01T00:00:00.000Z' });
    expect(await sessionsOf(userId)).toEqual([second, first]);
    const one = await here((transaction) => listSessions(transaction, { userId, page: { limit: 1 } }));
    expect(one.sessions).toMatchObject([{ id: second, email: expect.any(String), address: '192.0.2.1', userAgent: 'a browser', method: 'passthrough' }]); // prettier-ignore
    const two = await here((transaction) => listSessions(transaction, { userId, page: { limit: 1, cursor: one.nextCursor ?? '' } })); // prettier-ignore
    expect(two).toMatchObject({ sessions: [{ id: first }], nextCursor: null });
    const all = await here((transaction) => listSessions(transaction, { page }));
    expect(all.sessions.map(({ id }) => id)).toEqual(expect.arrayContaining([first, second]));
    expect(await sessionsOf('x')).toEqual([]);
  });

  it('V23: and their ends are those of people whom an access sees; a person sees the own ones', async () => {
    const [sales, eu, nobody] = [await newPerson(['north']), await newPerson(['south']), await newPerson([])];
    const [ofSales, ofEu, ofNobody] = [await begin(sales), await begin(eu), await begin(nobody)];
    const visible = async (access: WorkspaceAccess) =>
      (await as(access, (transaction) => listSessions(transaction, { page }))).sessions.map(({ id }) => id);
    expect(await visible(workspace.restrictedTo('north'))).toEqual([ofSales]);
    expect(await visible(ofPerson(nobody))).toEqual([ofNobody]);
    expect(await visible(await workspace.addWorkspace('elsewhere'))).toEqual([]);
    expect(await as(ofPerson(sales), (transaction) => revokeSession(transaction, ofEu))).toBeUndefined();
    expect(await as(ofPerson(nobody), (transaction) => revokeSessionsOf(transaction, eu))).toEqual([]);
    expect(await as(ofPerson(nobody), (transaction) => revokeSession(transaction, ofNobody))).toEqual({
      userId: nobody,
    });
    expect(await find(ofEu)).toMatchObject({ revokedAt: null });
  });
});

describe('the account of sign-ins', () => {
  const record = (parts: Partial<NewSignIn> = {}): Promise<void> =>
    here((transaction) => recordSignIn(transaction, { email: 'ada@example.com', method: 'password', outcome: 'refused', reason: 'wrong_password', address: '192.0.2.1', userAgent: 'a browser', ...parts })); // prettier-ignore

  it('has who signed in and who was refused, newest first, by pages', async () => {
    const userId = await newPerson();
    await record();
    await record({ userId, outcome: 'succeeded', reason: undefined });
    const ofOne = await here((transaction) => listSignIns(transaction, page, { userId }));
    expect(ofOne.signIns).toMatchObject([{ userId, outcome: 'succeeded' }]);
    expect(await here((transaction) => listSignIns(transaction, page, { userId: 'x' }))).toEqual({ signIns: [], nextCursor: null }); // prettier-ignore
    const first = await here((transaction) => listSignIns(transaction, { limit: 1 }));
    expect(first.signIns).toMatchObject([{ userId, outcome: 'succeeded', reason: null, method: 'password' }]);
    const second = await here((transaction) => listSignIns(transaction, { limit: 1, cursor: first.nextCursor ?? '' }));
    expect(second.signIns).toMatchObject([{ userId: null, email: 'ada@example.com', outcome: 'refused', reason: 'wrong_password', address: '192.0.2.1' }]); // prettier-ignore
  });

  it('V23: shows a restricted access the people whom it sees, a person the own entries, and a stranger nothing', async () => {
    const [sales, nobody] = [await newPerson(['west']), await newPerson([])];
    for (const userId of [sales, nobody, undefined]) await record({ userId });
    const seen = async (access: WorkspaceAccess) =>
      (await as(access, (transaction) => listSignIns(transaction, page))).signIns.map(({ userId }) => userId);
    expect(await seen(workspace.restrictedTo('west'))).toEqual([sales]);
    expect(await seen(ofPerson(nobody))).toEqual([nobody]);
    expect(await seen(await workspace.addWorkspace('elsewhere'))).toEqual([]);
  });

  it('takes whatever a stranger sends, cut to its size', async () => {
    await record({ email: `\u0000${'e'.repeat(9_999)}`, reason: 'r'.repeat(999), userAgent: '\ud800', userId: 'x' });
    const { signIns } = await here((transaction) => listSignIns(transaction, { limit: 1 }));
    expect(signIns).toMatchObject([{ email: `\ufffd${'e'.repeat(253)}`, reason: 'r'.repeat(200), userAgent: '\ufffd', userId: null }]); // prettier-ignore
  });

  it('never changes, stays when the user is deleted, and goes after 400 days', async () => {
    const userId = await newPerson();
    await record({ userId });
    await here((transaction) => deleteUser(transaction, userId));
    await expect(here((transaction) => transaction.raw(`update sign_ins set outcome = 'succeeded'`))).rejects.toMatchObject({ cause: { sqlState: '42501' } }); // prettier-ignore
    await expect(here((transaction) => transaction.raw('delete from sign_ins'))).rejects.toMatchObject({ cause: { sqlState: '42501' } }); // prettier-ignore
    await expect(asOwner(workspace.url, `update sign_ins set outcome = 'succeeded'`)).rejects.toMatchObject({ code: '23001' }); // prettier-ignore
    expect(await asOwner(workspace.url, `select 1 from sign_ins where user_id = '${userId}'`)).toHaveLength(1);
    const old = (email: string, days: number) => asOwner(workspace.url, `insert into sign_ins (workspace_id, created_at, email, method, outcome) values ('${workspace.access.workspaceId}', clock_timestamp() - interval '${days} days', '${email}', 'oidc', 'refused')`); // prettier-ignore
    await old('399', 399);
    await old('401', 401);
    await record();
    expect(await asOwner(workspace.url, `select email from sign_ins where method = 'oidc' order by email`)).toEqual([{ email: '399' }]); // prettier-ignore
  });
});

it('a session and the address of a person are found by an index among many', async () => {
  await asOwner(
    workspace.url,
    `with made as (
      insert into users (workspace_id, email, role, password_hash)
      select '${workspace.access.workspaceId}', 'many-' || n || '@example.com', 'viewer', 'h' from generate_series(1, 3000) as n returning id, workspace_id
    )
    insert into sessions (workspace_id, user_id, method, expires_at) select workspace_id, id, 'password', '2099-01-01' from made`,
  );
  await asOwner(workspace.url, 'analyze users, sessions');
  const planOf = async (sql: string): Promise<string> =>
    (await asOwner(workspace.url, `explain ${sql}`)).map((row) => String(row['QUERY PLAN'])).join('\n');
  const bodyOf = async (name: string): Promise<string> =>
    String((await asOwner(workspace.url, `select prosrc from pg_proc where proname = '${name}'`))[0]?.['prosrc']);
  const session = (await bodyOf('find_session')).replace('wanted', `'${UNKNOWN_ID}'`);
  expect(await planOf(session)).not.toContain('Seq Scan on sessions');
  expect(await planOf(session)).not.toContain('Seq Scan on users');
  const byEmail = (await bodyOf('find_user_by_email')).replace('wanted', `'many-7@example.com'`);
  expect(await planOf(byEmail)).toContain('Index Scan using users_by_email');
});
