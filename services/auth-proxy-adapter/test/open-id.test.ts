import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readConfig } from '@decision/service-kit';
import { exportJWK, generateKeyPair, type JWTPayload, type KeyLike, SignJWT } from 'jose';
import { settings } from '../src/config';
import { type AdapterUnderTest, passthroughEnvironment, startAdapter } from './adapter-under-test';

const PUBLIC_URL = 'https://decisions.example.com';
const CALLBACK = `${PUBLIC_URL}/auth/oidc/callback`;
const environmentFor = (issuer: string): Record<string, string> => ({
  ...{ JWT_SECRET: 's'.repeat(40), ADMIN_EMAIL: 'boss@example.com', PUBLIC_URL, OIDC_ISSUER_URL: issuer },
  ...{ OIDC_CLIENT_ID: 'decisions', OIDC_CLIENT_SECRET: 'a secret & more: %', OIDC_NAME: 'Our directory' },
}); // prettier-ignore

/** A browser that keeps cookies and sees the adapter at its public address, over TLS. */
const openBrowser = (adapter: AdapterUnderTest) => {
  const jars = new Map<string, Map<string, string>>();
  const get = async (url: string): Promise<Response> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url.replace(PUBLIC_URL, adapter.url), {
      ...{
        redirect: 'manual',
        headers: { cookie, ...(origin === PUBLIC_URL ? { 'x-forwarded-proto': 'https' } : {}) },
      },
    });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  return {
    get,
    cookieHeader: () => [...(jars.get(PUBLIC_URL) ?? [])].map(([name, value]) => `${name}=${value}`).join('; '),
    cookies: () => [...(jars.get(PUBLIC_URL) ?? [])].map(([name]) => name),
    setCookie: (name: string, value: string) => jars.get(PUBLIC_URL)?.set(name, value),
    /** Follows redirects from a page until an answer, or until `until`, which is not requested. */
    visit: async (path: string, until?: string): Promise<{ readonly url: string; readonly answer: Response }> => {
      let url = `${PUBLIC_URL}${path}`;
      for (let step = 0; step < 20; step += 1) {
        const answer = await get(url);
        const location = answer.headers.get('location');
        if (location === null) return { url, answer };
        url = new URL(location, url).href;
        if (until !== undefined && url.startsWith(until)) return { url, answer };
      }
      throw new Error('The redirects do not end.');
    },
  };
};

