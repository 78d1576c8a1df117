import { cacheKeys, ServiceError } from '@decision/contracts';
import {
  createSession,
  type Database,
  provisionPerson,
  recordAnnouncement,
  recordSignIn,
  type Transaction,
} from '@decision/persistence';
import { type SessionTokens } from '@decision/sessions';
import { type Origin } from './admit';
import { type TokenIdentity } from './claims';

/** Result of the saved mapping for a person. */
interface Mapped {
  /** Why the person is not admitted; undefined: admitted. */
  readonly denied?: string | undefined;
  /** API keys whose rights changed. */
  readonly selectors: readonly string[];
  readonly changed: boolean;
}

export type ApplySavedMapping = (
  transaction: Transaction,
  userId: string,
  claims: Readonly<Record<string, unknown>>,
) => Promise<Mapped>;

interface BeginOptions {
  readonly database: Pick<Database, 'inWorkspace'>;
  readonly workspaceId: () => Promise<string>;
  readonly adminEmail: string;
  readonly tokens: Pick<SessionTokens, 'mint'>;
  readonly applyMapping: ApplySavedMapping;
  readonly sessionMs: number;
  /** The authority that identifies the person. */
  readonly method: 'passthrough' | 'oidc';
  /** Epoch ms. */
  readonly now: () => number;
}

/** The person is known but not admitted: the session ends, and a browser is sent to /auth/denied. */
export const accessDenied = (reason: string): ServiceError =>
  new ServiceError('forbidden', `You may not use this service: ${reason}`, { reason: 'access_denied' });

/**
 * Steps 3, 4 and 6: creates or updates the person, applies the saved mapping, and begins a session, all in one transaction. In the audit
 * the method is the actor. Answers the token. Throws `forbidden` if the person is disabled or the mapping refuses the claims.
 */
export const createBeginSession =
  ({ database, workspaceId, adminEmail, tokens, applyMapping, sessionMs, method, now }: BeginOptions) =>
  async (identity: TokenIdentity, origin: Origin): Promise<string> => {
    const access = {
      ...{ workspaceId: await workspaceId(), userGroups: undefined, actor: method },
      origin: { address: origin.address },
    };
    // Whole seconds, as in the token.
    const expiresAt = Math.floor((now() + sessionMs) / 1_000) * 1_000;
    const whence = { address: origin.address ?? null, userAgent: origin.userAgent ?? null };
    const recordRefusal = async (error: unknown): Promise<never> => {
      if (isRefused(error))
        await database.inWorkspace(access, (transaction) =>
          recordSignIn(transaction, {
            ...{ email: identity.email, method, outcome: 'refused', reason: String(error.details['reason']) },
            ...whence,
          }),
        );
      throw error;
    };
    const provisioning = database.inWorkspace(access, async (transaction) => {
      const { person, selectors } = await provisionPerson(transaction, {
        ...{ email: identity.email, adminEmail, name: identity.name },
        ...{ externalSub: identity.externalSub, externalClaims: identity.claims },
      });
      const mapped = await applyMapping(transaction, person.id, identity.claims);
      const signIn = { userId: person.id, email: person.email, method, ...whence } as const;
      await announceRights(transaction, person.id, { ...mapped, selectors: [...selectors, ...mapped.selectors] });
      if (mapped.denied !== undefined) {
        await recordSignIn(transaction, { ...signIn, outcome: 'refused', reason: 'access mapping' });
        return { denied: mapped.denied };
      }
      const sessionId = await createSession(transaction, {
        ...{ userId: person.id, method, expiresAt: new Date(expiresAt).toISOString() },
        ...whence,
      });
      await recordSignIn(transaction, { ...signIn, outcome: 'succeeded' });
      return { userId: person.id, sessionId };
    });
    const made = await provisioning.catch(recordRefusal);
    if (made.denied !== undefined) throw accessDenied(made.denied);
    return tokens.mint({ userId: made.userId, sessionId: made.sessionId, expiresAt });
  };

/** The person is known and was refused, for instance because of being disabled; the attempt was rolled back. */
const isRefused = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'forbidden';

/**
 * Announces to every process that the rights of a person, or of their keys, have changed; the relay of objects-api sends it within seconds.
 */
export const announceRights = async (
  transaction: Transaction,
  userId: string,
  { selectors, changed }: Pick<Mapped, 'selectors' | 'changed'>,
): Promise<void> => {
  if (changed) await recordAnnouncement(transaction, { kind: 'user', keys: [cacheKeys.user(userId)] });
  if (selectors.length > 0)
    await recordAnnouncement(transaction, { kind: 'api-key', keys: selectors.map(cacheKeys.apiKey) });
};

/** The same for a session that ends in this transaction. */
export const announceEnd = async (transaction: Transaction, sessionId: string): Promise<void> => {
  await recordAnnouncement(transaction, { kind: 'user', keys: [cacheKeys.session(sessionId)] });
};
