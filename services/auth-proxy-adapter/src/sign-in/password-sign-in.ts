import { setTimeout as sleep } from 'node:timers/promises';
import { type Branding, page, ServiceError } from '@decision/contracts';
import { admitSignIn, createSession, type Database, findSignIn, noteSignIn, recordSignIn } from '@decision/persistence';
import { type createRefusalGuard, verifyPassword } from '@decision/service-kit';
import { requireSameSite, sessionCookie, type SessionTokens } from '@decision/sessions';
import { createPlaces, type Places } from '../door/places';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer, redirectTo } from '../pages/html';
import { isSecure, type Visitors } from '../people/visitors';

/** Dependencies of signing in by email and password. */
export interface SignInContext {
  readonly branding: Branding;
  readonly visitors: Visitors;
  readonly database: Pick<Database, 'inWorkspace' | 'lookUp'>;
  readonly tokens: Pick<SessionTokens, 'mint'>;
  /** Slows addresses whose guesses were wrong too often. */
  readonly guard: ReturnType<typeof createRefusalGuard>;
  readonly workspaceId: () => Promise<string>;
  readonly sessionMs: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Guesses after which an account is locked, and for how long, s. */
export const LOCK = { lockAfter: 10, lockSeconds: 300 };
/** Each check takes 32 MiB and a thread for some tens of milliseconds. */
const CHECKS = { running: 2, waiting: 64 };
/** No refusal is answered sooner, ms, so that the time does not tell whether anybody has the address. */
const REFUSAL_MS = 400;
const MAX_EMAIL = 254;
const MAX_PASSWORD = 1_000;
const EMAIL = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/** The page on which people without a proxy sign in, and its form. Every refusal has one sentence. */
export const signInPages = (context: SignInContext): readonly DoorRoute[] => {
  const places = createPlaces(CHECKS);
  return [
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
          'A form with the fields email and password. It leads to /dashboard with a session; everything that is wrong is answered 401 with one sentence. After ten wrong guesses an account is locked for five minutes, and addresses that guess are slowed.',
        errors: [
          'cross_site_request',
          'too_many_refusals',
          'overloaded',
          'unsupported_media_type',
          'database_unavailable',
        ],
      }),
      answer: (request) => signIn(context, places, request),
    },
  ];
};

const showForm = async (
  context: SignInContext,
  { headers, rawHeaders, context: facts }: DoorRequest,
): Promise<DoorAnswer> => {
  const visitor = await context.visitors.of({ headers, rawHeaders: [...rawHeaders] }, facts);
  return visitor === undefined ? formAnswer(context.branding, { status: 200 }) : redirectTo('/dashboard');
};

const formAnswer = (branding: Branding, { status, problem }: { status: number; problem?: string }): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Sign in',
    status,
    content: html`${problem === undefined ? html`` : html`<p class="problem" role="alert">${problem}</p>`}
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
      <p><a href="/auth/forgotpass">Forgotten password</a></p>`,
  });

const signIn = async (context: SignInContext, places: Places, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const form = await request.form();
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? ''];
  const startedAt = performance.now();
  const check = context.guard.admit(request.context.address);
  const token = await places
    .run(() => tryPassword(context, request, email, password))
    .catch((error: unknown) => {
      check.end();
      throw error;
    });
  if (token === undefined) {
    await Promise.all([check.refuse(startedAt), sleep(Math.max(0, REFUSAL_MS - (performance.now() - startedAt)))]);
    const problem = 'The email address or the password is wrong, or the account cannot sign in at this moment.';
    return formAnswer(context.branding, { status: 401, problem });
  }
  check.end();
  const cookie = sessionCookie(token, { secure: isSecure(request.headers), maxAgeSeconds: context.sessionMs / 1_000 });
  return redirectTo('/dashboard', [cookie]);
};

/** The token of a new session; undefined where anything is wrong. One password is hashed in every case. */
const tryPassword = async (
  context: SignInContext,
  { context: facts, headers }: DoorRequest,
  email: string,
  password: string,
): Promise<string | undefined> => {
  const { database } = context;
  const workspaceId = await context.workspaceId();
  const isPossible = email.length <= MAX_EMAIL && EMAIL.test(email) && password.length <= MAX_PASSWORD;
  const stored = isPossible ? await findSignIn(database, workspaceId, email) : undefined;
  const actor = stored === undefined ? 'sign-in' : `user:${stored.userId}`;
  const access = {
    workspaceId,
    userGroups: undefined,
    actor,
    origin: { address: facts.address, requestId: facts.requestId },
  };
  const admitted =
    stored !== undefined &&
    (await database.inWorkspace(access, (transaction) => admitSignIn(transaction, stored.userId, LOCK))).admitted;
  const isRight = await verifyPassword(password.slice(0, MAX_PASSWORD), stored?.passwordHash ?? null);
  // Who has a second factor cannot come in without it.
  const reason = refusalOf({
    admitted,
    isRight,
    isDisabled: (stored?.disabledAt ?? null) !== null,
    hasFactor: (stored?.totpSecret ?? null) !== null,
  });
  const whence = { address: facts.address ?? null, userAgent: headers['user-agent'] ?? null };
  const signIn = { userId: stored?.userId, email: stored?.email ?? email, method: 'password', ...whence } as const;
  if (stored === undefined || reason !== undefined) {
    if (isPossible)
      await database.inWorkspace(access, (transaction) =>
        recordSignIn(transaction, { ...signIn, outcome: 'refused', reason }),
      );
    return undefined;
  }
  const expiresAt = Math.floor((context.now() + context.sessionMs) / 1_000) * 1_000;
  const { userId } = stored;
  const sessionId = await database
    .inWorkspace(access, async (transaction) => {
      await noteSignIn(transaction, userId);
      await recordSignIn(transaction, { ...signIn, outcome: 'succeeded' });
      const session = { userId, method: 'password', expiresAt: new Date(expiresAt).toISOString(), ...whence } as const;
      return createSession(transaction, session);
    })
    .catch(goneMeanwhile);
  return sessionId === undefined ? undefined : context.tokens.mint({ userId, sessionId, expiresAt });
};

interface Checked {
  readonly admitted: boolean;
  readonly isRight: boolean;
  readonly isDisabled: boolean;
  readonly hasFactor: boolean;
}

/** Why somebody may not come in, for the account of sign-ins; undefined: may. */
const refusalOf = ({ admitted, isRight, isDisabled, hasFactor }: Checked): string | undefined => {
  if (!admitted) return 'locked or unknown';
  if (!isRight) return 'wrong password';
  if (isDisabled) return 'disabled';
  return hasFactor ? 'second factor' : undefined;
};

/** The user was disabled or deleted between the check and the session. */
const goneMeanwhile = (error: unknown): undefined => {
  if (error instanceof ServiceError && (error.code === 'invalid_session' || error.code === 'user_not_found'))
    return undefined;
  throw error;
};
