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
import { type Places } from '../door/places';
import { type DoorAnswer, type DoorRequest } from '../door/route';
import { redirectTo } from '../pages/html';
import { isSecure, type Visitor, visitorOf, type Visitors } from '../people/visitors';

/** Dependencies of signing in without a proxy. */
export interface SignInContext {
  readonly branding: Branding;
  /** What people call the OpenID provider at which they may sign in as well; undefined: there is none. */
  readonly providerName?: string | undefined;
  readonly visitors: Visitors;
  readonly database: Pick<Database, 'inWorkspace' | 'lookUp'>;
  readonly tokens: Pick<SessionTokens, 'mint'>;
  /** Carries a sign-in from the right password to the code. */
  readonly codeTickets: Tickets;
  /** Slows addresses whose guesses were wrong too often. */
  readonly guard: ReturnType<typeof createRefusalGuard>;
  /** Bounds the passwords that are hashed at once. */
  readonly places: Places;
  /** Forgets what is remembered under a key, in every process. */
  readonly forget: (workspaceId: string, key: string) => Promise<void>;
  readonly workspaceId: () => Promise<string>;
  readonly sessionMs: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Guesses of passwords and codes after which an account is locked, and for how long, s. */
export const LOCK = { lockAfter: 10, lockSeconds: 300 };

/** Somebody whose proofs have been checked. */
interface Proven {
  readonly workspaceId: string;
  readonly userId: string;
  readonly email: string;
}

/** Whence a request comes, as accounts and lists keep it. */
export const whenceOf = ({ context, headers }: DoorRequest) => ({
  address: context.address ?? null,
  userAgent: headers['user-agent'] ?? null,
});

/** Runs work in a workspace with nothing hidden; the audit names the person, or what acts in place of one. */
export const createRunner =
  (database: Pick<Database, 'inWorkspace'>, { context }: DoorRequest, workspaceId: string, actor: string) =>
  <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => {
    const origin = { address: context.address, requestId: context.requestId };
    return database.inWorkspace({ workspaceId, userGroups: undefined, actor, origin }, work);
  };

/**
 * Begins the session of somebody and answers its token, after the last proof in the same transaction: undefined where that does not hold any more, or
 * where the user was disabled or deleted meanwhile.
 */
export const beginSession = async (
  { database, sessionMs, now, tokens }: SignInContext,
  request: DoorRequest,
  { workspaceId, userId, email }: Proven,
  lastProof: (transaction: Transaction) => Promise<boolean> = () => Promise.resolve(true),
): Promise<string | undefined> => {
  // Whole seconds, as the token has them.
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

/** Answers a page of somebody who is signed in; whoever is not is led to sign in. */
export const pageOfVisitor =
  (context: SignInContext, show: (request: DoorRequest, visitor: Visitor) => Promise<DoorAnswer> | DoorAnswer) =>
  async (request: DoorRequest): Promise<DoorAnswer> => {
    const visitor = await visitorOf(context, request);
    return visitor === undefined ? redirectTo('/auth/signin') : show(request, visitor);
  };

/** Sends somebody to the dashboard with the cookie of a new session. */
export const welcome = ({ sessionMs }: SignInContext, { headers }: DoorRequest, token: string): DoorAnswer =>
  redirectTo('/dashboard', [sessionCookie(token, { secure: isSecure(headers), maxAgeSeconds: sessionMs / 1_000 })]);

/**
 * Checks a guess: addresses that guessed wrongly too often are slowed, and passwords are hashed a few at once. Undefined from the work is a wrong guess.
 */
export const guarded = async <T>(
  { guard, places }: Pick<SignInContext, 'guard' | 'places'>,
  { context }: DoorRequest,
  work: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const startedAt = performance.now();
  const check = guard.admit(context.address);
  const outcome = await places.run(work).catch((error: unknown) => {
    check.end();
    throw error;
  });
  if (outcome === undefined) await check.refuse(startedAt);
  else check.end();
  return outcome;
};

/** Answers the keys under which sessions that end in this transaction are remembered. */
export const announceEnds = async (transaction: Transaction, ids: readonly string[]): Promise<readonly string[]> => {
  const keys = ids.map((id) => cacheKeys.session(id));
  if (keys.length > 0) await recordAnnouncement(transaction, { kind: 'user', keys });
  return keys;
};