describe('at a real provider', () => {
  let provider: ChildProcess;
  let issuer: string;
  let adapter: AdapterUnderTest;

  beforeAll(async () => {
    const script = join(__dirname, 'openid-provider.mjs');
    provider = spawn(process.execPath, [script, CALLBACK], { stdio: ['pipe', 'pipe', 'ignore'] });
    if (provider.stdout === null) throw new Error('The provider has no output.');
    const lines = createInterface(provider.stdout);
    [issuer] = (await once(lines, 'line')) as [string];
    lines.close();
    adapter = await startAdapter(environmentFor(issuer));
  });
  afterAll(async () => {
    await adapter.stop();
    provider.stdin?.end();
    await once(provider, 'exit');
  });

  const account = (sub: string, claims: object, more: object = {}) =>
    fetch(`${issuer}/account`, { method: 'PUT', body: JSON.stringify({ sub, claims, ...more }) });
  const ada = { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['staff'] };

  it("a person signs in, gets a session, and has the claims' identity", async () => {
    await account('ada-1', ada);
    const browser = openBrowser(adapter);
    expect(await (await browser.get(`${PUBLIC_URL}/auth/signin`)).text()).toContain('Sign in with Our directory');
    const { url, answer } = await browser.visit('/auth/oidc');
    expect([url, answer.status]).toEqual([`${PUBLIC_URL}/dashboard`, 200]);
    expect(await answer.text()).toContain('ada@example.com');
    expect(browser.cookies()).toEqual(['__Host-decision_session']);
    const [person] = await adapter.sql(`select role, user_metadata, (select method from sessions where user_id = users.id) as method from users where email = 'ada@example.com'`); // prettier-ignore
    expect(person).toMatchObject({
      ...{ role: 'developer', method: 'oidc' },
      user_metadata: { external_sub: 'ada-1', full_name: 'Ada', external_claims: { groups: ['staff'] } },
    });
    expect(await adapter.sql(`select method, outcome from sign_ins where email = 'ada@example.com'`)).toEqual([{ method: 'oidc', outcome: 'succeeded' }]); // prettier-ignore
  });

  it('a person whom the mapping refuses, or who is disabled, is redirected to /auth/denied without a session', async () => {
    await account('eve-1', { ...ada, email: 'eve@example.com' });
    const mapping = adapter.mapping;
    adapter.mapping = () => Promise.resolve({ denied: 'no group', selectors: [], changed: false });
    const browser = openBrowser(adapter);
    expect((await browser.visit('/auth/oidc')).url).toBe(`${PUBLIC_URL}/auth/denied`);
    adapter.mapping = mapping;
    await adapter.sql(`update users set disabled_at = now() where email = 'eve@example.com'`);
    expect((await browser.visit('/auth/oidc')).url).toBe(`${PUBLIC_URL}/auth/denied`);
    expect(
      await adapter.sql(`select outcome, reason from sign_ins where email = 'eve@example.com' order by created_at, id`),
    ).toEqual([
      { outcome: 'refused', reason: 'access mapping' },
      { outcome: 'refused', reason: 'user_disabled' },
    ]);
    expect(browser.cookies()).toEqual([]);
    expect(await adapter.sql(`select count(*)::int as count from sessions s join users u on u.id = s.user_id where email = 'eve@example.com'`)).toEqual([{ count: 0 }]); // prettier-ignore
  });

  it.each([
    ['an address that is not verified', { ...ada, email: 'unverified@example.com', email_verified: false }],
    ['an address of which nothing is said', { email: 'unsaid@example.com' }],
    ['no address', { email_verified: true, name: 'Nobody' }],
    ['an address that is none', { email: ['ada@example.com'], email_verified: true }],
  ])('admits nobody with %s', async (_what, claims) => {
    await account('somebody', claims);
    const browser = openBrowser(adapter);
    const { url, answer } = await browser.visit('/auth/oidc');
    expect([url.startsWith(CALLBACK), answer.status, browser.cookies()]).toEqual([true, 401, []]);
    const refused = await adapter.sql(`select reason from sign_ins where email in ('unverified@example.com', 'unsaid@example.com') order by created_at`); // prettier-ignore
    for (const { reason } of refused) expect(reason).toBe('address not verified');
    if ('email' in claims && typeof claims.email === 'string') expect(refused.length).toBeGreaterThan(0);
    expect(await answer.text()).toContain('password of this service');
  });

  it('a person who is refused by the provider sees why', async () => {
    await account('ada-1', ada, { refuses: true });
    const browser = openBrowser(adapter);
    const { answer } = await browser.visit('/auth/oidc');
    expect([answer.status, browser.cookies()]).toEqual([401, []]);
  });

  it('a callback is valid once, and only for the browser that began it', async () => {
    await account('ada-1', ada);
    const [browser, thief] = [openBrowser(adapter), openBrowser(adapter)];
    const { url } = await browser.visit('/auth/oidc', CALLBACK);
    expect((await thief.get(url)).status).toBe(400);
    await thief.visit('/auth/oidc', CALLBACK);
    expect((await thief.get(url)).status).toBe(400);
    expect((await browser.get(url)).status).toBe(303);
    expect((await browser.get(url)).status).toBe(400);
  });

  it('a used code begins no second session, even with the cookie of its browser', async () => {
    await account('ada-1', ada);
    const browser = openBrowser(adapter);
    const { url } = await browser.visit('/auth/oidc', CALLBACK);
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(browser.cookieHeader()) ?? [];
    expect((await browser.get(url)).status).toBe(303);
    browser.setCookie(name, value);
    expect((await browser.get(url)).status).toBe(400);
  });

  it('an inconsistent callback is refused: no code, another state, another issuer, a truncated cookie', async () => {
    await account('ada-1', ada);
    const answers = [];
    for (const change of [
      (url: URL) => url.searchParams.delete('code'),
      (url: URL) => url.searchParams.set('state', 'another'),
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
      (url: URL) => url.searchParams.append('state', 'twice'),
      (url: URL) => url.searchParams.set('code', 'x'.repeat(9_000)),
    ]) {
      const browser = openBrowser(adapter);
      const url = new URL((await browser.visit('/auth/oidc', CALLBACK)).url);
      change(url);
      answers.push((await browser.get(url.href)).status);
      expect(browser.cookies()).toEqual([]);
    }
    const browser = openBrowser(adapter);
    const { url } = await browser.visit('/auth/oidc', CALLBACK);
    browser.setCookie('__Host-decision_oidc', 'cut');
    answers.push((await browser.get(url)).status);
    expect(answers).toEqual([400, 400, 400, 400, 400, 400]);
  });

  it('redirects only to the dashboard, whatever the query says', async () => {
    await account('ada-1', ada);
    const browser = openBrowser(adapter);
    await browser.visit('/auth/oidc?redirect=https://evil.example&redirect_uri=//evil.example', CALLBACK);
    const { url } = await browser.visit('/auth/oidc?redirect=//evil.example', CALLBACK);
    const answer = await browser.get(`${url}&redirect=https://evil.example`);
    expect(answer.headers.get('location')).toBe('/dashboard');
  });

  it('any process of the service can finish a sign-in that another began', async () => {
    await account('ada-1', ada);
    const browser = openBrowser(adapter);
    const { url } = await browser.visit('/auth/oidc', CALLBACK);
    const other = await adapter.beside();
    const answer = await fetch(url.replace(PUBLIC_URL, other.url), {
      ...{ redirect: 'manual', headers: { 'x-forwarded-proto': 'https', cookie: browser.cookieHeader() } },
    });
    await other.stop();
    expect(answer.headers.get('location')).toBe('/dashboard');
  });
});

