import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { waitUntil } from '@decision/local-stack';
import { createInvitation, openDatabase } from '@decision/persistence';
import { createLinkToken } from '@decision/service-kit';
import { SMTPServer } from 'smtp-server';
import { type AdapterUnderTest, cookieOf, startAdapter } from './adapter-under-test';
import { openPeopleUnderTest, PASSWORD } from './people-under-test';

const OTHER = 'another horse battery';
let adapter: AdapterUnderTest;
const people = openPeopleUnderTest(() => adapter);
const { post, read, signIn, isSignedIn } = people;

const mails: { readonly to: readonly string[]; readonly text: string }[] = [];
let refusing = false;
const mailServer = new SMTPServer({
  ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], disableReverseLookup: true },
  onData: (stream, { envelope }, done) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      if (refusing) return done(Object.assign(new Error('full'), { responseCode: 452 }));
      const text = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
      mails.push({ to: envelope.rcptTo.map(({ address }) => address), text });
      done();
    });
  },
});

beforeAll(async () => {
  mailServer.listen(0, '127.0.0.1');
  await once(mailServer.server, 'listening');
  adapter = await startAdapter({
    ...{ JWT_SECRET: 's'.repeat(40), PUBLIC_URL: 'https://decisions.example.com/', SMTP_HOST: '127.0.0.1' },
    ...{ SMTP_PORT: String((mailServer.server.address() as AddressInfo).port), SMTP_TLS: 'none' },
    SMTP_FROM: 'service@ours.example',
  });
});
afterAll(async () => {
  await adapter.stop();
  await new Promise<void>((resolve) => mailServer.close(resolve));
});

const mailTo = async (email: string): Promise<string> => {
  const find = () => mails.find(({ to }) => to.includes(email));
  await waitUntil(() => find() !== undefined, `a mail comes to ${email}`);
  return find()?.text ?? '';
};
const outcomes = async (): Promise<Record<string, number>> => {
  const text = await (await fetch(`${adapter.url}/metrics`)).text();
  const lines = [...text.matchAll(/decision_password_mails_total\{[^}]*outcome="(\w+)"[^}]*\} (\d+)/g)];
  return Object.fromEntries(lines.map(([, outcome, count]) => [outcome ?? '', Number(count)]));
};
const outcomeOf = (outcome: string, count: number): Promise<void> =>
  waitUntil(async () => (await outcomes())[outcome] === count, `${count} mails were ${outcome}`);

describe('a forgotten password', () => {
  it('is set once by a link from a mail', async () => {
    const { email } = await people.add();
    const before = await signIn(email);
    expect(await read('/auth/forgotpass')).toContain('<form method="post" action="/auth/forgotpass">');
    expect((await post('/auth/forgotpass', { email: email.toUpperCase() })).status).toBe(200);
    const [, link = ''] = /https:\/\/decisions\.example\.com(\/auth\/reset\/\S+)/.exec(await mailTo(email)) ?? [];
    expect((await post(link, { password: OTHER, again: OTHER })).status).toBe(200);
    expect((await post(link, { password: OTHER, again: OTHER })).status).toBe(404);
    expect([await isSignedIn(before), await signIn(email), (await signIn(email, OTHER)) !== undefined]).toEqual([
      false,
      undefined,
      true,
    ]);
  });

  it('is answered in the same way for everyone, and not mailed to unknown or disabled people or those without a local password', async () => {
    const [{ email }, away, elsewhere] = [await people.add(), await people.add(), await people.add()];
    await adapter.sql(`update users set disabled_at = now() where id = '${away.id}'`);
    await adapter.sql(`update users set password_hash = null where id = '${elsewhere.id}'`);
    const { none = 0 } = await outcomes();
    const texts = new Set<string>();
    const strangers = [away.email, elsewhere.email, 'nobody@example.com', 'no address', '', 'a\0@example.com', `${'x'.repeat(5_000)}@b.example`]; // prettier-ignore
    for (const address of [email, ...strangers]) {
      const answer = await post('/auth/forgotpass', { email: address });
      expect(answer.status).toBe(200);
      texts.add(await answer.text());
    }
    expect(texts.size).toBe(1);
    await mailTo(email);
    await outcomeOf('none', none + strangers.length);
    expect(mails.filter(({ to }) => [away.email, elsewhere.email].some((one) => to.includes(one)))).toEqual([]);
  });

  it('is mailed about once in five minutes, and a sent link stays valid', async () => {
    const { email } = await people.add();
    const { none = 0 } = await outcomes();
    for (let time = 1; time <= 5; time += 1) await post('/auth/forgotpass', { email });
    const [, link = ''] = /https:\/\/decisions\.example\.com(\/auth\/reset\/\S+)/.exec(await mailTo(email)) ?? [];
    await outcomeOf('none', none + 4);
    expect(mails.filter(({ to }) => to.includes(email))).toHaveLength(1);
    expect((await fetch(`${adapter.url}${link}`)).status).toBe(200);
  });

  it('is counted as failed if the mail server refuses, invisibly to the client', async () => {
    const { email } = await people.add();
    refusing = true;
    const { failed = 0 } = await outcomes();
    expect((await post('/auth/forgotpass', { email })).status).toBe(200);
    await outcomeOf('failed', failed + 1);
    refusing = false;
  });

  it('is refused from another site', async () => {
    expect((await post('/auth/forgotpass', { email: 'a@b.example' }, { origin: 'https://evil.example' })).status).toBe(
      403,
    );
  });
});

