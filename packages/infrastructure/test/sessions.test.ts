import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type Cache } from '@decision/cache';
import { cacheKeys } from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import {
  applyMapping,
  createApiKey,
  createSession,
  type Database,
  deleteUser,
  dropDatabase,
  ensureWorkspace,
  provisionPerson,
  revokeSession,
  type Transaction,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import {
  type Authenticator,
  cacheSettings,
  createLogger,
  createMetrics,
  createStopper,
  databaseSettings,
  generateApiKey,
  httpSettings,
  identifyCaller,
  readConfig,
  sessionSettings,
} from '@decision/service-kit';
import { createSessionTokens } from '@decision/sessions';
import { accessOf, openAuthenticator, openStores } from '../src';

/* Sessions of people, on a real database and a real channel: who is let in, and how soon a change is effective (specification: "Token passthrough mode"). */

const SECRET = 'a secret of the tests, 32 characters at least';
const PREVIOUS = 'the secret that was used before that one was made';
const settings = { ...httpSettings(0), ...databaseSettings, ...cacheSettings, ...sessionSettings };
const logger = createLogger({ service: 'sessions', level: 'silent' });
const stopper = createStopper();
const databaseName = testStack().uniqueName('sessions');
const [HOUR_MS, NOBODY] = [3_600_000, '00000000-0000-4000-8000-000000000000'];

let database: Database;
let cache: Cache;
let authenticator: Authenticator;
let workspaceId: string;
let apiKey: string;
beforeAll(async () => {
  const databaseUrl = await createMigratedDatabase(testStack().databaseUrl, databaseName);
  const environment = {
    ...{ DATABASE_URL: databaseUrl, CACHE_URL: testStack().cacheUrl, CACHE_KEY_PREFIX: databaseName },
    ...{ JWT_SECRET: SECRET, JWT_SECRET_PREVIOUS: PREVIOUS },
  };
  const config = readConfig(settings, environment);
  const metrics = createMetrics('objects-api');
  ({ database, cache } = await openStores({ name: 'objects-api', config, logger, metrics, stopper }));
  authenticator = openAuthenticator({ database, cache, config, logger, metrics });
  ({ id: workspaceId } = await ensureWorkspace(databaseUrl, { slug: 'ours', name: 'Ours' }));
  const key = generateApiKey(randomBytes);
  apiKey = key.apiKey;
  const given = { name: 'One', role: 'solver', userGroups: [], expiresAt: null };
  await inside((transaction) => createApiKey(transaction, { ...given, selector: key.selector, secretHash: key.secretHash }));
}); // prettier-ignore
afterAll(async () => {
  await stopper.stop();
  await dropDatabase(testStack().databaseUrl, databaseName);
});

const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  database.inWorkspace({ workspaceId, userGroups: undefined }, work);

/** A new person, child of the administrator. */
const newPerson = async (): Promise<string> => {
  const named = { email: `${randomUUID()}@example.com`, adminEmail: 'boss@example.com', name: 'Ada' };
  const identity = { ...named, externalSub: null, externalClaims: {} };
  return (await inside((transaction) => provisionPerson(transaction, identity))).person.id;
};

interface Signing {
  readonly secret?: string;
  readonly lifeMs?: number;
}

/** A new session of a person, and its token. */
const signIn = async (userId: string, { secret = SECRET, lifeMs = HOUR_MS }: Signing = {}) => {
  const expiresAt = Date.now() + lifeMs;
  const row = { userId, method: 'passthrough', address: null, userAgent: null } as const;
  const sessionId = await inside((transaction) =>
    createSession(transaction, { ...row, expiresAt: new Date(expiresAt).toISOString() }),
  );
  const tokens = createSessionTokens({ secret, now: Date.now });
  return { sessionId, token: await tokens.mint({ userId, sessionId, expiresAt }) };
};

const ask = (headers: Readonly<Record<string, string>>, method = 'GET') =>
  identifyCaller(authenticator, method, headers, '127.0.0.1');
const withCookie = (token: string) => ({ cookie: `decision_session=${token}` });
const refused = (code: string) => expect.objectContaining({ code }) as Error;
const isRefused = (token: string): Promise<boolean> =>
  ask(withCookie(token)).then(() => false, () => true); // prettier-ignore

it('lets a person in by the cookie and by the header, with the rights of the row', async () => {
  const userId = await newPerson();
  const { token } = await signIn(userId);
  for (const headers of [withCookie(token), { 'x-decision-session': token }]) {
    const identity = await ask(headers);
    expect(identity).toMatchObject({ userId, workspaceId, actor: `user:${userId}`, role: 'developer' });
    expect(identity.entitlements.has('rules.write')).toBe(true);
    expect(identity.entitlements.has('keys.manage')).toBe(false);
    const sql = `select current_setting('app.user_id') as person, current_setting('app.user_groups') as groups`;
    const { rows } = await database.inWorkspace(accessOf(identity), (transaction) => transaction.raw(sql));
    expect(rows).toEqual([{ person: userId, groups: '*' }]);
  }
}); // prettier-ignore

it('accepts what was signed with the previous secret', async () => {
  const { token } = await signIn(await newPerson(), { secret: PREVIOUS });
  expect(await ask(withCookie(token))).toMatchObject({ workspaceId });
});

it('never falls back to a session if a key was sent, be it wrong or empty', async () => {
  const { token } = await signIn(await newPerson());
  for (const wrong of ['wrong', `${apiKey.slice(0, -1)}!`, ''])
    await expect(ask({ ...withCookie(token), 'x-api-key': wrong })).rejects.toThrow(
      refused(wrong === '' ? 'missing_api_key' : 'invalid_api_key'),
    );
  expect((await ask({ ...withCookie(token), 'x-api-key': apiKey })).userId).toBeUndefined();
});

it('asks for a key if a request carries neither', async () => {
  await expect(ask({ cookie: 'theme=dark' })).rejects.toThrow(refused('missing_api_key'));
});

describe('a session is refused', () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const handMade = (header: object, payload: object): string => {
    const text = `${encode(header)}.${encode(payload)}`;
    return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
  };
  const exp = Math.floor(Date.now() / 1_000) + 3_600;

  it.each<[string, () => Promise<string>]>([
    ['that was signed with another secret', async () => (await signIn(await newPerson(), { secret: 'x'.repeat(40) })).token],
    ['that has expired', async () => (await signIn(await newPerson(), { lifeMs: -10_000 })).token],
    ['of a user who was deleted', async () => {
      const userId = await newPerson();
      const { token } = await signIn(userId);
      await inside((transaction) => deleteUser(transaction, userId));
      return token;
    }],
    ['that was revoked', async () => {
      const { token, sessionId } = await signIn(await newPerson());
      await inside((transaction) => revokeSession(transaction, sessionId));
      return token;
    }],
    ['that was never begun', () => createSessionTokens({ secret: SECRET, now: Date.now }).mint({ userId: NOBODY, sessionId: randomUUID(), expiresAt: Date.now() + HOUR_MS })],
    ['of somebody else than its row says', async () => {
      const { sessionId } = await signIn(await newPerson());
      return createSessionTokens({ secret: SECRET, now: Date.now }).mint({ userId: await newPerson(), sessionId, expiresAt: Date.now() + HOUR_MS });
    }],
    ['with alg: none', async () => {
      const { sessionId } = await signIn(await newPerson());
      return `${encode({ alg: 'none' })}.${encode({ sub: NOBODY, jti: sessionId, aud: 'decision-service-session', exp })}.`;
    }],
    ['that is a key of an identity stack with the same secret', () => Promise.resolve(handMade({ alg: 'HS256', typ: 'JWT' }, { role: 'service_role', iss: 'identity', sub: NOBODY, jti: randomUUID(), exp }))],
    ['that is cut', async () => (await signIn(await newPerson())).token.slice(0, -5)],
    ['that is no token', () => Promise.resolve('../../etc/passwd')],
  ])('%s', async (_, make) => {
    const token = await make();
    await expect(ask(withCookie(token))).rejects.toThrow(refused('invalid_session'));
    await expect(ask({ 'x-decision-session': token })).rejects.toThrow(refused('invalid_session'));
  }); // prettier-ignore

  it('of which there are two, or that is a cookie of 100 kB', async () => {
    const [one, other] = [await signIn(await newPerson()), await signIn(await newPerson())];
    const doubled = { cookie: `decision_session=${one.token}; decision_session=${other.token}` };
    await expect(async () => ask(doubled)).rejects.toThrow(refused('invalid_session'));
    await expect(async () => ask(withCookie('a'.repeat(100_000)))).rejects.toThrow(refused('invalid_session'));
  });

  it('if another site made the browser change something, and not if it reads', async () => {
    const { token } = await signIn(await newPerson());
    const foreign = { ...withCookie(token), host: 'decisions.example.com', origin: 'https://evil.example' };
    await expect(async () => ask(foreign, 'POST')).rejects.toThrow(refused('cross_site_request'));
    expect(await ask(foreign, 'GET')).toMatchObject({ workspaceId });
    expect(await ask({ ...foreign, 'x-api-key': apiKey }, 'POST')).toMatchObject({ role: 'solver' });
  });
});

