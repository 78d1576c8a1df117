import { setTimeout as sleep } from 'node:timers/promises';
import { page } from '@decision/contracts';
import { admitSignIn, findSignIn, recordSignIn } from '@decision/persistence';
import { verifyPassword } from '@decision/service-kit';
import { requireSameSite } from '@decision/sessions';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer, problemOf, redirectTo } from '../pages/html';
import { isAddress } from '../passthrough/claims';
import { MAX_PASSWORD } from './choose-password';
import { askForCode, issueCodeTicket } from './code-sign-in';
import { beginSession, createRunner, guarded, LOCK, type SignInContext, welcome, whenceOf } from './sign-in-context';

/** Minimum time of a refusal, ms, so that the time does not reveal whether the address exists. */
const REFUSAL_MS = 400;

/**
 * The sign-in page for people without a proxy, and its form. Every refusal has the same sentence: docs/adr/0065-passwords-without-mail.md.
 */
export const signInPages = (context: SignInContext): readonly DoorRoute[] => [
  {
    operation: page({
      id: 'showSignIn',
      path: '/auth/signin',
      summary: 'Page to sign in by email address and password',
      description: 'Leads to /dashboard where somebody is signed in. In passthrough mode it always does.',
    }),
    answer: (request) => showForm(context, request),
  },
  {
    operation: page({
      id: 'signIn',
      method: 'post',
      path: '/auth/signin',
      status: 303,
      summary: 'Signs in by email address and password',
      description:
        'A form with the fields email and password. It leads to /dashboard with a session, or asks for a code where the person has a second factor; everything that is wrong is answered 401 with one sentence. After ten wrong guesses an account is locked for five minutes, and addresses that guess are slowed.',
      errors: [
        'cross_site_request',
        'too_many_refusals',
        'overloaded',
        'unsupported_media_type',
        'database_unavailable',
      ],
    }),
    answer: (request) => signIn(context, request),
  },
];

const showForm = async (
  context: SignInContext,
  { headers, rawHeaders, context: facts }: DoorRequest,
): Promise<DoorAnswer> => {
  const visitor = await context.visitors.of({ headers, rawHeaders: [...rawHeaders] }, facts);
  return visitor === undefined ? formAnswer(context, { status: 200 }) : redirectTo('/dashboard');
};

const formAnswer = (
  { branding, providerName }: SignInContext,
  { status, problem }: { status: number; problem?: string },
): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Sign in',
    status,
    content: html`${problemOf(problem)}
      <form method="post" action="/auth/signin">
        <label for="email">Email address</label>
        <input id="email" name="email" type="email" maxlength="254" autocomplete="username" required />
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          maxlength="1000"
          autocomplete="current-password"
          required
        />
        <button type="submit">Sign in</button>
      </form>
      <p><a href="/auth/forgotpass">Forgotten password</a></p>
      ${providerName === undefined ? html`` : html`<p><a href="/auth/oidc">Sign in with ${providerName}</a></p>`}`,
  });

const signIn = async (context: SignInContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const form = await request.form();
  const startedAt = performance.now();
  const answer = await guarded(context, request, () =>
    tryPassword(context, request, form.get('email') ?? '', form.get('password') ?? ''),
  );
  if (answer !== undefined) return answer;
  await sleep(Math.max(0, REFUSAL_MS - (performance.now() - startedAt)));
  const problem = 'The email address or the password is wrong, or the account cannot sign in at this moment.';
  return formAnswer(context, { status: 401, problem });
};

/** A new session, or the page that asks for a code; undefined if anything is wrong. One password is hashed in every case. */
const tryPassword = async (
  context: SignInContext,
  request: DoorRequest,
  email: string,
  password: string,
): Promise<DoorAnswer | undefined> => {
  const { database } = context;
  const workspaceId = await context.workspaceId();
  const isPossible = isAddress(email) && password.length <= MAX_PASSWORD;
  const stored = isPossible ? await findSignIn(database, workspaceId, email) : undefined;
  const run = createRunner(database, request, workspaceId, stored === undefined ? 'sign-in' : `user:${stored.userId}`);
  const admitted =
    stored !== undefined && (await run((transaction) => admitSignIn(transaction, stored.userId, LOCK))).admitted;
  const isRight = await verifyPassword(password.slice(0, MAX_PASSWORD), stored?.passwordHash ?? null);
  const reason = refusalOf({ admitted, isRight, isDisabled: (stored?.disabledAt ?? null) !== null });
  if (stored === undefined || reason !== undefined) {
    const refused = { userId: stored?.userId, email: stored?.email ?? email, method: 'password' } as const;
    if (isPossible)
      await run((transaction) =>
        recordSignIn(transaction, { ...refused, outcome: 'refused', reason, ...whenceOf(request) }),
      );
    return undefined;
  }
  if (stored.totpSecret !== null)
    return askForCode(context.branding, { ticket: await issueCodeTicket(context, workspaceId, stored) });
  const token = await beginSession(context, request, { workspaceId, userId: stored.userId, email: stored.email });
  return token === undefined ? undefined : welcome(context, request, token);
};

interface Checked {
  readonly admitted: boolean;
  readonly isRight: boolean;
  readonly isDisabled: boolean;
}

/** Why a sign-in is refused, for the list of sign-ins; undefined: not refused. */
const refusalOf = ({ admitted, isRight, isDisabled }: Checked): string | undefined => {
  if (!admitted) return 'locked or unknown';
  if (!isRight) return 'wrong password';
  return isDisabled ? 'disabled' : undefined;
};
