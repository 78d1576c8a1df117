import { randomBytes } from 'node:crypto';
import { type Branding, cacheKeys, page, ServiceError } from '@decision/contracts';
import {
  admitSignIn,
  type Database,
  findSignIn,
  findUserLink,
  noteSignIn,
  recordAnnouncement,
  recordSignIn,
  revokeSessionsOf,
  setPassword,
  takeUserLink,
  type Transaction,
} from '@decision/persistence';
import { hashApiKeySecret, hashPassword, parseApiKey, verifyPassword } from '@decision/service-kit';
import { requireSameSite } from '@decision/sessions';
import { createPlaces, type Places } from '../door/places';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { type Html, html, pageAnswer, redirectTo } from '../pages/html';
import { type Visitors } from '../people/visitors';
import { LOCK, type SignInContext } from './password-sign-in';

/** Dependencies of the pages on which people choose a password. */
interface PasswordContext extends Pick<SignInContext, 'branding' | 'database' | 'guard'> {
  readonly visitors: Visitors;
  /** Forgets what is remembered under a key, in every process. */
  readonly forget: (workspaceId: string, key: string) => Promise<void>;
}

const CHECKS = { running: 2, waiting: 64 };
/** As the API has it (`CreateUserRequest`). */
const [SHORTEST, LONGEST] = [12, 1_000];
/** The token of a link has the form of an API key without its prefix, and is no API key: it is stored elsewhere. */
const PREFIX = 'dsk_';

/** Pages to change a password, to set one by a link, and what to do about a forgotten one. */
export const passwordPages = (context: PasswordContext): readonly DoorRoute[] => {
  const places = createPlaces(CHECKS);
  const resetPath = {
    path: '/auth/reset/{token}',
    pathParameters: [
      {
        name: 'token',
        description: 'The last part of the link.',
        example: 'q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx',
      },
    ],
  };
  return [
    {
      operation: page({
        id: 'showForgottenPassword',
        path: '/auth/forgotpass',
        summary: 'What to do about a forgotten password',
        description: 'The service sends no mail: an administrator makes a link.',
      }),
      answer: () => forgotten(context.branding),
    },
    {
      operation: page({
        id: 'showChangePassword',
        path: '/auth/changepass',
        summary: 'Page to change the own password',
        errors: ['invalid_session', 'database_unavailable'],
      }),
      answer: async (request) => {
        const visitor = await visitorOf(context, request);
        return visitor === undefined ? redirectTo('/auth/signin') : changeForm(context.branding, 200);
      },
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
      answer: (request) => changePassword(context, places, request),
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
      answer: (request) => resetPassword(context, places, request),
    },
  ];
};

const visitorOf = ({ visitors }: PasswordContext, { headers, rawHeaders, context }: DoorRequest) =>
  visitors.of({ headers, rawHeaders: [...rawHeaders] }, context);

const forgotten = (branding: Branding): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Forgotten password',
    content: html`<p>
        This service sends no mail. Ask one of its administrators for a link; with it you choose a new password.
      </p>
      <p><a href="/auth/signin">Sign in</a></p>`,
  });

const problemOf = (problem: string | undefined): Html =>
  problem === undefined ? html`` : html`<p class="problem" role="alert">${problem}</p>`;

const field = (name: string, label: string, autocomplete: string): Html =>
  html`<label for="${name}">${label}</label>
    <input id="${name}" name="${name}" type="password" maxlength="1000" autocomplete="${autocomplete}" required />`;

const newPassword = (): Html =>
  html`${field('password', `New password, at least ${SHORTEST} characters`, 'new-password')}
  ${field('again', 'The same again', 'new-password')}`;

const changeForm = (branding: Branding, status: number, problem?: string): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Change your password',
    status,
    content: html`${problemOf(problem)}
      <form method="post" action="/auth/changepass">
        ${field('current', 'Your password', 'current-password')} ${newPassword()}
        <button type="submit">Change it</button>
      </form>`,
  });

const resetForm = (branding: Branding, path: string, status: number, problem?: string): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Choose a password',
    status,
    content: html`${problemOf(problem)}
      <form method="post" action="${path}">
        ${newPassword()}
        <button type="submit">Save it</button>
      </form>`,
  });

/** Unknown, used, replaced, expired and mistyped links are answered alike. */
const noLink = (branding: Branding): DoorAnswer =>
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