describe('at a provider that is broken or hostile', () => {
  let server: Server;
  let issuer: string;
  let adapter: AdapterUnderTest;
  let key: KeyLike;
  let publicKeys: object;
  /** The answer of the token endpoint, given the nonce. */
  let tokens: (claims: JWTPayload) => Promise<object>;
  let discovery: (response: ServerResponse) => boolean = () => false;
  let nonce = '';
  /** The claims of the userinfo endpoint besides the subject; undefined: there is no such endpoint. */
  let userinfo: object | undefined;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    const send = (body: object): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    };
    if (pathname === '/.well-known/openid-configuration') {
      if (discovery(response)) return;
      send({
        ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
        ...{ jwks_uri: `${issuer}/keys`, id_token_signing_alg_values_supported: ['RS256'], response_types_supported: ['code'] },
        ...(userinfo === undefined ? {} : { userinfo_endpoint: `${issuer}/me` }),
      }); // prettier-ignore
    } else if (pathname === '/me') send({ sub: 'm', ...userinfo });
    else if (pathname === '/keys') send({ keys: [publicKeys] });
    else if (pathname === '/authorize') {
      nonce = searchParams.get('nonce') ?? '';
      response.statusCode = 302;
      response.setHeader('location', `${CALLBACK}?code=c&state=${searchParams.get('state')}`);
      response.end();
    } else {
      const now = Math.floor(Date.now() / 1_000);
      const claims = { email: 'mallory@example.com', email_verified: true, sub: 'm', nonce };
      send(await tokens({ ...claims, iss: issuer, aud: 'decisions', iat: now, exp: now + 60 }));
    }
  };

  const sign = async (claims: JWTPayload, by = key): Promise<object> => ({
    ...{ access_token: 'a', token_type: 'Bearer' },
    id_token: await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(by),
  });

  beforeAll(async () => {
    const pair = await generateKeyPair('RS256');
    key = pair.privateKey;
    publicKeys = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
    server = createServer((request, response) => void answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(async () => {
    tokens = (claims) => sign(claims);
    discovery = () => false;
    userinfo = undefined;
    adapter = await startAdapter(environmentFor(issuer));
  });
  afterEach(() => adapter.stop());
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const outcome = async (): Promise<number> => {
    const browser = openBrowser(adapter);
    const { answer: page } = await browser.visit('/auth/oidc');
    if (page.status !== 200) expect(browser.cookies()).toEqual([]);
    return page.status;
  };

  it('admits a person with a correct token, so that the refusals below are due to their changes', async () => {
    expect(await outcome()).toBe(200);
  });

  it('refuses an ID token for another audience, too old, of another sign-in, unsigned, or signed by another key', async () => {
    const other = (await generateKeyPair('RS256')).privateKey;
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
    const forgeries: ((claims: JWTPayload) => Promise<object>)[] = [
      (claims) => sign({ ...claims, aud: 'another' }),
      (claims) => sign({ ...claims, iss: 'https://evil.example' }),
      (claims) => sign({ ...claims, exp: Math.floor(Date.now() / 1_000) - 3_600 }),
      (claims) => sign({ ...claims, nonce: 'another' }),
      ({ nonce: _nonce, ...claims }) => sign(claims),
      (claims) => sign(claims, other),
      (claims) => Promise.resolve({ access_token: 'a', token_type: 'Bearer', id_token: `${encode({ alg: 'none' })}.${encode(claims)}.` }), // prettier-ignore
      () => Promise.resolve({ access_token: 'a', token_type: 'Bearer' }),
      () => Promise.resolve({ access_token: 'a', token_type: 'Bearer', id_token: 'x' }),
    ];
    for (const forgery of forgeries) {
      tokens = forgery;
      expect([400, 503]).toContain(await outcome());
    }
    expect(await adapter.sql(`select from users where email = 'mallory@example.com'`)).toEqual([]);
  });

  it('accepts a clock that is some seconds off, and refuses one that is an hour off', async () => {
    const now = Math.floor(Date.now() / 1_000);
    tokens = (claims) => sign({ ...claims, iat: now - 70, exp: now - 10 });
    expect(await outcome()).toBe(200);
    tokens = (claims) => sign({ ...claims, iat: now - 3_660, exp: now - 3_600 });
    expect(await outcome()).toBe(400);
  });

  it('stores no claims that nest too deep or contain U+0000', async () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 200; level += 1) deep = { deep };
    for (const more of [{ deep }, { name: 'a\0b' }]) {
      tokens = (claims) => sign({ ...claims, ...more });
      expect(await outcome()).toBe(503);
    }
  });

  it.each<[string, (response: ServerResponse) => boolean]>([
    ['answers with a redirect', (response) => (response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), true)],
    ['answers with nonsense', (response) => (response.end('<html>'), true)],
    ['answers 10 MB', (response) => (response.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(10_000_000)), true)],
    ['names another issuer', (response) => (response.writeHead(200, { 'content-type': 'application/json' }).end('{"issuer":"https://evil.example"}'), true)],
  ])('is detected as failing when it %s, and is asked again the next time', async (_what, broken) => {
    discovery = broken;
    expect(await outcome()).toBe(503);
    expect((await fetch(`${adapter.url}/auth/signin`)).status).toBe(200);
    discovery = () => false;
    // It is not asked until the pause is over.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await outcome()).toBe(200);
  }); // prettier-ignore

  it('is asked less often the longer it fails, and its failures count against no client', async () => {
    let asked = 0;
    discovery = (response) => (response.end('<html>'), (asked += 1) > 0);
    for (let time = 0; time < 30; time += 1) expect(await outcome()).toBe(503);
    expect(asked).toBeLessThan(6);
    const wrong = () =>
      fetch(`${adapter.url}/auth/signin`, { method: 'POST', body: new URLSearchParams({ email: 'a@b.example', password: 'x' }) });
    expect((await wrong()).status).toBe(401);
  }); // prettier-ignore

  it('is believed about a verified address only from the source of the address', async () => {
    tokens = ({ email: _email, ...claims }) => sign(claims);
    userinfo = { email: 'boss@example.com' };
    expect(await outcome()).toBe(401);
    userinfo = { email: 'mallory@example.com', email_verified: true };
    expect(await outcome()).toBe(200);
    tokens = ({ email_verified: _verified, ...claims }) => sign(claims);
    expect(await outcome()).toBe(401);
  });

  it('is given up after ten seconds of silence', async () => {
    discovery = () => true;
    const startedAt = performance.now();
    expect(await outcome()).toBe(503);
    expect(performance.now() - startedAt).toBeGreaterThan(9_000);
  });
});

