import { randomBytes } from 'node:crypto';
import { hashPassword } from '@decision/service-kit';
import { type AdapterUnderTest, cookieOf, startAdapter } from './adapter-under-test';

const PASSWORD = 'correct horse battery';
let adapter: AdapterUnderTest;

beforeAll(async () => {
  adapter = await startAdapter({ JWT_SECRET: 's'.repeat(40) });
  const hash = await hashPassword(PASSWORD, randomBytes);
  for (const name of ['ada', 'locked', 'off', 'factor'])
    await adapter.sql(
      `insert into users (workspace_id, email, role, password_hash) values ('${adapter.workspaceId}', '${name}@example.com', 'developer', '${hash}')`,
    );
  await adapter.sql(`update users set disabled_at = now() where email = 'off@example.com'`);
});
afterAll(() => adapter.stop());

const signIn = (email: string, password: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${adapter.url}/auth/signin`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: new URLSearchParams({ email, password }),
  });

it('the dashboard redirects to the sign-in page, which has a form', async () => {
  const answer = await fetch(`${adapter.url}/dashboard`);
  expect(answer.url).toBe(`${adapter.url}/auth/signin`);
  expect(await answer.text()).toContain('<form method="post" action="/auth/signin">');
});

it('a person with the right password gets a session, and signs out again', async () => {
  const answer = await signIn('Ada@example.com', PASSWORD, { origin: adapter.url });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard']);
  const cookie = cookieOf(answer) ?? '';
  const page = await (await fetch(`${adapter.url}/dashboard`, { headers: { cookie } })).text();
  expect(page).toContain('ada@example.com');
  expect(page).toContain('Sign out');
  const check = await fetch(`${adapter.url}/auth/check`, { headers: { cookie } });
  expect(`decision_session=${check.headers.get('x-decision-session')}`).toBe(cookie);
  await fetch(`${adapter.url}/auth/signout`, {
    method: 'POST',
    headers: { cookie, origin: adapter.url },
    redirect: 'manual',
  });
  const after = await fetch(`${adapter.url}/auth/check`, { headers: { cookie } });
  expect([after.status, after.headers.get('x-decision-session')]).toEqual([200, null]);
  expect(await adapter.sql(`select outcome, method from sign_ins where email = 'ada@example.com'`)).toEqual([
    { outcome: 'succeeded', method: 'password' },
  ]);
});

it('all refusals are the same, and no faster for an unknown address', async () => {
  const texts = new Set<string>();
  for (const [email, password] of [
    ['ada@example.com', 'wrong password'],
    ['nobody@example.com', PASSWORD],
    ['off@example.com', PASSWORD],
    ['no address', PASSWORD],
    ['', ''],
    ['a\0@example.com', PASSWORD],
    [`${'x'.repeat(5_000)}@example.com`, 'x'.repeat(5_000)],
  ] as const) {
    const startedAt = performance.now();
    const answer = await signIn(email, password);
    expect(performance.now() - startedAt).toBeGreaterThan(390);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []]);
    texts.add(await answer.text());
  }
  expect(texts.size).toBe(1);
});

it('an account is locked after ten wrong guesses, even for the right password, with the same answer', async () => {
  await Promise.all(Array.from({ length: 10 }, () => signIn('locked@example.com', 'wrong')));
  const answer = await signIn('locked@example.com', PASSWORD);
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []]);
});

it('requires a form, and does not sign in from another site', async () => {
  expect((await signIn('ada@example.com', PASSWORD, { origin: 'https://evil.example' })).status).toBe(403);
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${adapter.url}/auth/signin`, { method: 'POST', body: '{}', headers })).status).toBe(415);
});
