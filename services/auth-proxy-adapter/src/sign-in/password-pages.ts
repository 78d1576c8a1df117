import { randomBytes } from 'node:crypto';
import { type Branding, page } from '@decision/contracts';
import { findUserLink, recordSignIn, revokeSessionsOf, setPassword, takeUserLink } from '@decision/persistence';
import { hashPassword, readLinkToken } from '@decision/service-kit';
import { requireSameSite } from '@decision/sessions';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer, passwordField, problemOf } from '../pages/html';
import { requireVisitor } from '../people/visitors';
import { newPasswordFields, problemWithPassword } from './choose-password';
import { provePassword, WRONG_PASSWORD } from './own-password';
import { announceEnds, createRunner, guarded, pageOfVisitor, type SignInContext, whenceOf } from './sign-in-context';

/** The parameter of pages that a link leads to. */
export const linkToken = [
  {
    name: 'token',
    description: 'The last part of the link.',
    example: 'q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx',
  },
] as const;

/** Pages to change a password, and to set one by a link. */
export const passwordPages = (context: SignInContext): readonly DoorRoute[] => {
  const resetPath = { path: '/auth/reset/{token}', pathParameters: linkToken };
  return [
    {
      operation: page({
        id: 'showChangePassword',
        path: '/auth/changepass',
        summary: 'Page to change the own password',
        errors: ['invalid_session', 'database_unavailable'],
      }),
      answer: pageOfVisitor(context, () => changeForm(context.branding, 200)),
    },
    {
      operation: page({
        id: 'changePassword',
        method: 'post',
        path: '/auth/changepass',
        summary: 'Changes the own password',
        description: 'A form with the fields current, password and again. All other sessions of the person end.',
        errors: ['invalid_session', 'cross_site_request', 'too_many_refusals', 'overloaded', 'unsupported_media_type'],
      }),
      answer: (request) => changePassword(context, request),
    },
    {
      operation: page({
        ...resetPath,
        id: 'showResetPassword',
        summary: 'Page to set a password by a link',
        errors: ['database_unavailable'],
      }),
      answer: async (request) => {
        const found = await findUserLink(context.database, linkOf(request));
        return found === undefined ? noLink(context.branding) : resetForm(context.branding, request.path, 200);
      },
    },
    {
      operation: page({
        ...resetPath,
        id: 'resetPassword',
        method: 'post',
        summary: 'Sets a password by a link, once',
        description: 'A form with the fields password and again. All sessions of the person end.',
        errors: ['cross_site_request', 'too_many_refusals', 'overloaded', 'unsupported_media_type'],
      }),
      answer: (request) => resetPassword(context, request),
    },
  ];
};

const changeForm = (branding: Branding, status: number, problem?: string): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Change your password',
    status,
    content: html`${problemOf(problem)}
      <form method="post" action="/auth/changepass">
        ${passwordField({ name: 'current', label: 'Your password', autocomplete: 'current-password' })}
        ${newPasswordFields()}
        <button type="submit">Change it</button>
      </form>`,
  });

const resetForm = (branding: Branding, path: string, status: number, problem?: string): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Choose a password',
    status,
    content: html`${problemOf(problem)}
      <form method="post" action="${path}">
        ${newPasswordFields()}
        <button type="submit">Save it</button>
      </form>`,
  });

/** Unknown, used, replaced, expired and mistyped links are answered alike. */
export const noLink = (branding: Branding): DoorAnswer =>
  pageAnswer(branding, {
    title: 'No such link',
    status: 404,
    content: html`<p>The link is unknown, used or expired. Ask an administrator for a new one.</p>`,
  });

const saved = (branding: Branding, sentence: string): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Your password is saved',
    content: html`<p>${sentence}</p>
      <p><a href="/dashboard">Go on</a></p>`,
  });

const changePassword = async (context: SignInContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const { branding, database, slots } = context;
  const visitor = await requireVisitor(context, request);
  const form = await request.form();
  const { workspaceId, userId, sessionId, email } = visitor.session;
  const problem = problemWithPassword(form, email);
  if (problem !== undefined) return changeForm(branding, 400, problem);
  if (!(await provePassword(context, request, visitor, form.get('current') ?? '')))
    return changeForm(branding, 401, WRONG_PASSWORD);
  const passwordHash = await slots.run(() => hashPassword(form.get('password') ?? '', randomBytes));
  const run = createRunner(database, request, workspaceId, `user:${userId}`);
  const ended = await run(async (transaction) => {
    await setPassword(transaction, userId, passwordHash);
    return announceEnds(transaction, await revokeSessionsOf(transaction, userId, { except: sessionId }));
  });
  await Promise.all(ended.map((key) => context.forget(workspaceId, key)));
  return saved(branding, 'Your password is changed. Sign in again everywhere else.');
};

const resetPassword = async (context: SignInContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const { branding, database, slots } = context;
  const form = await request.form();
  const link = linkOf(request);
  const found = await guarded(context, request, () => findUserLink(database, link));
  if (found === undefined) return noLink(branding);
  const problem = problemWithPassword(form, found.email);
  if (problem !== undefined) return resetForm(branding, request.path, 400, problem);
  const { workspaceId, userId, email } = found;
  const passwordHash = await slots.run(() => hashPassword(form.get('password') ?? '', randomBytes));
  const run = createRunner(database, request, workspaceId, `user:${userId}`);
  const ended = await run(async (transaction) => {
    // Of several concurrent uses one succeeds.
    if ((await takeUserLink(transaction, link)) === undefined) return undefined;
    await setPassword(transaction, userId, passwordHash);
    await recordSignIn(transaction, { userId, email, method: 'link', outcome: 'succeeded', ...whenceOf(request) });
    return announceEnds(transaction, await revokeSessionsOf(transaction, userId));
  });
  if (ended === undefined) return noLink(branding);
  await Promise.all(ended.map((key) => context.forget(workspaceId, key)));
  return saved(branding, 'Sign in with it, everywhere you were signed in before.');
};

/** A text that cannot be a token is looked up as one that does not exist. */
const linkOf = ({ params }: DoorRequest): { readonly selector: string; readonly tokenHash: string } =>
  readLinkToken(params['token'] ?? '') ?? { selector: '', tokenHash: '00'.repeat(32) };
