import { Secret, TOTP } from 'otpauth';
import { type AdapterUnderTest, cookieOf, passthroughEnvironment, startAdapter } from './adapter-under-test';
import { openPeopleUnderTest, PASSWORD, type PersonUnderTest } from './people-under-test';

let adapter: AdapterUnderTest;
const people = openPeopleUnderTest(() => adapter);
const { post, read, signIn, isSignedIn } = people;

beforeAll(async () => (adapter = await startAdapter({ JWT_SECRET: 's'.repeat(40) })));
afterAll(() => adapter.stop());

/** The code of a secret, some steps of 30 s from now. */
const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
const change = (cookie: string, fields: Record<string, string>) => post('/auth/factor', fields, { cookie });
const secretOn = (page: string): string => /<code>([A-Z2-7 ]+)<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? '';
const codesOn = (page: string): readonly string[] => [...page.matchAll(/<code>([a-z2-9-]{11})<\/code>/g)].map(([, code]) => code ?? ''); // prettier-ignore
const ticketOn = (page: string): string => /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? '';

interface Enrolled extends PersonUnderTest {
  readonly secret: string;
  readonly codes: readonly string[];
  readonly cookie: string;
}

/** A person with a second factor, confirmed by the previous step's code, so that the current one is unused. */
const enrol = async (): Promise<Enrolled> => {
  const person = await people.add();
  const cookie = (await signIn(person.email)) ?? '';
  const secret = secretOn(await (await change(cookie, { action: 'start', password: PASSWORD })).text());
  const codes = codesOn(await (await change(cookie, { action: 'confirm', code: codeOf(secret, -1) })).text());
  return { ...person, secret, codes, cookie };
};
/** The page that asks for a code, after the right password. */
const askedFor = async (email: string): Promise<string> =>
  ticketOn(await (await post('/auth/signin', { email, password: PASSWORD })).text());
const giveCode = (ticket: string, code: string) => post('/auth/signin/code', { ticket, code });

describe('turning a second factor on', () => {
  it('requires the password, shows a picture and the secret, and takes effect with the first code', async () => {
    const { email } = await people.add();
    const cookie = (await signIn(email)) ?? '';
    expect((await change(cookie, { action: 'start', password: 'wrong password' })).status).toBe(401);
    const shown = await (await change(cookie, { action: 'start', password: PASSWORD })).text();
    expect(shown).toContain('<svg');
    const secret = secretOn(shown);
    expect((await change(cookie, { action: 'confirm', code: '000000' })).status).toBe(400);
    expect(await signIn(email)).toBeDefined();
    const page = await (await change(cookie, { action: 'confirm', code: codeOf(secret) })).text();
    expect(codesOn(page)).toHaveLength(10);
    expect(await signIn(email)).toBeUndefined();
    expect(await read('/auth/factor', cookie)).toContain('Recovery codes that are left: 10');
  });

  it('ends all other sessions of the person, and is in the audit', async () => {
    const { email } = await people.add();
    const [cookie = '', other] = [await signIn(email), await signIn(email)];
    const secret = secretOn(await (await change(cookie, { action: 'start', password: PASSWORD })).text());
    await change(cookie, { action: 'confirm', code: codeOf(secret) });
    expect([await isSignedIn(cookie), await isSignedIn(other)]).toEqual([true, false]);
    const entries = await adapter.sql(`select action from audit_entries where subject_name = '${email}' and action = 'confirm_totp'`); // prettier-ignore
    expect(entries).toHaveLength(1);
  });

  it('requires a local password', async () => {
    const { id, email } = await people.add();
    const cookie = (await signIn(email)) ?? '';
    await adapter.sql(`update users set password_hash = null where id = '${id}'`);
    expect(await read('/auth/factor', cookie)).toContain('You have no password here');
    expect((await change(cookie, { action: 'start', password: '' })).status).toBe(401);
  });

  it('requires a form of this site, a known action, and a signed-in person', async () => {
    const { cookie } = await enrol();
    expect((await post('/auth/factor', { action: 'off' }, { cookie, origin: 'https://evil.example' })).status).toBe(
      403,
    );
    expect((await change(cookie, { action: 'toString' })).status).toBe(400);
    expect((await change('', { action: 'off', password: PASSWORD })).status).toBe(401);
    expect((await change(cookie, { action: 'confirm', code: '123456' })).status).toBe(409);
  });
});