describe('a change is effective at once, by the channel', () => {
  beforeAll(() => waitUntil(() => cache.status().channel.ready));
  const announce = (key: string) =>
    cache.invalidations.publish({ v: 1, kind: 'user', workspace_id: workspaceId, keys: [key] });

  it('of the role and the groups of a person', async () => {
    const userId = await newPerson();
    const { token } = await signIn(userId);
    expect(await ask(withCookie(token))).toMatchObject({ role: 'developer', userGroups: undefined });
    await inside((transaction) => applyMapping(transaction, userId, { role: 'viewer', userGroups: ['sales'] }));
    // A verified session stays valid until the message arrives, for a minute at most.
    expect(await ask(withCookie(token))).toMatchObject({ role: 'developer' });
    await announce(cacheKeys.user(userId));
    await waitUntil(async () => (await ask(withCookie(token))).role === 'viewer');
    expect(await ask(withCookie(token))).toMatchObject({ userGroups: ['sales'] });
  });

  it('of a session that ends, and of no other', async () => {
    const userId = await newPerson();
    const [gone, kept] = [await signIn(userId), await signIn(userId)];
    await Promise.all([ask(withCookie(gone.token)), ask(withCookie(kept.token))]);
    await inside((transaction) => revokeSession(transaction, gone.sessionId));
    await announce(cacheKeys.session(gone.sessionId));
    await waitUntil(() => isRefused(gone.token));
    expect(await isRefused(kept.token)).toBe(false);
  });
});

it('a person who is deleted reads nothing more, whatever a process remembers', async () => {
  const userId = await newPerson();
  const { token } = await signIn(userId);
  const identity = await ask(withCookie(token));
  await inside((transaction) => deleteUser(transaction, userId));
  expect(await ask(withCookie(token))).toBe(identity);
  await expect(database.inWorkspace(accessOf(identity), () => Promise.resolve())).rejects.toThrow(refused('invalid_session'));
}); // prettier-ignore
