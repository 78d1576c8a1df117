import { request } from 'node:http';
import {
  call,
  type AdapterUnderTest,
  cookieOf,
  passthroughEnvironment,
  startAdapter,
  tokenOf,
} from './adapter-under-test';

let adapter: AdapterUnderTest;
beforeAll(async () => {
  adapter = await startAdapter({ ...passthroughEnvironment, EXTERNAL_AUTH_PUBLIC_PATHS: '/public' });
});
afterAll(() => adapter.stop());
beforeEach(() => {
  adapter.mapping = () => Promise.resolve({ selectors: [], changed: false });
});

type Headers = Readonly<Record<string, string>>;

/** Asks like an ingress about a request with these headers. */
const check = (headers: Headers, url = adapter.url): Promise<Response> =>
  call(`${url}/auth/check`, { headers: { 'x-forwarded-uri': '/api/v1/admin/keys/list', ...headers } });
const bearer = (claims: object): Headers => ({ authorization: `Bearer ${tokenOf(claims)}` });

const subjectOf = (token: string | null): unknown =>
  (JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()) as { sub?: unknown }).sub;

const userOf = async (email: string): Promise<Record<string, unknown> | undefined> =>
  (await adapter.sql(`select * from users where email = '${email}'`))[0];
const sessionsOf = async (email: string): Promise<number> =>
  (await adapter.sql(`select s.id from sessions s join users u on u.id = s.user_id where u.email = '${email}'`)).length;

describe('step 1: without a token', () => {
  it('is refused with the exact message', async () => {
    const answer = await check({});
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Missing authentication token' }]);
    expect(answer.headers.get('x-decision-session')).toBeNull();
  });
});

describe('step 2: a token of other parts', () => {
  it.each(['a.b', 'a.b.c.d', 'abc', 'e30.e30.'])('%s is refused with the exact message', async (token) => {
    const answer = await check({ authorization: `Bearer ${token}` });
    expect(answer.status).toBe(401);
    const { error } = (await answer.json()) as { error: string };
    expect(error).toBe(token === 'e30.e30.' ? 'Token missing required email claim' : 'Invalid token format');
  });

  it('two token headers are refused, since it is unknown which one the proxy wrote', async () => {
    const { hostname, port } = new URL(adapter.url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const token = `Bearer ${tokenOf({ email: 'two@example.com' })}`;
      request(
        { hostname, port, path: '/auth/check', headers: ['host', 'x', 'authorization', token, 'Authorization', token] },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      )
        .once('error', reject)
        .end();
    });
    expect(status).toBe(401);
    expect(await userOf('two@example.com')).toBeUndefined();
  });
});

describe('step 3: the email claim', () => {
  it('creates a person once, in any case, and stores it as it was written', async () => {
    const first = await check(bearer({ email: 'Ada.L@Example.com' }));
    const second = await check(bearer({ email: 'ada.l@example.COM' }));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(subjectOf(second.headers.get('x-decision-session'))).toBe(
      subjectOf(first.headers.get('x-decision-session')),
    );
    expect(await adapter.sql(`select email from users where lower(email) = 'ada.l@example.com'`)).toEqual([
      { email: 'Ada.L@Example.com' },
    ]);
  });

  it('that is absent is refused with the exact message', async () => {
    const answer = await check(bearer({ sub: 'x' }));
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Token missing required email claim' }]);
  });

  it('a hundred concurrent first requests to two processes make one user', async () => {
    const other = await adapter.beside();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        check(
          bearer({ email: index % 3 === 0 ? 'Crowd@example.com' : 'crowd@example.com', n: index }),
          index % 2 === 0 ? adapter.url : other.url,
        ),
      ),
    );
    await other.stop();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await adapter.sql(`select id from users where lower(email) = 'crowd@example.com'`)).toHaveLength(1);
    expect(new Set(answers.map(({ headers }) => subjectOf(headers.get('x-decision-session')))).size).toBe(1);
  });
});