describe('signing in with a second factor', () => {
  it('requires the code after the password, and accepts each code once', async () => {
    const { email, secret } = await enrol();
    const [ticket, second] = [await askedFor(email), await askedFor(email)];
    const answer = await giveCode(ticket, codeOf(secret));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard']);
    expect(await isSignedIn(cookieOf(answer))).toBe(true);
    for (const again of [ticket, second]) expect((await giveCode(again, codeOf(secret))).status).toBe(401);
    expect((await giveCode(second, codeOf(secret, 1))).status).toBe(303);
  });

  it('accepts a code once when it is given many times at once', async () => {
    const { email, secret } = await enrol();
    const ticket = await askedFor(email);
    const answers = await Promise.all(Array.from({ length: 5 }, () => giveCode(ticket, codeOf(secret))));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  it('accepts a recovery code once, and new ones replace the old', async () => {
    const { email, codes, cookie } = await enrol();
    const [first = '', other = ''] = codes;
    expect((await giveCode(await askedFor(email), first.toUpperCase())).status).toBe(303);
    expect((await giveCode(await askedFor(email), first)).status).toBe(401);
    expect((await change(cookie, { action: 'codes', password: 'wrong' })).status).toBe(401);
    const fresh = codesOn(await (await change(cookie, { action: 'codes', password: PASSWORD })).text());
    expect((await giveCode(await askedFor(email), other)).status).toBe(401);
    expect((await giveCode(await askedFor(email), fresh[0] ?? '')).status).toBe(303);
  });

  it('counts wrong codes as wrong passwords: the account is locked after ten', async () => {
    const { email, secret, id } = await enrol();
    const ticket = await askedFor(email);
    for (let guess = 1; guess <= 10; guess += 1) expect((await giveCode(ticket, '000000')).status).toBe(401);
    expect((await giveCode(ticket, codeOf(secret))).status).toBe(401);
    const reasons = await adapter.sql(`select reason, count(*)::int as count from sign_ins where user_id = '${id}' and outcome = 'refused' group by reason order by reason`); // prettier-ignore
    expect(reasons).toEqual([
      { reason: 'locked or unknown', count: 2 },
      { reason: 'wrong code', count: 9 },
    ]);
  });

  it('requires the password again if it was changed, the person was disabled, or the ticket is invalid', async () => {
    const [changed, disabled] = [await enrol(), await enrol()];
    const [first, second] = [await askedFor(changed.email), await askedFor(disabled.email)];
    const other = 'another horse battery';
    await post('/auth/changepass', { current: PASSWORD, password: other, again: other }, { cookie: changed.cookie });
    expect((await giveCode(first, codeOf(changed.secret))).status).toBe(401);
    await adapter.sql(`update users set disabled_at = now() where id = '${disabled.id}'`);
    expect((await giveCode(second, codeOf(disabled.secret))).status).toBe(401);
    for (const ticket of ['', 'x', changed.cookie.split('=')[1] ?? '', 'x'.repeat(60_000)]) {
      const answer = await giveCode(ticket, codeOf(changed.secret));
      expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('Sign in again')]);
    }
  });
});

it('a second factor is turned off with the password', async () => {
  const { email, cookie } = await enrol();
  expect((await change(cookie, { action: 'off', password: 'wrong' })).status).toBe(401);
  expect(await signIn(email)).toBeUndefined();
  expect((await change(cookie, { action: 'off', password: PASSWORD })).status).toBe(303);
  expect(await signIn(email)).toBeDefined();
});

it('a second factor does not exist in passthrough mode', async () => {
  const passthrough = await startAdapter(passthroughEnvironment);
  const answers = await Promise.all(
    ['/auth/factor', '/auth/sessions', '/auth/signin/code', '/auth/invitation/x'].flatMap((path) =>
      ['GET', 'POST'].map(async (method) => (await fetch(`${passthrough.url}${path}`, { method })).status),
    ),
  );
  await passthrough.stop();
  expect(new Set(answers)).toEqual(new Set([404]));
});
