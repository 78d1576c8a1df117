import { type Branding, cacheKeys, ServiceError } from '@decision/contracts';
import {
  createSession,
  type Database,
  noteSignIn,
  recordAnnouncement,
  recordSignIn,
  type Transaction,
} from '@decision/persistence';
import { type createRefusalGuard } from '@decision/service-kit';
import { sessionCookie, type SessionTokens, type Tickets } from '@decision/sessions';
import { type Slots } from '@decision/waiting';
import { type DoorAnswer, type DoorRequest } from '../door/route';
import { redirectTo } from '../pages/html';
import { isSecure, type Visitor, visitorOf, type Visitors } from '../people/visitors';

/** Dependencies of signing in without a proxy. */
export interface SignInContext {
  readonly branding: Branding;
  /** Display name of the OpenID provider at which people may also sign in; undefined: there is none. */
  readonly providerName?: string | undefined;
  readonly visitors: Visitors;
  readonly database: Pick<Database, 'inWorkspace' | 'lookUp'>;
  readonly tokens: Pick<SessionTokens, 'mint'>;
  /** Tickets that carry a sign-in from the password to the code. */
  readonly codeTickets: Tickets;
  /** Slows addresses with too many wrong guesses. */
  readonly guard: ReturnType<typeof createRefusalGuard>;
  /** Bounds the concurrent hashing of passwords. */
  readonly slots: Slots;
  /** Makes every process forget the entries of a key. */
  readonly forget: (workspaceId: string, key: string) => Promise<void>;
  readonly workspaceId: () => Promise<string>;
  readonly sessionMs: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Wrong guesses of passwords and codes that lock an account, and the duration of the lock, s. */
export const LOCK = { lockAfter: 10, lockSeconds: 300 };

/** A person whose credentials have been checked. */
interface Proven {
  readonly workspaceId: string;
  readonly userId: string;
  readonly email: string;
}

/** Origin of a request, for accounts and lists. */
export const whenceOf = ({ context, headers }: DoorRequest) => ({
  address: context.address ?? null,
  userAgent: headers['user-agent'] ?? null,
});

/** Runs work in a workspace without restrictions; the audit names the person, or the actor in place of one. */
export const createRunner =
  (database: Pick<Database, 'inWorkspace'>, { context }: DoorRequest, workspaceId: string, actor: string) =>
  <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => {
    const origin = { address: context.address, requestId: context.requestId };
    return database.inWorkspace({ workspaceId, userGroups: undefined, actor, origin }, work);
  };

/**
 * Begins a person's session and answers its token, after a final check in the same transaction: undefined if that fails, or if the user was
 * disabled or deleted meanwhile.
 */
export const beginSession = async (
  { database, sessionMs, now, tokens }: SignInContext,
  request: DoorRequest,
  { workspaceId, userId, email }: Proven,
  lastProof: (transaction: Transaction) => Promise<boolean> = () => Promise.resolve(true),
): Promise<string | undefined> => {
  // Whole seconds, as in the token.
  const expiresAt = Math.floor((now() + sessionMs) / 1_000) * 1_000;
  const whence = whenceOf(request);
  const run = createRunner(database, request, workspaceId, `user:${userId}`);
  const sessionId = await run(async (transaction) => {
    if (!(await lastProof(transaction))) return undefined;
    await noteSignIn(transaction, userId);
    await recordSignIn(transaction, { userId, email, method: 'password', outcome: 'succeeded', ...whence });
    const session = { userId, method: 'password', expiresAt: new Date(expiresAt).toISOString(), ...whence } as const;
    return createSession(transaction, session);
  }).catch(goneMeanwhile);
  return sessionId === undefined ? undefined : tokens.mint({ userId, sessionId, expiresAt });
};

const goneMeanwhile = (error: unknown): undefined => {
  if (error instanceof ServiceError && (error.code === 'invalid_session' || error.code === 'user_not_found'))
    return undefined;
  throw error;
};

/** Answers a page of a signed-in person; others are redirected to sign in. */
export const pageOfVisitor =
  (context: SignInContext, show: (request: DoorRequest, visitor: Visitor) => Promise<DoorAnswer> | DoorAnswer) =>
  async (request: DoorRequest): Promise<DoorAnswer> => {
    const visitor = await visitorOf(context, request);
    return visitor === undefined ? redirectTo('/auth/signin') : show(request, visitor);
  };

/** Redirects to the dashboard with the cookie of a new session. */
export const welcome = ({ sessionMs }: SignInContext, { headers }: DoorRequest, token: string): DoorAnswer =>
  redirectTo('/dashboard', [sessionCookie(token, { secure: isSecure(headers), maxAgeSeconds: sessionMs / 1_000 })]);

/** Checks a guess: slows addresses with too many wrong guesses, and bounds concurrent hashing. A result of undefined is a wrong guess. */
export const guarded = async <T>(
  { guard, slots }: Pick<SignInContext, 'guard' | 'slots'>,
  { context }: DoorRequest,
  work: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const startedAt = performance.now();
  const check = guard.admit(context.address);
  const outcome = await slots.run(work).catch((error: unknown) => {
    check.end();
    throw error;
  });
  if (outcome === undefined) await check.refuse(startedAt);
  else check.end();
  return outcome;
};

/** Answers the invalidation keys of the sessions that end in this transaction. */
export const announceEnds = async (transaction: Transaction, ids: readonly string[]): Promise<readonly string[]> => {
  const keys = ids.map((id) => cacheKeys.session(id));
  if (keys.length > 0) await recordAnnouncement(transaction, { kind: 'user', keys });
  return keys;
};
