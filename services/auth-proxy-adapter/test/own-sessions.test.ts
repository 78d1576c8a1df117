import { type AdapterUnderTest, startAdapter } from './adapter-under-test';
import { openPeopleUnderTest } from './people-under-test';

let adapter: AdapterUnderTest;
const people = openPeopleUnderTest(() => adapter);
const { post, read, signIn, isSignedIn } = people;

beforeAll(async () => (adapter = await startAdapter({ JWT_SECRET: 's'.repeat(40) })));
afterAll(() => adapter.stop());

const idsOn = (page: string): readonly string[] => [...page.matchAll(/name="end" value="([0-9a-f-]{36})"/g)].map(([, id]) => id ?? ''); // prettier-ignore

it("shows only the person's own sessions, newest first", async () => {
  const [{ email }, other] = [await people.add(), await people.add()];
  await signIn(other.email);
  const [first, second] = [await signIn(email), await signIn(email)];
  const page = await read('/auth/sessions', first);
  expect(idsOn(page)).toHaveLength(2);
  expect(page.indexOf('Here')).toBeGreaterThan(page.indexOf(idsOn(page)[0] ?? ''));
  expect(await isSignedIn(second)).toBe(true);
});

it('ends one of them at once, and is in the audit', async () => {
  const { email } = await people.add();
  const [here = '', there] = [await signIn(email), await signIn(email)];
  const [newest = ''] = idsOn(await read('/auth/sessions', here));
  expect((await post('/auth/sessions', { end: newest }, { cookie: here })).headers.get('location')).toBe('/auth/sessions'); // prettier-ignore
  expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, false]);
  const entries = await adapter.sql(`select action from audit_entries where subject_name = '${email}' and action = 'revoke'`); // prettier-ignore
  expect(entries).toEqual([{ action: 'revoke' }]);
});

it('signs out everywhere, here too', async () => {
  const { email } = await people.add();
  const [here = '', there] = [await signIn(email), await signIn(email)];
  const answer = await post('/auth/sessions', { end: 'all' }, { cookie: here });
  expect(answer.headers.get('location')).toBe('/auth/signin');
  expect(answer.headers.getSetCookie()[0]).toContain('Max-Age=0');
  expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([false, false]);
});

it('ends no session of another person, not even for an unrestricted administrator', async () => {
  const [{ email, id }, other] = [await people.add(), await people.add()];
  await adapter.sql(`update users set all_groups = true, role = 'admin' where id = '${id}'`);
  const [here = '', theirs = ''] = [await signIn(email), await signIn(other.email)];
  const [sessionId = ''] = idsOn(await read('/auth/sessions', theirs));
  await post('/auth/sessions', { end: sessionId }, { cookie: here });
  expect(await isSignedIn(theirs)).toBe(true);
});

it('requires a signed-in person, a form of this site, and a session to end', async () => {
  const { email } = await people.add();
  const cookie = (await signIn(email)) ?? '';
  expect(await read('/auth/sessions')).toContain('action="/auth/signin"');
  expect((await post('/auth/sessions', { end: 'all' })).status).toBe(401);
  expect((await post('/auth/sessions', { end: 'all' }, { cookie, origin: 'https://evil.example' })).status).toBe(403);
  expect((await post('/auth/sessions', {}, { cookie })).status).toBe(400);
  expect((await post('/auth/sessions', { end: 'nothing' }, { cookie })).status).toBe(303);
  expect(await isSignedIn(cookie)).toBe(true);
});
