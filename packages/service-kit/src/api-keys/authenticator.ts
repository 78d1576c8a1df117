import { hash, timingSafeEqual } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@decision/contracts';

/** The caller of a request and their entitlements. */
export interface Identity {
  /** Who acts, for the audit and the decision log: the id of the key, or `user:` and the id of the person. */
  readonly actor: string;
  /** The person, if it is one. */
  readonly userId?: string | undefined;
  readonly workspaceId: string;
  readonly role: string;
  readonly entitlements: ReadonlySet<string>;
  /** The groups that the caller is restricted to; undefined if it is not restricted. */
  readonly userGroups: readonly string[] | undefined;
  /** Origin of the request; the server sets it for each request. */
  readonly origin?: { readonly address?: string | undefined; readonly requestId?: string | undefined } | undefined;
}

export interface Authenticator {
  /**
   * The identity behind the header `x-api-key`. Throws `missing_api_key`, or `invalid_api_key` for every other reason; with a guard also
   * `too_many_refusals`. `address` is the client's address.
   */
  authenticate(apiKey: string | undefined, address?: string): Promise<Identity>;
  /**
   * The identity of a key that this process has proven and still holds; undefined for every other key, for which {@link authenticate} must
   * be called. Absent if keys are not held.
   */
  readonly authenticateKnown?: ((apiKey: string) => Identity | undefined) | undefined;
  /** Sessions of people; without it the service accepts only API keys. */
  readonly people?: PeopleAuthenticator | undefined;
}

/** Authenticates people by their sessions. */
export interface PeopleAuthenticator {
  /**
   * The identity of the session in a request; undefined if there is none. Throws `invalid_session` for a session that is not live, and
   * `cross_site_request` if another site made a browser send a change.
   */
  authenticate(method: string, headers: IncomingHttpHeaders): Promise<Identity> | undefined;
}

/**
 * The caller of a request: by the API key if there is one, and otherwise by the session. Throws as {@link Authenticator} and {@link
 * PeopleAuthenticator} do.
 */
export const identifyCaller = (
  authenticator: Authenticator,
  method: string | undefined,
  headers: IncomingHttpHeaders,
  address: string | undefined,
): Promise<Identity> => {
  const header = headers['x-api-key'];
  const person = header === undefined ? authenticator.people?.authenticate(method ?? 'GET', headers) : undefined;
  return person ?? authenticator.authenticate(typeof header === 'string' ? header : undefined, address);
};

/** A moment as a store or a cache returns it: a date, ISO 8601 text, or epoch ms. */
type Moment = Date | string | number;

/** A stored key. It contains only the hash of its secret. */
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

/**
 * Bounds the checks of API keys that this process has not accepted before, and slows callers that try many. An address whose keys were
 * refused too often has a few slots, which its delayed refusals occupy; beyond them none of its keys is looked up. The time of an answer
 * does not reveal why a key was refused.
 */
export interface RefusalGuard {
  /** Admits the check of a key from this address. Throws `too_many_refusals` before anything is looked up. */
  admit(address: string | undefined): KeyCheck;
  /** Number of addresses that are remembered. */
  size(): number;
}

/** The check of one key; exactly one of its functions must be called. */
interface KeyCheck {
  /** The key was accepted, or could not be checked. */
  end(): void;
  /** The key was refused: resolves when the refusal may be answered. `startedAt` is the start of the check by the clock `now`. */
  refuse(startedAt: number): Promise<void>;
}

export interface AuthenticatorOptions {
  /** Finds a key by its public part, possibly through caches. Its failures are passed on. */
  readonly findKey: (selector: string) => Promise<StoredKey | undefined>;
  /** The stored key that `findKey` would answer, if this process holds it; always the same object while it does; otherwise undefined. */
  readonly peekKey?: ((selector: string) => StoredKey | undefined) | undefined;
  /** Epoch ms. */
  readonly now: () => number;
  /** Bounds checks and delays refusals; none by default. */
  readonly refusals?: RefusalGuard;
  /** Called for every key that is accepted. */
  readonly onUse?: (identity: Identity) => void;
}

/** Hash for the comparison if there is no usable one; no text is known to hash to it. */
const NO_HASH = Buffer.alloc(32);
/** Maximum of remembered accepted keys, and of proven ones. */
const MAX_ACCEPTED = 10_000;

/** An authenticator over stored keys. Unknown, malformed, expired and revoked keys get one answer, after the same work. */
export const createAuthenticator = ({
  findKey,
  peekKey,
  now,
  refusals,
  onUse,
}: AuthenticatorOptions): Authenticator => {
  // A cached key is one object for many requests, and so is its identity.
  const identities = new WeakMap<StoredKey, Identity>();
  const accepted = new AcceptedKeys();
  const proven = new ProvenKeys();
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
      // Text that is not a key is looked up too, so that the time to the answer does not reveal it.
      const selector = parts?.selector ?? selectorOfInvalidKey(apiKey);
      const secretHash = hashApiKeySecret(parts?.secret ?? apiKey);
      // A key that was accepted before is not slowed by others from its address.
      const isKnown = accepted.has(selector, secretHash);
      const check = isKnown ? undefined : refusals?.admit(address);
      const key = await findKey(selector).catch((error: unknown) => {
        check?.end();
        throw error;
      });
      const matches = matchesSecret(secretHash, key);
      if (key === undefined || parts?.selector !== key.selector || !matches || !isAlive(key, now())) {
        if (isKnown) accepted.delete(selector);
        await (check ?? refusals?.admit(address))?.refuse(startedAt);
        throw invalidKey();
      }
      check?.end();
      if (!isKnown) accepted.add(selector, secretHash);
      const identity = identityOf(key);
      if (peekKey !== undefined) proven.add(apiKey, { key, identity });
      onUse?.(identity);
      return identity;
    },
    authenticateKnown:
      peekKey &&
      ((apiKey) => {
        const known = proven.find(apiKey);
        // Another object was loaded separately, and may be revoked.
        if (known === undefined || peekKey(known.key.selector) !== known.key || !isAlive(known.key, now()))
          return undefined;
        onUse?.(known.identity);
        return known.identity;
      }),
  };
};

