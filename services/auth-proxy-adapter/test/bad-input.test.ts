import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type * as doorModule from '../src/door/route';
import {
  call,
  type AdapterUnderTest,
  cookieOf,
  passthroughEnvironment,
  startAdapter,
  tokenOf,
} from './adapter-under-test';
import { openPeopleUnderTest } from './people-under-test';

type Door = Parameters<typeof doorModule.createDoor>[0];
/** The routes of each adapter started here. */
const mockDoors: Door['routes'][] = [];
jest.mock('../src/door/route', () => {
  const real = jest.requireActual<typeof doorModule>('../src/door/route');
  return {
    ...real,
    createDoor: (options: Door) => {
      mockDoors.push(options.routes);
      return real.createDoor(options);
    },
  };
});

type Headers = Readonly<Record<string, string>>;
interface RawAnswer {
  readonly status: number;
  /** Values by name in lower case; values of a repeated header are joined by a line break. */
  readonly headers: ReadonlyMap<string, string>;
}

/** Sends the target and the headers unchanged, which no client library would do. */
const askRaw = (url: string, method: string, target: string, headers: Headers): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let text = '';
    const socket = connect(Number(port), hostname);
    const lines = Object.entries({ host: 'decisions.example.com', connection: 'close', ...headers });
    socket.write(
      [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n'),
    );
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    // A server that refuses a head before it is complete closes the connection.
    socket.on('error', (error) => (text === '' ? reject(error) : undefined));
    socket.on('close', () => {
      const [first = '', ...rest] = (text.split('\r\n\r\n', 1)[0] ?? '').split('\r\n');
      const found = new Map<string, string>();
      for (const line of rest) {
        const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
        const earlier = found.get(name.toLowerCase());
        found.set(name.toLowerCase(), earlier === undefined ? value : `${earlier}\n${value}`);
      }
      resolve({ status: Number(first.split(' ')[1]), headers: found });
    });
  });