describe('step 4: the session', () => {
  it("is a cookie of one day with a token whose subject is the user's id", async () => {
    const answer = await check(bearer({ email: 'session@example.com' }));
    const user = await userOf('session@example.com');
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^decision_session=[\w.-]+; Path=\/; Max-Age=(86400|86399|86398); HttpOnly; SameSite=Lax$/);
    expect(subjectOf(answer.headers.get('x-decision-session'))).toBe(user?.['id']);
    expect(cookie).toContain(answer.headers.get('x-decision-session'));
  });

  it('has the prefix __Host- if the browser comes over TLS', async () => {
    const answer = await check({ ...bearer({ email: 'tls@example.com' }), 'x-forwarded-proto': 'https' });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^__Host-decision_session=.*; Secure$/);
  });
});

describe('step 5: later requests', () => {
  it('of the same identity with its cookie cause no work and get no cookie, even with another token', async () => {
    const first = await check(bearer({ email: 'later@example.com', iat: 1 }));
    const before = await userOf('later@example.com');
    const cookie = cookieOf(first) ?? '';
    const later = await check({ ...bearer({ email: 'Later@example.com', iat: 2, team: 'x' }), cookie });
    expect([later.status, later.headers.getSetCookie()]).toEqual([200, []]);
    expect(later.headers.get('x-decision-session')).toBe(first.headers.get('x-decision-session'));
    expect(await userOf('later@example.com')).toEqual(before);
    expect(await sessionsOf('later@example.com')).toBe(1);
  });

  it('are recognized by another process by the cookie', async () => {
    const other = await adapter.beside();
    const first = await check(bearer({ email: 'replica@example.com' }));
    const later = await check(
      { ...bearer({ email: 'replica@example.com', iat: 2 }), cookie: cookieOf(first) ?? '' },
      other.url,
    );
    await other.stop();
    expect([later.status, later.headers.getSetCookie()]).toEqual([200, []]);
    expect(await sessionsOf('replica@example.com')).toBe(1);
  });

  it('of the same identity without a cookie get the same session', async () => {
    const first = await check(bearer({ email: 'program@example.com' }));
    const later = await check(bearer({ email: 'program@example.com' }));
    expect(cookieOf(later)).toBe(cookieOf(first));
    expect(await sessionsOf('program@example.com')).toBe(1);
  });

  it('of another identity, with the cookie of another person, begin a new session', async () => {
    const first = await check(bearer({ email: 'one@example.com' }));
    const other = await check({ ...bearer({ email: 'other@example.com' }), cookie: cookieOf(first) ?? '' });
    const user = await userOf('other@example.com');
    expect(subjectOf(other.headers.get('x-decision-session'))).toBe(user?.['id']);
    expect(cookieOf(other)).toContain(other.headers.get('x-decision-session'));
  });

  it.each(['decision_session=cut.off', 'decision_session=a; decision_session=b', `x=${'y'.repeat(30_000)}`])(
    'with the cookie %.40s begin a new session',
    async (cookie) => {
      const answer = await check({ ...bearer({ email: 'broken@example.com' }), cookie });
      expect([answer.status, answer.headers.getSetCookie().length]).toEqual([200, 1]);
    },
  );

  it('with headers of 100 kB are refused with a sentence', async () => {
    const answer = await check({ ...bearer({ email: 'big@example.com' }), cookie: `x=${'y'.repeat(100_000)}` });
    expect([answer.status, await answer.json()]).toMatchObject([431, { code: 'headers_too_large' }]);
  });

  it("a session in a client's header is ignored", async () => {
    const first = await check(bearer({ email: 'victim@example.com' }));
    const session = first.headers.get('x-decision-session') ?? '';
    const answer = await check({ ...bearer({ email: 'thief@example.com' }), 'x-decision-session': session });
    expect(answer.headers.get('x-decision-session')).not.toBe(session);
  });

  it('changed claims apply when a new session begins', async () => {
    const first = await check(bearer({ email: 'claims@example.com', team: 'old' }));
    const cookie = cookieOf(first) ?? '';
    await check({ ...bearer({ email: 'claims@example.com', team: 'new' }), cookie });
    const claims = async (): Promise<unknown> =>
      ((await userOf('claims@example.com'))?.['user_metadata'] as { external_claims?: unknown }).external_claims;
    expect(await claims()).toEqual({ email: 'claims@example.com', team: 'old' });
    await call(`${adapter.url}/auth/signout`, { method: 'POST', headers: { cookie } });
    await check(bearer({ email: 'claims@example.com', team: 'new' }));
    expect(await claims()).toEqual({ email: 'claims@example.com', team: 'new' });
  });
});

