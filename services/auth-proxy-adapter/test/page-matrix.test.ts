import { randomUUID } from 'node:crypto';
import { createMetrics, readConfig } from '@decision/service-kit';
import { createSessionTokens } from '@decision/sessions';
import { decodeJwt, UnsecuredJWT } from 'jose';
import { routesOf } from '../src/app';
import { settings } from '../src/config';
import { type People } from '../src/open-people';
import { type AdapterUnderTest, passthroughEnvironment, startAdapter } from './adapter-under-test';
import { openPeopleUnderTest } from './people-under-test';

/* Who may request each page and form; the calls of the other services are in tests-e2e/test/operating/people-matrix.test.ts. */

const SECRET = 's'.repeat(40);
const environment = {
  ...{ JWT_SECRET: SECRET, ADMIN_EMAIL: 'boss@example.com', OIDC_ISSUER_URL: 'http://127.0.0.1:1', OIDC_CLIENT_ID: 'c' },
  ...{ SMTP_HOST: '127.0.0.1', SMTP_PORT: '1', SMTP_FROM: 'service@ours.example', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
}; // prettier-ignore

/** Pages and forms without authentication. */
const OPEN: readonly string[] = [
  ...['getBranding', 'getPageStyle', 'showDenied', 'showSignIn', 'signIn', 'signInWithCode', 'signOut'],
  ...['showForgottenPassword', 'mailPasswordLink', 'showResetPassword', 'resetPassword', 'showInvitationPage'],
  ...['acceptInvitationOnPage', 'beginOpenId', 'finishOpenId'],
];
/** Those of a signed-in person. */
const OF_A_PERSON: readonly string[] = [
  ...['showDashboard', 'getPassthroughClaims', 'provisionSso', 'showChangePassword', 'changePassword'],
  ...['showFactor', 'changeFactor', 'showOwnSessions', 'endOwnSessions'],
];
/** In passthrough mode there are these besides `OPEN` and `OF_A_PERSON`, and they redirect to the dashboard. */
const REDIRECTS: readonly string[] = ['skipSignIn', 'skipSignUp', 'skipForgotPassword', 'skipChangePassword'].flatMap((id) => [id, id.replace('skip', 'skipFormOf')]); // prettier-ignore

/** Descriptions do not need the handlers. */
const NOTHING = { signIn: {}, mail: { metrics: createMetrics('page-matrix') }, openId: {} } as object as People;
const operationsOf = (variables: Record<string, string>) =>
  routesOf({ config: readConfig(settings, variables), people: NOTHING }).map(({ operation }) => operation);
const operations = operationsOf(environment);
const named = (ids: readonly string[]) => operations.filter(({ id }) => ids.includes(id));

let adapter: AdapterUnderTest;
const people = openPeopleUnderTest(() => adapter);
/** Cookies by sender. */
const cookies = new Map<string, string>();

beforeAll(async () => {
  adapter = await startAdapter(environment);
  const newCookie = async (change = 'true'): Promise<string> => {
    const { id, email } = await people.add();
    const cookie = (await people.signIn(email)) ?? '';
    await adapter.sql(change.replace('$id', id) === 'true' ? 'select 1' : change.replaceAll('$id', id));
    return cookie;
  };
  const theirs = await newCookie();
  const { sub = '', jti = '' } = decodeJwt(theirs.split('=')[1] ?? '');
  const claims = { userId: sub, sessionId: jti, expiresAt: Date.now() + 60_000 };
  const mint = async (secret: string, expiresAt: number): Promise<string> =>
    `decision_session=${await createSessionTokens({ secret, now: Date.now }).mint({ ...claims, expiresAt })}`;
  const unsigned = new UnsecuredJWT({}).setSubject(sub).setJti(jti).setAudience('decision-service-session');
  cookies
    .set('a person', theirs)
    .set('nobody', '')
    .set('an expired token', await mint(SECRET, Date.now() - 60_000))
    .set('an expired session', await newCookie(`update sessions set expires_at = now() where user_id = '$id'`))
    .set('an ended session', await newCookie(`update sessions set revoked_at = now() where user_id = '$id'`))
    .set('another secret', await mint('o'.repeat(40), claims.expiresAt))
    .set('no algorithm', `decision_session=${unsigned.setExpirationTime('1h').encode()}`)
    .set('a session that never was', `decision_session=${await createSessionTokens({ secret: SECRET, now: Date.now }).mint({ ...claims, sessionId: randomUUID() })}`)
    .set('a disabled person', await newCookie(`update users set disabled_at = now() where id = '$id'`))
    .set('a deleted person', await newCookie(`delete from users where id = '$id'`)); // prettier-ignore
});
afterAll(() => adapter.stop());

const ask = (
  { method, path }: { readonly method: string; readonly path: string },
  cookie: string,
  origin = adapter.url,
): Promise<Response> =>
  fetch(`${adapter.url}${path.replace('{token}', 'x')}`, {
    ...{ method: method.toUpperCase(), redirect: 'manual', headers: { cookie, origin } },
    ...(method === 'get' ? {} : { body: new URLSearchParams({ nothing: 'x' }) }),
  });
const seen = (answer: Response): string => `${answer.status} ${answer.headers.get('location') ?? ''}`;
const strangers = (): readonly string[] => [...cookies.keys()].filter((who) => who !== 'a person');

it('every page and form is either open or of a person', () => {
  expect(operations.map(({ id }) => id).sort()).toEqual([...OPEN, ...OF_A_PERSON].sort());
  const inPassthrough = operationsOf({ ...environment, ...passthroughEnvironment }).map(({ id }) => id);
  expect(inPassthrough.filter((id) => ![...OPEN, ...OF_A_PERSON, ...REDIRECTS].includes(id))).toEqual([]);
});

it('a signed-in person is answered', async () => {
  const wrong: string[] = [];
  for (const operation of named(OF_A_PERSON)) {
    const answer = await ask(operation, cookies.get('a person') ?? '');
    const isAnswered = operation.method === 'get' ? answer.status === 200 : [400, 415].includes(answer.status);
    if (!isAnswered) wrong.push(`${operation.id} ${seen(answer)}`);
  }
  expect(wrong).toEqual([]);
});

it('others are not: pages redirect to the sign-in, and calls and forms are answered 401', async () => {
  const wrong: string[] = [];
  for (const operation of named(OF_A_PERSON))
    for (const who of strangers()) {
      const answer = seen(await ask(operation, cookies.get(who) ?? ''));
      if (answer !== '303 /auth/signin' && answer !== '401 ') wrong.push(`${operation.id} ${who}: ${answer}`);
    }
  expect(wrong).toEqual([]);
});

it('public pages answer everyone in the same way', async () => {
  const wrong: string[] = [];
  for (const operation of named(OPEN).filter(({ method }) => method === 'get')) {
    const expected = seen(await ask(operation, ''));
    for (const who of strangers()) {
      const answer = seen(await ask(operation, cookies.get(who) ?? ''));
      if (answer !== expected) wrong.push(`${operation.id} ${who}: ${answer} instead of ${expected}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('no form is accepted from another site', async () => {
  const wrong: string[] = [];
  for (const operation of operations.filter(({ method }) => method !== 'get'))
    for (const who of ['a person', 'nobody']) {
      const { status } = await ask(operation, cookies.get(who) ?? '', 'https://evil.example');
      if (status !== 403) wrong.push(`${operation.id} ${who}: ${status}`);
    }
  expect(wrong).toEqual([]);
});