const HOSTILE_HEADERS: readonly Headers[] = [
  {},
  { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
  { 'x-forwarded-host': 'evil.example', 'x-forwarded-uri': '//evil.example', referer: 'https://evil.example/' },
  { 'x-forwarded-uri': '/\\evil.example', 'x-original-uri': '@evil.example' },
  { 'x-forwarded-uri': 'https://evil.example/dashboard', 'x-original-url': 'https://evil.example/' },
  { 'x-forwarded-prefix': '//evil.example', 'x-forwarded-path': '/%0d%0alocation:%20//evil.example' },
];

const QUERY = ['redirect', 'redirects', 'redirect_uri', 'next', 'return_to', 'rd', 'url'];
const VALUES = ['//evil.example', '/\\evil.example', '@evil.example', 'https://evil.example', '%0d%0alocation:%20//evil.example']; // prettier-ignore

/** The path of a page as attackers write it into links. */
const hostileTargets = (path: string): readonly string[] => [
  path,
  ...VALUES.map((value) => `${path}?${QUERY.map((name) => `${name}=${value}`).join('&')}`),
  `//evil.example${path}`,
  `/\\evil.example${path}`,
  `https://evil.example${path}`,
  `${path}@evil.example`,
  `${path}//evil.example`,
  `${path}/..//evil.example`,
  `${path}%0d%0alocation:%20https://evil.example`,
];

/** Requests every page of the adapter in every hostile way; answers each redirect with its requested path. */
const placesOf = async (url: string, routes: Door['routes'], headers: Headers): Promise<Map<string, Set<string>>> => {
  const places = new Map<string, Set<string>>();
  const paths = routes.map(({ operation }) => ({ ...operation, path: operation.path.replace(/\{\w+\}/g, '@evil.example') })); // prettier-ignore
  // Changes, such as a sign-out, come last.
  for (const wanted of ['get', 'post'])
    for (const { method, path } of [...paths, { method: 'get', path: '/auth/check' }]) {
      if (method !== wanted) continue;
      // Refused forms are answered late, so each is sent once per target.
      const variants = method === 'get' ? HOSTILE_HEADERS : HOSTILE_HEADERS.slice(1, 2);
      const asked = hostileTargets(path).flatMap((target) =>
        variants.map((hostile) =>
          askRaw(url, method.toUpperCase(), target, { accept: 'text/html', ...headers, ...hostile }),
        ),
      );
      for (const { status, headers: answered } of await Promise.all(asked)) {
        expect(status).toBeGreaterThanOrEqual(200);
        const place = answered.get('location');
        if (place !== undefined) places.set(place, (places.get(place) ?? new Set()).add(path));
      }
    }
  return places;
};

describe('in passthrough mode', () => {
  let adapter: AdapterUnderTest;
  let routes: Door['routes'];
  beforeAll(async () => {
    adapter = await startAdapter(passthroughEnvironment);
    routes = mockDoors.at(-1) ?? [];
  });
  afterAll(() => adapter.stop());

  const bearer = (claims: object): Headers => ({ authorization: `Bearer ${tokenOf(claims)}` });
  const check = (headers: Headers): Promise<Response> => call(`${adapter.url}/auth/check`, { headers });
  const emailOf = async (answer: Response): Promise<unknown> => {
    const [, payload = ''] = answer.headers.get('x-decision-session')?.split('.') ?? [];
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string };
    return (await adapter.sql(`select email from users where id = '${sub}'`))[0]?.['email'];
  };
  const users = async (): Promise<unknown> => (await adapter.sql('select count(*)::int as count from users'))[0];
  const payload = (text: string): string => `e30.${Buffer.from(text).toString('base64url')}.x`;

  it.each([
    ['an empty header part', `.${tokenOf({ email: 'a@example.com' }).split('.')[1] ?? ''}.x`],
    ['an empty payload', 'e30..x'],
    ['nothing in all parts', '..'],
    ['four parts', `${tokenOf({ email: 'a@example.com' })}.x`],
    ['a payload that is no JSON', payload('{"email": ')],
    ['a payload that is a list', payload('["a@example.com"]')],
    ['a payload that is null', payload('null')],
    ['a payload nested 10,000 deep', payload(`{"email":"a@example.com","a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)], // prettier-ignore
  ])('a token with %s gets 401 and creates no user', async (_, token) => {
    const before = await users();
    const answer = await check({ authorization: `Bearer ${token}` });
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Invalid token format' }]);
    expect(await users()).toEqual(before);
  });

  it('a token with a payload of 1 MB gets 431', async () => {
    const token = payload(JSON.stringify({ email: 'mega@example.com', a: 'a'.repeat(1_048_576) }));
    const { status } = await askRaw(adapter.url, 'GET', '/auth/check', { authorization: `Bearer ${token}` });
    expect(status).toBe(431);
  });

  it('a token with __proto__ grants nothing and changes no object', async () => {
    const answer = await check({ authorization: `Bearer ${payload('{"__proto__":{"email":"proto@example.com"}}')}` });
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Token missing required email claim' }]);
    const own = await check({ authorization: `Bearer ${payload('{"email":"own-proto@example.com","__proto__":{"email":"admin@example.com"}}')}` }); // prettier-ignore
    expect([own.status, await emailOf(own)]).toEqual([200, 'own-proto@example.com']);
    expect(Object.hasOwn(Object.prototype, 'email')).toBe(false);
  });

  it.each([
    ['a number', 7],
    ['a list', ['a@example.com']],
    ['empty', ''],
    ['of 10 kB', `${'a'.repeat(10_000)}@example.com`],
    ['with spaces', ' a b@example.com '],
    ['in Unicode that folds onto the administrator', 'adm\u0131n@example.com'],
    ['in full-width letters', '\uff41dmin@example.com'],
  ])('an email that is %s gets 401 and creates no user', async (_, email) => {
    const before = await users();
    const answer = await check(bearer({ email }));
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Token missing required email claim' }]);
    expect(await users()).toEqual(before);
  });

  it('an email with NUL gets 401 and creates no user', async () => {
    const answer = await check(bearer({ email: 'nul\0@example.com' }));
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Invalid token format' }]);
  });

  it.each([
    ['strasse@example.com', 'stra\u00dfe@example.com'],
    ['\u03bf\u03b4\u03bf\u03c3@example.com', '\u03bf\u03b4\u03bf\u03c2@example.com'],
    ['jos\u00e9@example.com', 'jose\u0301@example.com'],
  ])('%s and %s are different people', async (one, other) => {
    const first = await check(bearer({ email: one }));
    const cookie = cookieOf(first) ?? '';
    expect(await emailOf(first)).toBe(one);
    for (const headers of [bearer({ email: other }), { ...bearer({ email: other }), cookie }]) {
      const second = await check(headers);
      expect(second.status === 200 ? await emailOf(second) : second.status).not.toBe(one);
      expect(second.headers.get('x-decision-session')).not.toBe(first.headers.get('x-decision-session'));
    }
  });

  it('two token headers get 401 for every person', async () => {
    const [one, other] = [bearer({ email: 'one@example.com' }), bearer({ email: 'two@example.com' })];
    const { status } = await askRaw(adapter.url, 'GET', '/auth/check', { authorization: one['authorization'] ?? '', Authorization: other['authorization'] ?? '' }); // prettier-ignore
    expect(status).toBe(401);
  });

  it("a truncated or repeated cookie, even with another person's, changes no identity", async () => {
    const own = cookieOf(await check(bearer({ email: 'mine@example.com' }))) ?? '';
    const foreign = cookieOf(await check(bearer({ email: 'somebody-else@example.com' }))) ?? '';
    const [name = '', token = ''] = own.split('=');
    const cookies = [
      ...[foreign, own.slice(0, -1), own.slice(0, own.lastIndexOf('.')), `${name}=${token.slice(1)}`, `${own}.${token}`],
      ...[`${own}; ${own}`, `${own}; ${foreign}`, `${foreign}; ${own}`, `${foreign}; __Host-${own}`, `${own}=${foreign}`],
    ]; // prettier-ignore
    for (const cookie of cookies) {
      const answer = await check({ ...bearer({ email: 'mine@example.com' }), cookie });
      expect([answer.status, await emailOf(answer)]).toEqual([200, 'mine@example.com']);
    }
  });

  it('a session cookie of 100 kB gets 431, with a token and without', async () => {
    const cookie = `decision_session=${'a.'.repeat(50_000)}`;
    for (const headers of [{ cookie }, { ...bearer({ email: 'mine@example.com' }), cookie }])
      expect((await askRaw(adapter.url, 'GET', '/auth/check', headers)).status).toBe(431);
  });

  it.each([1, -1])('a clock %d hours ahead only shifts the end of sessions started by it', async (hours) => {
    const real = Date.now;
    let off = 0;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() + off);
    const other = await adapter.beside();
    const headers = bearer({ email: `clock${hours}@example.com` });
    off = hours * 3_600_000;
    const first = await call(`${other.url}/auth/check`, { headers });
    off = 0;
    await other.stop();
    clock.mockRestore();
    expect(first.status).toBe(200);
    expect(
      await adapter.sql(`select round(extract(epoch from s.expires_at - now()) / 3600)::int as lasts,
          round(extract(epoch from now() - s.created_at) / 3600)::int as age
          from sessions s join users u on u.id = s.user_id where u.email = 'clock${hours}@example.com'`),
    ).toEqual([{ lasts: 24 + hours, age: 0 }]);
    const later = await check({ ...headers, cookie: cookieOf(first) ?? '' });
    expect([later.status, later.headers.getSetCookie()]).toEqual([200, []]);
  });

  it('no link to any page redirects to a foreign host, with a token and without', async () => {
    const places = await placesOf(adapter.url, routes, bearer({ email: 'linked@example.com' }));
    const without = await placesOf(adapter.url, routes, {});
    expect(new Set([...places.keys(), ...without.keys()])).toEqual(new Set(['/dashboard']));
    expect(places.get('/dashboard')).toEqual(new Set(['/auth/signin', '/auth/signup', '/auth/forgotpass', '/auth/changepass', '/auth/signout'])); // prettier-ignore
  });

  it('a refused browser is redirected to /auth/denied, whatever the link says', async () => {
    adapter.mapping = () => Promise.resolve({ denied: 'no.', selectors: [], changed: false });
    const places = await placesOf(adapter.url, [], bearer({ email: 'refused@example.com' }));
    expect([...places.keys()]).toEqual([]);
    const { status, headers } = await askRaw(adapter.url, 'GET', '/auth/check?redirects=true&redirect=//evil.example', {
      ...{ ...bearer({ email: 'refused@example.com' }), accept: 'text/html', host: 'evil.example' },
      ...{ 'x-forwarded-host': 'evil.example', 'x-forwarded-uri': '//evil.example' },
    });
    expect([status, headers.get('location')]).toEqual([302, '/auth/denied']);
  });
});

describe('if people sign in', () => {
  let adapter: AdapterUnderTest;
  let provider: Server;
  let issuer: string;
  let routes: Door['routes'];
  const people = openPeopleUnderTest(() => adapter);
  beforeAll(async () => {
    provider = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` })); // prettier-ignore
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    adapter = await startAdapter({
      ...{ JWT_SECRET: 's'.repeat(40), ADMIN_EMAIL: 'boss@example.com', PUBLIC_URL: 'https://decisions.example.com' },
      ...{ OIDC_ISSUER_URL: issuer, OIDC_CLIENT_ID: 'decisions' },
    });
    routes = mockDoors.at(-1) ?? [];
  });
  afterAll(async () => {
    await adapter.stop();
    provider.close();
  });

  it('no link to any page redirects to a foreign host, signed in or not, except /auth/oidc to the provider', async () => {
    const { email } = await people.add();
    const cookie = (await people.signIn(email)) ?? '';
    const signedIn = await placesOf(adapter.url, routes, { cookie: `${cookie}; __Host-${cookie}` });
    const nobody = await placesOf(adapter.url, routes, {});
    const seen = new Set<string>();
    for (const [place, paths] of [...signedIn, ...nobody]) {
      if (!place.startsWith(issuer)) seen.add(place);
      else {
        const { origin, pathname, searchParams } = new URL(place);
        expect([[...paths], origin, pathname, searchParams.get('redirect_uri')]).toEqual([['/auth/oidc'], issuer, '/authorize', 'https://decisions.example.com/auth/oidc/callback']); // prettier-ignore
      }
    }
    expect(seen).toEqual(new Set(['/dashboard', '/auth/signin']));
    expect([...nobody.keys()].some((place) => place.startsWith(issuer))).toBe(true);
  });

  it('a form that names another target redirects to the dashboard', async () => {
    const { email } = await people.add();
    const password = 'correct horse battery';
    const fields = Object.fromEntries(QUERY.map((name) => [name, '//evil.example']));
    const answer = await people.post('/auth/signin?redirect=//evil.example', { email, password, ...fields });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard']);
  });
});