it('step 6: sub, claims and name are stored in the metadata of the user', async () => {
  const claims = { email: 'meta@example.com', sub: 'dir|7', name: 'Meta Data', groups: ['a', { b: [1] }] };
  await check(bearer(claims));
  expect((await userOf('meta@example.com'))?.['user_metadata']).toMatchObject({
    external_sub: 'dir|7',
    external_claims: claims,
    full_name: 'Meta Data',
  });
});

describe('step 7: exempt requests', () => {
  it.each(['/api/health', '/api/metrics', '/auth/denied', '/api/self-hosted-branding', '/public/x?y=/../'])(
    '%s passes without a token and without a session',
    async (path) => {
      for (const header of ['x-forwarded-uri', 'x-original-uri']) {
        const answer = await check({ 'x-forwarded-uri': path, [header]: path });
        expect([answer.status, answer.headers.get('x-decision-session')]).toEqual([200, null]);
      }
      // Envoy appends the path to that of the check, and asks with the method of the request.
      expect((await call(`${adapter.url}/auth/check${path}`, { method: 'POST' })).status).toBe(200);
    },
  );

  it.each(['/api/healthz', '/public/../api', '/public%2f..%2fapi', '/public//api', '/publication'])(
    '%s does not',
    async (path) => {
      expect((await check({ 'x-forwarded-uri': path })).status).toBe(401);
    },
  );

  it('a request with an API key passes with any token', async () => {
    const answer = await check({ 'x-api-key': 'anything', authorization: 'Bearer nonsense' });
    expect([answer.status, answer.headers.get('x-decision-session')]).toEqual([200, null]);
  });

  it('the page for denied people and the branding are shown without a token', async () => {
    for (const path of ['/auth/denied', '/api/self-hosted-branding'])
      expect((await call(`${adapter.url}${path}`)).status).toBe(200);
  });
});

describe('step 8: signing out', () => {
  const signOut = (headers: Headers): Promise<Response> =>
    call(`${adapter.url}/auth/signout`, { method: 'POST', headers });

  it('clears the cookie and ends the session, and the next request begins another one', async () => {
    const first = await check(bearer({ email: 'out@example.com' }));
    const out = await signOut({ cookie: cookieOf(first) ?? '' });
    expect([out.status, out.headers.get('location')]).toEqual([303, '/dashboard']);
    expect(out.headers.getSetCookie()[0]).toMatch(/^decision_session=; Path=\/; Max-Age=0/);
    const next = await check({ ...bearer({ email: 'out@example.com' }), cookie: cookieOf(first) ?? '' });
    expect([next.status, next.headers.getSetCookie().length]).toEqual([200, 1]);
    expect(next.headers.get('x-decision-session')).not.toBe(first.headers.get('x-decision-session'));
    expect(await sessionsOf('out@example.com')).toBe(2);
  });

  it('is refused from another site', async () => {
    expect((await signOut({ origin: 'https://evil.example' })).status).toBe(403);
  });
});

it('step 9: the dashboard shows the person, and no way to sign in or out', async () => {
  const answer = await call(`${adapter.url}/dashboard`, {
    headers: bearer({ email: 'page@example.com', name: '<script>alert(1)</script>' }),
  });
  const text = await answer.text();
  expect(answer.status).toBe(200);
  expect(answer.headers.getSetCookie()).toHaveLength(1);
  expect(text).toContain('page@example.com');
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toMatch(/<script|signin|signout|Sign out/);
  expect(text).toContain('data-external-auth-token-passthrough="true"');
  expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'/);
});

