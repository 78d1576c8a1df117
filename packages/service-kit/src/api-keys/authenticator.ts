import { timingSafeEqual } from 'node:crypto';
import { ServiceError } from '@decision/contracts';
import { hashApiKeySecret, parseApiKey, selectorOfNonsense } from './api-key';
import { type RefusalGuard } from './refusal-guard';

/** Sender of a request and their entitlements. */
export interface Identity {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly role: string;
  readonly entitlements: ReadonlySet<string>;
  /** The groups that the key is restricted to; undefined where it is not restricted. */
  readonly userGroups: readonly string[] | undefined;
  /** Origin of the request; set by the server for each request. */
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
type Moment = Date | string | number;

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

/** Hash for the comparison of a secret when there is no usable one; no text is known that hashes to it. */
const NO_HASH = Buffer.alloc(32);
/** Accepted keys that are remembered. */
const MAX_ACCEPTED = 10_000;

/** An authenticator over stored keys. Unknown, malformed, expired and revoked keys get one answer, after the same work. */
export const createAuthenticator = ({ findKey, now, refusals, onUse }: AuthenticatorOptions): Authenticator => {
  // A cached key is one object for many requests; so is its identity.
  const identities = new WeakMap<StoredKey, Identity>();
  const accepted = new AcceptedKeys();
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
      // A text that is no key is looked up too, so that the time of the answer does not reveal it.
      const selector = parts?.selector ?? selectorOfNonsense(apiKey);
      const secretHash = hashApiKeySecret(parts?.secret ?? apiKey);
      // A key that was accepted before is not held up by others from its address.
      const isKnown = accepted.has(selector, secretHash);
      const check = isKnown ? undefined : refusals?.admit(address);
      const key = await findKey(selector).catch((error: unknown) => {
        check?.end();
        throw error;
      });
      const proven = provesKey(secretHash, key);
      if (key === undefined || parts?.selector !== key.selector || !proven || !isAlive(key, now())) {
        if (isKnown) accepted.delete(selector);
        await (check ?? refusals?.admit(address))?.refuse(startedAt);
        throw invalidKey();
      }
      check?.end();
      if (!isKnown) accepted.add(selector, secretHash);
      const identity = identityOf(key);
      onUse?.(identity);
      return identity;
    },
  };
};

/** Always compares once in constant time, whether there is a key or not. */
const provesKey = (secretHash: Buffer, key: StoredKey | undefined): boolean => {
  const stored = key === undefined ? NO_HASH : Buffer.from(key.secretHash, 'hex');
  const usable = stored.length === NO_HASH.length ? stored : NO_HASH;
  return timingSafeEqual(secretHash, usable) && usable !== NO_HASH;
};

/** Keys that were accepted lately; whether they still are is looked up each time. The one accepted first is forgotten first. */
class AcceptedKeys {
  private readonly hashes = new Map<string, Buffer>();

  has(selector: string, secretHash: Buffer): boolean {
    const known = this.hashes.get(selector);
    return known !== undefined && timingSafeEqual(known, secretHash);
  }

  add(selector: string, secretHash: Buffer): void {
    this.hashes.set(selector, secretHash);
    const oldest = this.hashes.keys().next().value;
    if (this.hashes.size > MAX_ACCEPTED && oldest !== undefined) this.hashes.delete(oldest);
  }

  delete(selector: string): void {
    this.hashes.delete(selector);
  }
}

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
