import { timingSafeEqual } from 'node:crypto';
import { ServiceError } from '@decision/contracts';
import { hashApiKeySecret, parseApiKey, selectorOfNonsense } from './api-key';
import { type RefusalGuard } from './refusal-guard';

/** Who sent a request and what they may do. */
export interface Identity {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly role: string;
  readonly entitlements: ReadonlySet<string>;
  /** The groups that the key is restricted to; undefined where it is not restricted. */
  readonly userGroups: readonly string[] | undefined;
  /** Where the request came from; set by the server for each request. */
  readonly origin?: { readonly address?: string | undefined; readonly requestId?: string | undefined } | undefined;
}

export interface Authenticator {
  /**
   * The identity behind the header `x-api-key`. Throws `missing_api_key`, or `invalid_api_key` for every other reason alike; with a guard
   * `too_many_refusals` too. `address` is where the key came from.
   */
  authenticate(apiKey: string | undefined, address?: string): Promise<Identity>;
}

/** A moment as a store or a cache hands it over: a date, ISO 8601 text, or epoch ms. */
export type Moment = Date | string | number;

/** A key as it is stored. It holds no secret, only its hash. */
export interface StoredKey {
  readonly id: string;
  readonly workspaceId: string;
  readonly selector: string;
  /** SHA-256 of the secret part, hex. */
  readonly secretHash: string;
  readonly role: string;
  readonly entitlements: readonly string[];
  /** Empty: not restricted. */
  readonly userGroups: readonly string[];
  readonly expiresAt: Moment | null;
  readonly revokedAt: Moment | null;
}

export interface AuthenticatorOptions {
  /** Finds a key by its public part, through whatever caches there are. Its failures are handed on. */
  readonly findKey: (selector: string) => Promise<StoredKey | undefined>;
  /** Epoch ms. */
  readonly now: () => number;
  /** Holds refusals back; none by default. */
  readonly refusals?: RefusalGuard;
  /** Told of every key that was accepted. */
  readonly onUse?: (identity: Identity) => void;
}

/** What a secret is compared with where there is no usable hash; no text is known that hashes to it. */
const NO_HASH = Buffer.alloc(32);

/** An authenticator over stored keys. Unknown, malformed, expired and revoked keys get one answer, after the same work. */
export const createAuthenticator = ({ findKey, now, refusals, onUse }: AuthenticatorOptions): Authenticator => {
  // A cached key is one object for many requests; so is its identity.
  const identities = new WeakMap<StoredKey, Identity>();
  const identityOf = (key: StoredKey): Identity => {
    const known = identities.get(key) ?? toIdentity(key);
    identities.set(key, known);
    return known;
  };
  return {
    authenticate: async (apiKey, address) => {
      if (apiKey === undefined || apiKey === '') {
        throw new ServiceError('missing_api_key', 'The header x-api-key is absent. Send your API key in it.');
      }
      const startedAt = performance.now();
      const parts = parseApiKey(apiKey);
      // What is no key is looked up too: it must not be told apart by the time that this takes.
      const key = await findKey(parts?.selector ?? selectorOfNonsense(apiKey));
      const proven = provesKey(parts?.secret ?? apiKey, key);
      if (key === undefined || parts?.selector !== key.selector || !proven || !isAlive(key, now())) {
        await refusals?.hold(address, startedAt);
        throw invalidKey();
      }
      const identity = identityOf(key);
      onUse?.(identity);
      return identity;
    },
  };
};

/** Always hashes once and compares once in constant time, whether there is a key or not. */
const provesKey = (secret: string, key: StoredKey | undefined): boolean => {
  const stored = key === undefined ? NO_HASH : Buffer.from(key.secretHash, 'hex');
  const usable = stored.length === NO_HASH.length ? stored : NO_HASH;
  return timingSafeEqual(hashApiKeySecret(secret), usable) && usable !== NO_HASH;
};

/** A moment that cannot be read counts as passed. */
const isAlive = ({ expiresAt, revokedAt }: StoredKey, now: number): boolean =>
  revokedAt === null && (expiresAt === null || new Date(expiresAt).getTime() > now);

const invalidKey = (): ServiceError =>
  new ServiceError(
    'invalid_api_key',
    'The API key in x-api-key is not valid: it is unknown, malformed, expired or revoked.',
  );

const toIdentity = ({ id, workspaceId, role, entitlements, userGroups }: StoredKey): Identity => ({
  keyId: id,
  workspaceId,
  role,
  entitlements: new Set(entitlements),
  userGroups: userGroups.length === 0 ? undefined : userGroups,
});
