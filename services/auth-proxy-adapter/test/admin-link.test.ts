import { makeAdminLink } from '../src/cli/admin-link';
import { type AdapterUnderTest, passthroughEnvironment, startAdapter } from './adapter-under-test';
import { openPeopleUnderTest, PASSWORD } from './people-under-test';

let adapter: AdapterUnderTest;
const { post, signIn } = openPeopleUnderTest(() => adapter);
const secrets = { JWT_SECRET: 's'.repeat(40) };

beforeAll(async () => (adapter = await startAdapter(secrets)));
afterAll(() => adapter.stop());

const run = async (more: Record<string, string> = {}, args: readonly string[] = []) => {
  const lines: string[] = [];
  const environment = { ...secrets, DATABASE_URL: adapter.databaseUrl, PUBLIC_URL: 'https://decisions.example.com/' };
  const code = await makeAdminLink({ ...environment, ...more }, args, (line) => lines.push(line));
  return { code, lines };
};
const use = (link: string | undefined, password: string) =>
  post(new URL(link ?? '').pathname, { password, again: password });

it('needs the address of an administrator if there is none yet', async () => {
  expect(await run()).toEqual({ code: 1, lines: [expect.stringContaining('set ADMIN_EMAIL')] });
});

it('gives the administrator a password by a single-use link, without mail or a directory', async () => {
  const { code, lines } = await run({ ADMIN_EMAIL: 'boss@example.com' });
  expect([code, lines[0]]).toEqual([0, expect.stringMatching(/^boss@example\.com chooses a password here, once, until 20/)]); // prettier-ignore
  expect(lines[1]).toMatch(/^https:\/\/decisions\.example\.com\/auth\/reset\/\w{12}_[\w-]{43}$/);
  expect((await use(lines[1], PASSWORD)).status).toBe(200);
  expect((await use(lines[1], PASSWORD)).status).toBe(404);
  expect(await signIn('boss@example.com')).toBeDefined();
});

it('turns a lost second factor off only on request', async () => {
  await adapter.sql(`update user_credentials set totp_secret = 'GEZDGNBVGY3TQOJQ'`);
  await use((await run()).lines[1], PASSWORD);
  expect(await signIn('boss@example.com')).toBeUndefined();
  await use((await run({}, ['--without-second-factor'])).lines[1], PASSWORD);
  expect(await signIn('boss@example.com')).toBeDefined();
});

it('reports why it cannot run: in passthrough mode, with unknown arguments, without a database', async () => {
  expect((await run(passthroughEnvironment)).lines).toEqual([expect.stringContaining('Token passthrough is on')]);
  expect((await run({}, ['--force'])).lines).toEqual([expect.stringContaining('Usage:')]);
  expect((await run({ SIGN_IN_WORKSPACE: 'nowhere' })).lines).toEqual([expect.stringContaining('SIGN_IN_WORKSPACE')]);
  expect(await run({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })).toMatchObject({ code: 1 });
});