describe('an invitation', () => {
  let invited = 0;
  const invite = async (more: { allGroups?: boolean; expiresAt?: string } = {}) => {
    const email = `invited-${(invited += 1)}@example.com`;
    const { token, selector, tokenHash } = createLinkToken(randomBytes);
    const database = openDatabase({ url: adapter.databaseUrl, applicationName: 'invitations' });
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const invitation = { email, role: 'editor', userGroups: [], selector, tokenHash, expiresAt, ...more };
    await database.inWorkspace({ workspaceId: adapter.workspaceId, userGroups: undefined }, (transaction) =>
      createInvitation(transaction, invitation),
    );
    await database.close();
    return { email, path: `/auth/invitation/${token}` };
  };
  const fields = { name: 'Ada', password: PASSWORD, again: PASSWORD };

  it('is accepted on its page, once, and signs in', async () => {
    const { email, path } = await invite();
    const page = await read(path);
    expect(page).toContain(email);
    expect(page).toContain('as editor');
    const answer = await post(path, fields);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard']);
    expect(await read('/dashboard', cookieOf(answer))).toContain('Ada');
    expect(await signIn(email)).toBeDefined();
    expect((await post(path, fields)).status).toBe(404);
    const users = await adapter.sql(`select role, all_groups, (select count(*)::int from api_keys where user_id = users.id) as keys, (select count(*)::int from user_usage where user_id = users.id) as usage from users where email = '${email}'`); // prettier-ignore
    expect(users).toEqual([{ role: 'editor', all_groups: false, keys: 1, usage: 1 }]);
    const entries = await adapter.sql(`select actor, action from audit_entries where subject_name = '${email}' and action = 'accept'`); // prettier-ignore
    expect(entries).toEqual([{ actor: `invitation:${email}`, action: 'accept' }]);
  });

  it('makes one user of several concurrent acceptances', async () => {
    const { email, path } = await invite();
    const answers = await Promise.all(Array.from({ length: 4 }, () => post(path, fields)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404, 404, 404]);
    expect(await adapter.sql(`select count(*)::int as count from users where email = '${email}'`)).toEqual([{ count: 1 }]); // prettier-ignore
  });

  it('of an unrestricted person makes an unrestricted user', async () => {
    const { email, path } = await invite({ allGroups: true });
    await post(path, fields);
    expect(await adapter.sql(`select all_groups from users where email = '${email}'`)).toEqual([{ all_groups: true }]);
  });

  it('stays if the password or the name is refused', async () => {
    const { path } = await invite();
    for (const wrong of [
      { password: 'short', again: 'short' },
      { again: OTHER },
      { name: 'x'.repeat(201) },
      { name: 'a\0b' },
    ])
      // prettier-ignore
      expect((await post(path, { ...fields, ...wrong })).status).toBe(400);
    expect((await post(path, fields)).status).toBe(303);
  });

  it('that is unknown, expired, truncated or for an address taken meanwhile creates no user', async () => {
    const [expired, taken] = [await invite({ expiresAt: '2020-01-01T00:00:00.000Z' }), await invite()];
    for (const path of [
      expired.path,
      taken.path.slice(0, -1),
      '/auth/invitation/x',
      `/auth/invitation/${'a'.repeat(12)}_${'b'.repeat(43)}`,
    ]) {
      // prettier-ignore
      expect((await fetch(`${adapter.url}${path}`)).status).toBe(404);
      expect((await post(path, fields)).status).toBe(404);
    }
    const { id } = await people.add();
    await adapter.sql(`update users set email = '${taken.email}' where id = '${id}'`);
    expect((await post(taken.path, fields)).status).toBe(409);
    expect((await post(taken.path, fields, { origin: 'https://evil.example' })).status).toBe(403);
  });
});
