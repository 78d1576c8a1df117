import { createHash } from 'node:crypto';
import { type Branding, page } from '@decision/contracts';
import { admitSignIn, findSignIn, recordSignIn, takeRecoveryCode, takeTotpStep } from '@decision/persistence';
import { requireSameSite } from '@decision/sessions';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer, problemOf } from '../pages/html';
import { hashOfRecoveryCode, stepOfCode } from './second-factor';
import { beginSession, createRunner, guarded, LOCK, type SignInContext, welcome, whenceOf } from './sign-in-context';

type StoredSignIn = NonNullable<Awaited<ReturnType<typeof findSignIn>>>;

/** The second step of a sign-in, for people who have a second factor. */
export const codePages = (context: SignInContext): readonly DoorRoute[] => [
  {
    operation: page({
      id: 'signInWithCode',
      method: 'post',
      path: '/auth/signin/code',
      status: 303,
      summary: 'Ends a sign-in with the code of a second factor',
      description:
        'A form with the fields ticket, which the page has after the right password, and code: the one of an authenticator app, or a recovery code. It leads to /dashboard with a session. Wrong codes count as wrong passwords do, and no code is taken twice.',
      errors: [
        'cross_site_request',
        'too_many_refusals',
        'overloaded',
        'unsupported_media_type',
        'database_unavailable',
      ],
    }),
    answer: (request) => signInWithCode(context, request),
  },
];

/** Content of a ticket: a changed password invalidates it. */
const fingerprintOf = (hash: string | null): string =>
  createHash('sha256')
    .update(hash ?? '')
    .digest('base64url');

/** The ticket of a person who gave the right password; valid for five minutes. */
export const issueCodeTicket = (
  { codeTickets }: SignInContext,
  workspaceId: string,
  { userId, email, passwordHash }: StoredSignIn,
): Promise<string> => codeTickets.issue({ workspaceId, userId, email, password: fingerprintOf(passwordHash) });

/** The page that asks for a code. */
export const askForCode = (
  branding: Branding,
  { ticket, status = 200, problem }: { ticket: string; status?: number; problem?: string },
): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Your code',
    status,
    content: html`${problemOf(problem)}
      <form method="post" action="/auth/signin/code">
        <input type="hidden" name="ticket" value="${ticket}" />
        <label for="code">Code of your authenticator app, or a recovery code</label>
        <input id="code" name="code" maxlength="20" autocomplete="one-time-code" autofocus required />
        <button type="submit">Sign in</button>
      </form>`,
  });

const signInWithCode = async (context: SignInContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const form = await request.form();
  const [ticket, code] = [form.get('ticket') ?? '', form.get('code') ?? ''];
  const proven = await context.codeTickets.read(ticket);
  if (proven === undefined) return tooLate(context.branding);
  const { workspaceId = '', userId = '', email = '', password = '' } = proven;
  const token = await guarded(context, request, async () => {
    const stored = await findSignIn(context.database, workspaceId, email);
    const isSame = stored?.userId === userId && fingerprintOf(stored.passwordHash) === password;
    return isSame ? tryCode(context, request, { workspaceId, stored, code }) : undefined;
  });
  if (token !== undefined) return welcome(context, request, token);
  const problem = 'The code is wrong, was used already, or cannot be checked at this moment.';
  return askForCode(context.branding, { ticket, status: 401, problem });
};

interface Guess {
  readonly workspaceId: string;
  readonly stored: StoredSignIn;
  readonly code: string;
}

/** The token of a new session; undefined if the code is wrong. */
const tryCode = async (
  context: SignInContext,
  request: DoorRequest,
  { workspaceId, stored, code }: Guess,
): Promise<string | undefined> => {
  const { userId, email, totpSecret, disabledAt } = stored;
  const run = createRunner(context.database, request, workspaceId, `user:${userId}`);
  const { admitted } = await run((transaction) => admitSignIn(transaction, userId, LOCK));
  // The factor was turned off meanwhile: the password must be given again.
  const mayCome = admitted && disabledAt === null && totpSecret !== null;
  const step = mayCome ? stepOfCode(totpSecret, code, context.now()) : undefined;
  const hash = mayCome ? hashOfRecoveryCode(code) : undefined;
  const token =
    step === undefined && hash === undefined
      ? undefined
      : await beginSession(context, request, { workspaceId, userId, email }, async (transaction) => {
          if (step !== undefined) return takeTotpStep(transaction, userId, step);
          return hash !== undefined && takeRecoveryCode(transaction, userId, hash);
        });
  if (token === undefined)
    await run((transaction) =>
      recordSignIn(transaction, {
        ...{ userId, email, method: 'password', outcome: 'refused' },
        ...{ reason: admitted ? 'wrong code' : 'locked or unknown', ...whenceOf(request) },
      }),
    );
  return token;
};

const tooLate = (branding: Branding): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Sign in again',
    status: 401,
    content: html`<p>The code was entered more than five minutes after the password. Sign in again.</p>
      <p><a href="/auth/signin">Sign in</a></p>`,
  });