interface ProvenKey {
  /** The hash that the secret was compared with. */
  readonly key: StoredKey;
  readonly identity: Identity;
}

/**
 * Keys whose secret was compared, by hash: no secret is kept, and the time of a look-up reveals nothing of one. The oldest are forgotten
 * first.
 */
class ProvenKeys {
  private readonly byHash = new Map<string, ProvenKey>();

  find(apiKey: string): ProvenKey | undefined {
    return this.byHash.get(hash('sha256', apiKey, 'binary'));
  }

  add(apiKey: string, proven: ProvenKey): void {
    this.byHash.set(hash('sha256', apiKey, 'binary'), proven);
    const oldest = this.byHash.keys().next().value;
    if (this.byHash.size > MAX_ACCEPTED && oldest !== undefined) this.byHash.delete(oldest);
  }
}

/** Always compares once in constant time, with or without a key. */
const matchesSecret = (secretHash: Buffer, key: StoredKey | undefined): boolean => {
  const stored = key === undefined ? NO_HASH : Buffer.from(key.secretHash, 'hex');
  const usable = stored.length === NO_HASH.length ? stored : NO_HASH;
  return timingSafeEqual(secretHash, usable) && usable !== NO_HASH;
};

/** Recently accepted keys, the oldest forgotten first. Each use still looks up whether the key is valid. */
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

/** A moment that cannot be parsed counts as past. */
const isAlive = ({ expiresAt, revokedAt }: StoredKey, now: number): boolean =>
  revokedAt === null && (expiresAt === null || new Date(expiresAt).getTime() > now);

const invalidKey = (): ServiceError =>
  new ServiceError(
    'invalid_api_key',
    'The API key in x-api-key is not valid: it is unknown, malformed, expired or revoked.',
  );

const toIdentity = ({ id, workspaceId, role, entitlements, userGroups }: StoredKey): Identity => ({
  actor: id,
  workspaceId,
  role,
  entitlements: new Set(entitlements),
  userGroups: userGroups.length === 0 ? undefined : userGroups,
});

/** Throws `forbidden` if the role of the key does not allow it. */
export const requireEntitlement = (identity: Identity, entitlement: string): void => {
  if (identity.entitlements.has(entitlement)) return;
  throw new ServiceError(
    'forbidden',
    `The role "${identity.role}" of this ${identity.userId === undefined ? 'key' : 'person'} lacks the entitlement "${entitlement}".`,
    { entitlement },
  );
};

/** The two parts of an API key: the public selector, by which it is found, and the secret. */
interface ApiKeyParts {
  readonly selector: string;
  readonly secret: string;
}

/** A new key. Only `selector` and `secretHash` are stored; `apiKey` is shown once. */
export interface GeneratedApiKey {
  readonly apiKey: string;
  readonly selector: string;
  /** SHA-256 of the secret part, hex. */
  readonly secretHash: string;
}

/** Digits and lower-case letters without i, l, o and u, which are easily confused: five bits per character. */
const SELECTOR_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SELECTOR_LENGTH = 12;
const SECRET_BYTES = 32;
const API_KEY = /^dsk_([0-9a-hjkmnp-tv-z]{12})_([A-Za-z0-9_-]{43})$/;

/** Makes a key: `dsk_<selector, 60 bit>_<secret, 256 bit>`. `randomBytes` must be cryptographically strong. */
export const generateApiKey = (randomBytes: (size: number) => Buffer): GeneratedApiKey => {
  const selector = [...randomBytes(SELECTOR_LENGTH)].map((byte) => SELECTOR_ALPHABET.charAt(byte & 31)).join('');
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { apiKey: `dsk_${selector}_${secret}`, selector, secretHash: hashApiKeySecret(secret).toString('hex') };
};

/** Splits a key into its parts; undefined for text that cannot be a key. */
export const parseApiKey = (text: string): ApiKeyParts | undefined => {
  const [, selector, secret] = API_KEY.exec(text) ?? [];
  return selector === undefined || secret === undefined ? undefined : { selector, secret };
};

/** A selector for text that is not a key, so that the look-up takes the same time. With 60 bits it practically never matches a key. */
const selectorOfInvalidKey = (text: string): string =>
  [...hash('sha256', text, 'buffer').subarray(0, SELECTOR_LENGTH)]
    .map((byte) => SELECTOR_ALPHABET.charAt(byte & 31))
    .join('');

/** SHA-256 of the secret part of a key. The secret has 256 random bits, so a fast hash is enough. */
export const hashApiKeySecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/**
 * The groups that a key assigns to a resource. A restricted key assigns only its own groups, and all of them if none are named; groups that
 * the resource already had may stay. Throws `invalid_request`.
 */
export const assignableGroups = (
  own: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
  kept: readonly string[] = [],
): readonly string[] => {
  if (own === undefined) return wanted ?? kept;
  if (wanted === undefined || wanted.length === 0) return kept.length > 0 && wanted === undefined ? kept : own;
  const foreign = wanted.filter((group) => !own.includes(group) && !kept.includes(group));
  if (foreign.length === 0 && wanted.some((group) => own.includes(group))) return wanted;
  const message = `must be among the groups of this key: ${own.join(', ')}`;
  throw new ServiceError('invalid_request', `The field "user_groups" ${message}.`, {
    problems: [{ path: '/user_groups', message }],
  });
};
