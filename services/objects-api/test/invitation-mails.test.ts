import { type Mail, MailFailure } from '@decision/mail';
import { type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

const mails: Mail[] = [];
let answer: () => Promise<{ readonly refused: number }> = () => Promise.resolve({ refused: 0 });
let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
beforeAll(async () => {
  const send = (mail: Mail): Promise<{ readonly refused: number }> => {
    mails.push(mail);
    return answer();
  };
  api = await startObjectsApi({ mailer: { send } });
  workspaceId = await api.makeWorkspace('first');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());

const invite = (body: object, key = admin) => api.call(key, 'POST', '/admin/users/invite', body);
const invitationIn = ({ body }: Awaited<ReturnType<typeof invite>>) => body['invitation'] as { link: string; page: string }; // prettier-ignore

it('an invitation is mailed with the page on which it is accepted', async () => {
  const answered = await invite({ email: 'ada@example.com' });
  expect(answered.body['message']).toBe('An invitation for "ada@example.com" was made. It was mailed.');
  const { page, link } = invitationIn(answered);
  expect(page).toMatch(/^https:\/\/decisions\.example\.com\/auth\/invitation\/\w{12}_[\w-]{43}$/);
  expect(page.split('/').at(-1)).toBe(link.split('/').at(-1));
  expect(mails).toEqual([expect.objectContaining({ to: ['ada@example.com'], text: expect.stringContaining(page) })]);
});

it('an invitation that cannot be mailed stays, and the answer says so', async () => {
  answer = () => Promise.reject(new MailFailure('The mail server answered 451.', true));
  expect((await invite({ email: 'bob@example.com' })).body['message']).toContain('could not be mailed at this moment');
  answer = () => Promise.resolve({ refused: 1 });
  const answered = await invite({ email: 'eve@example.com' });
  expect(answered.body['message']).toContain('refused the address');
  expect((await fetch(invitationIn(answered).link.replace('https://decisions.example.com', api.baseUrl))).status).toBe(200); // prettier-ignore
});

it('people who will see everything are invited by callers without restriction, and without groups', async () => {
  answer = () => Promise.resolve({ refused: 0 });
  await api.call(admin, 'POST', '/admin/users/groups', { name: 'sales' });
  const restricted = await api.makeKey(workspaceId, 'admin', ['sales']);
  const wanted = { email: 'all@example.com', all_groups: true };
  expect(await invite(wanted, restricted)).toMatchObject({ status: 403 });
  expect(await invite({ ...wanted, user_groups: ['sales'] })).toMatchObject({
    status: 400,
    body: { problems: [{ path: '/all_groups' }] },
  });
  const { link } = invitationIn(await invite(wanted));
  const path = new URL(link).pathname.replace('/api/v1', '');
  await api.call('', 'POST', path, { password: 'correct horse battery' });
  const users = (await api.call(admin, 'GET', '/admin/users/list')).body as unknown as { email: string; all_groups: boolean }[]; // prettier-ignore
  expect(users.find(({ email }) => email === 'all@example.com')).toMatchObject({ all_groups: true });
});