it('the OpenID sign-in does not exist in passthrough mode', async () => {
  const adapter = await startAdapter({ ...environmentFor('https://issuer.example'), ...passthroughEnvironment });
  const answers = await Promise.all(
    ['/auth/oidc', '/auth/oidc/callback?code=c&state=s'].map((path) => fetch(`${adapter.url}${path}`)),
  );
  await adapter.stop();
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
});

it.each([
  [{ OIDC_CLIENT_ID: '' }, 'needs OIDC_CLIENT_ID beside it'],
  [{ ADMIN_EMAIL: '' }, 'needs ADMIN_EMAIL beside it'],
  [{ OIDC_ISSUER_URL: 'http://issuer.example' }, 'must begin with https://'],
  [{ OIDC_ISSUER_URL: '' }, 'needs OIDC_ISSUER_URL beside it'],
  [{ EXTERNAL_AUTH_CLAIM_EMAIL: 'upn' }, 'must be not_checked where EXTERNAL_AUTH_CLAIM_EMAIL is upn'],
  [{ OIDC_SCOPES: 'email' }, 'beginning with openid'],
])('a start with %j is refused: %s', (change, sentence) => {
  const environment = {
    ...environmentFor('https://issuer.example'),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  };
  expect(() => readConfig(settings, environment)).not.toThrow();
  expect(() => readConfig(settings, { ...environment, ...change })).toThrow(sentence);
});
