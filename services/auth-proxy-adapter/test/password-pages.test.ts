import { randomBytes } from 'node:crypto';
import { createUserLink, openDatabase } from '@decision/persistence';
import { createLinkToken } from '@decision/service-kit';
import { type AdapterUnderTest, passthroughEnvironment, startAdapter } from './adapter-under-test';
import { openPeopleUnderTest, PASSWORD } from './people-under-test';

const OTHER = 'another horse battery';
let adapter: AdapterUnderTest;
const { add: newPerson, post, signIn, isSignedIn } = openPeopleUnderTest(() => adapter);

beforeAll(async () => (adapter = await startAdapter({ JWT_SECRET: 's'.repeat(40) })));
afterAll(() => adapter.stop());

const newLink = async (userId: string, lifeMs = 60_000): Promise<string> => {
  const { token, selector, tokenHash } = createLinkToken(randomBytes);
  const database = openDatabase({ url: adapter.databaseUrl, applicationName: 'links' });
  const expiresAt = new Date(Date.now() + lifeMs).toISOString();
  await database.inWorkspace({ workspaceId: adapter.workspaceId, userGroups: undefined }, (transaction) =>
    createUserLink(transaction, { userId, purpose: 'reset', selector, tokenHash, expiresAt }),
  );
  await database.close();
  return `/auth/reset/${token}`;
};

it('a forgotten password needs an administrator', async () => {
  const page = await (await fetch(`${adapter.url}/auth/forgotpass`)).text();
  expect(page).toContain('Ask one of its administrators for a link');
});

describe('changing the own password', () => {
  it('requires the old one, and ends all other sessions', async () => {
    const { email } = await newPerson();
    const [own = '', other] = [await signIn(email, PASSWORD), await signIn(email, PASSWORD)];
    const page = await fetch(`${adapter.url}/auth/changepass`, { headers: { cookie: own } });
    expect(await page.text()).toContain('<form method="post" action="/auth/changepass">');
    const fields = { current: PASSWORD, password: OTHER, again: OTHER };
    expect((await post('/auth/changepass', fields, { cookie: own, origin: adapter.url })).status).toBe(200);
    expect([await isSignedIn(own), await isSignedIn(other)]).toEqual([true, false]);
    expect(await signIn(email, PASSWORD)).toBeUndefined();
    expect(await signIn(email, OTHER)).toBeDefined();
    const audited = await adapter.sql(`select actor, action from audit_entries where subject_name = '${email}' and action = 'set_password'`); // prettier-ignore
    expect(audited).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['the old one is wrong', { current: 'wrong password', password: OTHER, again: OTHER }, 401, 'Your password is wrong'],
    ['the new ones differ', { current: PASSWORD, password: OTHER, again: `${OTHER}.` }, 400, 'are not the same'],
    ['the new one is short', { current: PASSWORD, password: 'short', again: 'short' }, 400, 'has 5 characters; it needs 12'],
    ['the new one is long', { current: PASSWORD, password: 'x'.repeat(1_001), again: 'x'.repeat(1_001) }, 400, 'too long'],
    ['nothing is said', {}, 400, 'it needs 12'],
  ])('changes nothing if %s', async (_, fields, status, sentence) => {
    const { email } = await newPerson();
    const cookie = (await signIn(email, PASSWORD)) ?? '';
    const answer = await post('/auth/changepass', fields, { cookie });
    expect([answer.status, (await answer.text()).includes(sentence)]).toEqual([status, true]);
    expect(await signIn(email, PASSWORD)).toBeDefined();
  }); // prettier-ignore

  it('requires a signed-in person, and is refused from other sites', async () => {
    const fields = { current: PASSWORD, password: OTHER, again: OTHER };
    expect((await post('/auth/changepass', fields)).status).toBe(401);
    const page = await fetch(`${adapter.url}/auth/changepass`, { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/auth/signin']);
    const { email } = await newPerson();
    const cookie = (await signIn(email, PASSWORD)) ?? '';
    expect((await post('/auth/changepass', fields, { cookie, origin: 'https://evil.example' })).status).toBe(403);
  });
});

describe('a link', () => {
  const fields = { password: OTHER, again: OTHER };

  it('sets a password once, and ends all sessions', async () => {
    const { email, id } = await newPerson();
    const cookie = await signIn(email, PASSWORD);
    const link = await newLink(id);
    expect(await (await fetch(`${adapter.url}${link}`)).text()).toContain(`action="${link}"`);
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(link, fields)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    expect([await isSignedIn(cookie), await signIn(email, PASSWORD)]).toEqual([false, undefined]);
    expect(await signIn(email, OTHER)).toBeDefined();
  });

  it('stays if the password is refused', async () => {
    const { id } = await newPerson();
    const link = await newLink(id);
    expect((await post(link, { password: 'short', again: 'short' })).status).toBe(400);
    expect((await post(link, fields)).status).toBe(200);
  });

  it('that is unknown, replaced, expired, truncated or of a disabled person is answered alike', async () => {
    const [replaced, expired, disabled] = [await newPerson(), await newPerson(), await newPerson()];
    const links = [await newLink(replaced.id), await newLink(expired.id, -1_000), await newLink(disabled.id)];
    await newLink(replaced.id);
    await adapter.sql(`update users set disabled_at = now() where id = '${disabled.id}'`);
    const texts = new Set<string>();
    for (const link of [...links, '/auth/reset/x', `${links[0]?.slice(0, -1)}`, `/auth/reset/${'a'.repeat(12)}_${'b'.repeat(43)}`]) {
      const [shown, used] = [await fetch(`${adapter.url}${link}`), await post(link, fields)];
      expect([shown.status, used.status]).toEqual([404, 404]);
      texts.add(await shown.text()).add(await used.text());
    }
    expect(texts.size).toBe(1);
  }); // prettier-ignore

  it('is refused from other sites', async () => {
    const { id } = await newPerson();
    const link = await newLink(id);
    expect((await post(link, fields, { origin: 'https://evil.example' })).status).toBe(403);
  });
});

it('the password pages do not exist in passthrough mode: links are unknown, and the page redirects to the dashboard', async () => {
  const passthrough = await startAdapter(passthroughEnvironment);
  const ask = async (path: string, method: 'GET' | 'POST') => {
    const { status, headers } = await fetch(`${passthrough.url}${path}`, { method, redirect: 'manual' });
    return [Math.floor(status / 100), headers.get('location')];
  };
  const answers = [];
  for (const path of ['/auth/reset/x', '/auth/changepass', '/auth/forgotpass'])
    answers.push(await ask(path, 'GET'), await ask(path, 'POST'));
  await passthrough.stop();
  const [none, away] = [[4, null], [3, '/dashboard']];
  expect(answers).toEqual([none, none, away, away, away, away]);
}); // prettier-ignore