describe('people', () => {
  it('are children of one admin, whose row waits for its address', async () => {
    await check(bearer({ email: 'child@example.com' }));
    const admin = (await adapter.sql('select * from users where is_admin'))[0];
    expect(admin).toMatchObject({ email: 'Admin@example.com', parent_id: null });
    expect(await userOf('child@example.com')).toMatchObject({ role: 'developer', parent_id: admin?.['id'] });
    const answer = await check(bearer({ email: 'admin@example.com', name: 'Grace' }));
    expect(subjectOf(answer.headers.get('x-decision-session'))).toBe(admin?.['id']);
    expect(await adapter.sql(`select name, role from users where lower(email) = 'admin@example.com'`)).toEqual([
      { name: 'Grace', role: 'admin' },
    ]);
  });

  it('whom the access mapping rejects are redirected to /auth/denied and keep no session', async () => {
    adapter.mapping = () => Promise.resolve({ denied: 'your team is not let in.', selectors: [], changed: false });
    const answer = await check(bearer({ email: 'reject@example.com' }));
    expect([answer.status, await answer.json()]).toMatchObject([403, { reason: 'access_denied' }]);
    expect(answer.headers.getSetCookie()[0]).toContain('Max-Age=0');
    const browser = await call(`${adapter.url}/auth/check?redirects=true`, {
      headers: { ...bearer({ email: 'reject@example.com' }), accept: 'text/html,*/*' },
    });
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/auth/denied']);
    expect(await sessionsOf('reject@example.com')).toBe(0);
    expect(await adapter.sql(`select outcome from sign_ins where email = 'reject@example.com'`)).toContainEqual({
      outcome: 'refused',
    });
  });

  it('who are disabled are refused, with a session and without', async () => {
    await check(bearer({ email: 'disabled@example.com' }));
    await adapter.sql(`update users set disabled_at = now() where email = 'disabled@example.com'`);
    const other = await adapter.beside();
    const answer = await check(bearer({ email: 'disabled@example.com' }), other.url);
    await other.stop();
    expect([answer.status, await answer.json()]).toMatchObject([403, { reason: 'user_disabled' }]);
  });
});

describe('their own claims', () => {
  const claims = { email: 'own@example.com', sub: 's', name: 'Own', role: 'developer' };
  const provision = (identity_claims: unknown, headers: Headers = {}): Promise<Response> =>
    call(`${adapter.url}/api/sso-provision`, {
      method: 'POST',
      headers: { ...bearer(claims), 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ identity_claims }),
    });

  it('are answered as stored', async () => {
    const answer = await call(`${adapter.url}/api/passthrough-claims`, { headers: bearer(claims) });
    expect(await answer.json()).toEqual({ external_sub: 's', external_claims: claims, full_name: 'Own' });
  });

  it('reapply the mapping if they equal the stored ones', async () => {
    await check(bearer(claims));
    const asked: unknown[] = [];
    adapter.mapping = (_transaction, _user, given) => {
      asked.push(given);
      return Promise.resolve({ selectors: [], changed: true });
    };
    const answer = await provision({ ...claims });
    expect([answer.status, await answer.json()]).toMatchObject([200, { role: 'developer', changed: true }]);
    expect(asked).toEqual([claims]);
  });

  it.each([
    [{ ...claims, role: 'admin' }],
    [{ email: claims.email }],
    [{}],
    [{ ...claims, email: 'admin@example.com' }],
  ])('are refused if they differ: %j', async (given) => {
    const answer = await provision(given);
    expect([answer.status, await answer.json()]).toMatchObject([403, { reason: 'foreign_claims' }]);
  });

  it.each([[undefined], [7], [[]], [null], ['x']])('are refused if they are not an object: %j', async (given) => {
    expect((await provision(given)).status).toBe(400);
  });

  it('are refused from another site, and without a token', async () => {
    expect((await provision(claims, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await provision(claims, { authorization: '' })).status).toBe(401);
  });

  it('end the session if the mapping rejects them', async () => {
    await check(bearer(claims));
    adapter.mapping = () => Promise.resolve({ denied: 'no longer.', selectors: [], changed: false });
    const answer = await provision(claims);
    expect([answer.status, answer.headers.getSetCookie()[0]]).toEqual([403, expect.stringContaining('Max-Age=0')]);
    expect(
      await adapter.sql(
        `select s.id from sessions s join users u on u.id = s.user_id where u.email = 'own@example.com' and s.revoked_at is null`,
      ),
    ).toEqual([]);
  });
});

it('without the identity store no new person is admitted, and nothing is left half done', async () => {
  adapter.mapping = () => Promise.reject(new Error('the connection broke'));
  expect((await check(bearer({ email: 'half@example.com' }))).status).toBe(500);
  expect(await userOf('half@example.com')).toBeUndefined();
});