/** What is wrong with a password that somebody chose, as a sentence. */
const problemWith = (form: URLSearchParams, email: string): string | undefined => {
  const [password, again] = [form.get('password') ?? '', form.get('again') ?? ''];
  if (password !== again) return 'The two new passwords are not the same.';
  const length = [...password].length;
  if (length < SHORTEST) return `The new password has ${length} characters; it needs ${SHORTEST} at least.`;
  if (password.length > LONGEST) return `The new password is too long: ${LONGEST} characters are the most.`;
  return password.toLowerCase() === email.toLowerCase()
    ? 'The new password must not be your email address.'
    : undefined;
};

const changePassword = async (context: PasswordContext, places: Places, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const { branding, database, guard } = context;
  const visitor = await visitorOf(context, request);
  if (visitor === undefined)
    throw new ServiceError('invalid_session', 'You are not signed in, or no longer; sign in again.');
  const form = await request.form();
  const { workspaceId, userId, sessionId, email } = visitor.session;
  const problem = problemWith(form, email);
  if (problem !== undefined) return changeForm(branding, 400, problem);
  const startedAt = performance.now();
  const check = guard.admit(request.context.address);
  const inWorkspace = createRunner(database, request, workspaceId, userId);
  const isRight = await places
    .run(async () => {
      const stored = await findSignIn(database, workspaceId, email);
      if (stored === undefined) return false;
      const { admitted } = await inWorkspace((transaction) => admitSignIn(transaction, userId, LOCK));
      return (await verifyPassword(form.get('current') ?? '', stored.passwordHash)) && admitted;
    })
    .catch((error: unknown) => {
      check.end();
      throw error;
    });
  if (!isRight) {
    await check.refuse(startedAt);
    return changeForm(branding, 401, 'Your password is wrong, or cannot be checked at this moment.');
  }
  check.end();
  const passwordHash = await places.run(() => hashPassword(form.get('password') ?? '', randomBytes));
  const ended = await inWorkspace(async (transaction) => {
    await setPassword(transaction, userId, passwordHash);
    await noteSignIn(transaction, userId);
    const ids = await revokeSessionsOf(transaction, userId, { except: sessionId });
    return announceEnds(transaction, ids);
  });
  await Promise.all(ended.map((key) => context.forget(workspaceId, key)));
  return saved(branding, 'It is changed. Wherever else you were signed in, you have to sign in again.');
};

const resetPassword = async (context: PasswordContext, places: Places, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const { branding, database, guard } = context;
  const form = await request.form();
  const startedAt = performance.now();
  const check = guard.admit(request.context.address);
  const link = linkOf(request);
  const found = await findUserLink(database, link).catch((error: unknown) => {
    check.end();
    throw error;
  });
  if (found === undefined) {
    await check.refuse(startedAt);
    return noLink(branding);
  }
  check.end();
  const problem = problemWith(form, found.email);
  if (problem !== undefined) return resetForm(branding, request.path, 400, problem);
  const { workspaceId, userId, email } = found;
  const passwordHash = await places.run(() => hashPassword(form.get('password') ?? '', randomBytes));
  const whence = { address: request.context.address ?? null, userAgent: request.headers['user-agent'] ?? null };
  const ended = await createRunner(
    database,
    request,
    workspaceId,
    userId,
  )(async (transaction) => {
    // Of several who use it at once one gets it.
    if ((await takeUserLink(transaction, link)) === undefined) return undefined;
    await setPassword(transaction, userId, passwordHash);
    await recordSignIn(transaction, { userId, email, method: 'link', outcome: 'succeeded', ...whence });
    return announceEnds(transaction, await revokeSessionsOf(transaction, userId));
  });
  if (ended === undefined) return noLink(branding);
  await Promise.all(ended.map((key) => context.forget(workspaceId, key)));
  return saved(branding, 'Sign in with it. Wherever you were signed in before, you have to sign in again.');
};

const linkOf = ({ params }: DoorRequest): { readonly selector: string; readonly tokenHash: string } => {
  const parts = parseApiKey(`${PREFIX}${params['token'] ?? ''}`);
  return { selector: parts?.selector ?? '', tokenHash: hashApiKeySecret(parts?.secret ?? '').toString('hex') };
};

/** Runs work in the workspace of a person, in the name of the person. */
const createRunner =
  (database: Pick<Database, 'inWorkspace'>, { context }: DoorRequest, workspaceId: string, userId: string) =>
  <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => {
    const origin = { address: context.address, requestId: context.requestId };
    return database.inWorkspace({ workspaceId, userGroups: undefined, actor: `user:${userId}`, origin }, work);
  };

/** Answers the keys under which sessions that ended are remembered. */
const announceEnds = async (transaction: Transaction, ids: readonly string[]): Promise<readonly string[]> => {
  const keys = ids.map((id) => cacheKeys.session(id));
  if (keys.length > 0) await recordAnnouncement(transaction, { kind: 'user', keys });
  return keys;
};
