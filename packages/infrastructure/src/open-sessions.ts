import { type Cache } from '@decision/cache';
import { ServiceError } from '@decision/contracts';
import { type Database, findSession, type StoredSession } from '@decision/persistence';
import {
  type Config,
  type Identity,
  type Metrics,
  type PeopleAuthenticator,
  type sessionSettings,
} from '@decision/service-kit';
import {
  createSessionTokens,
  createSessionVerifier,
  requireSameSite,
  type SessionTokens,
  sessionTokenOf,
  type SessionVerifier,
} from '@decision/sessions';

/** Signs and verifies sessions of people in one process. */
interface Sessions {
  readonly tokens: SessionTokens;
  readonly verifier: SessionVerifier<StoredSession>;
}

interface SessionsOpening {
  readonly database: Pick<Database, 'lookUp'>;
  /** With its channel, changes of people and sessions take effect at once; without it, within a minute. */
  readonly cache?: Pick<Cache, 'invalidations'>;
  readonly config: Config<typeof sessionSettings>;
  readonly metrics: Metrics;
}

/** Opens sessions; undefined without a secret to verify them, so that only API keys are accepted. */
export const openSessions = ({ database, cache, config, metrics }: SessionsOpening): Sessions | undefined => {
  const { jwtSecret, jwtSecretPrevious } = config;
  if (jwtSecret === undefined) return undefined;
  const [secret, previousSecret] = [jwtSecret.reveal(), jwtSecretPrevious?.reveal()];
  const tokens = createSessionTokens({ secret, previousSecret, now: Date.now });
  const verifier = createSessionVerifier({ tokens, findSession: (id) => findSession(database, id), now: Date.now });
  cache?.invalidations.subscribe(({ keys }) => keys.forEach((key) => verifier.forget(key)));
  // While the channel was disconnected, messages may have been lost.
  cache?.invalidations.onReconnect(() => verifier.clear());
  metrics.gauge({
    name: 'decision_sessions_remembered',
    help: 'Sessions of people that this process has proven within the last minute.',
    collect() {
      this.set(verifier.size());
    },
  });
  return { tokens, verifier };
};

/** Authenticates people by the sessions of their requests. */
export const authenticatePeople = ({ verifier }: Pick<Sessions, 'verifier'>): PeopleAuthenticator => {
  // A cached session is one object for many requests; so is its identity.
  const identities = new WeakMap<StoredSession, Identity>();
  const identityOf = (session: StoredSession): Identity => {
    const known = identities.get(session) ?? toIdentity(session);
    identities.set(session, known);
    return known;
  };
  const prove = async (token: string): Promise<Identity> => {
    const session = await verifier.verify(token);
    if (session !== undefined) return identityOf(session);
    throw new ServiceError('invalid_session', 'The session is not valid any more; sign in again.');
  };
  return {
    authenticate: (method, headers) => {
      const token = sessionTokenOf(headers);
      if (token === undefined) return undefined;
      requireSameSite(method, headers);
      return prove(token);
    },
  };
};

const toIdentity = ({ userId, workspaceId, role, entitlements, userGroups, allGroups }: StoredSession): Identity => ({
  ...{ actor: `user:${userId}`, userId, workspaceId, role },
  entitlements: new Set(entitlements),
  userGroups: allGroups ? undefined : userGroups,
});
