import { hash, timingSafeEqual } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@decision/contracts';

/** The caller of a request and their entitlements. */
export interface Identity {
  /** Who acts, for the audit and the decision log: the id of the key, or `user:` and the id of the person. */
  readonly actor: string;
  /** The person, where it is one. */
  readonly userId?: string | undefined;
  readonly workspaceId: string;
  readonly role: string;
  readonly entitlements: ReadonlySet<string>;
  /** The groups that the caller is restricted to; undefined where it is not restricted. */
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
  /**
   * The identity behind a key that this process has proven and whose stored form it still holds; undefined for every other key, which
   * {@link authenticate} is to be asked for. Absent where no key is held.
   */
  readonly authenticateKnown?: ((apiKey: string) => Identity | undefined) | undefined;
  /** Sessions of people; without it the service knows API keys alone. */
  readonly people?: PeopleAuthenticator | undefined;
}

/** Authenticates people by their sessions. */
export interface PeopleAuthenticator {
  /**
   * The identity behind the session that a request carries; undefined where it carries none. Throws `invalid_session` for every session that is not
   * alive, and `cross_site_request` where another site made a browser send what changes something.
   */
  authenticate(method: string, headers: IncomingHttpHeaders): Promise<Identity> | undefined;
}

/**
 * The caller of a request: by the API key where there is one, whatever else it carries, and else by the session. Throws as {@link Authenticator}
 * and {@link PeopleAuthenticator} do.
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

/**
 * Bounds the checks of API keys that this process has not accepted before, and slows callers that try many: an address whose keys were refused too
 * often has a few places, which its refusals keep while they wait, and beyond them nothing is looked up for it. Nobody learns from the time that an
 * answer took why a key was refused.
 */
export interface RefusalGuard {
  /** Admits the check of a key that came from this address. Throws `too_many_refusals`; nothing has been looked up by then. */
  admit(address: string | undefined): KeyCheck;
  /** The number of addresses that are remembered now. */
  size(): number;
}

/** The check of one key; exactly one of its functions is to be called. */
interface KeyCheck {
  /** The key was accepted, or could not be checked. */
  end(): void;
  /** The key was refused: resolves when that may be answered. `startedAt` is when the check began, as `now` tells. */
  refuse(startedAt: number): Promise<void>;
}

export interface AuthenticatorOptions {
  /** Finds a key by its public part, through whatever caches there are. Its failures are handed on. */
  readonly findKey: (selector: string) => Promise<StoredKey | undefined>;
  /** The stored key that `findKey` would answer, where this process holds it, as one object for as long as it does; undefined where it does not. */
  readonly peekKey?: ((selector: string) => StoredKey | undefined) | undefined;
  /** Epoch ms. */
  readonly now: () => number;
  /** Bounds checks and delays refusals; none by default. */
  readonly refusals?: RefusalGuard;
  /** Called for every key that is accepted. */
  readonly onUse?: (identity: Identity) => void;
}

/** Hash for the comparison of a secret when there is no usable one; no text is known that hashes to it. */
const NO_HASH = Buffer.alloc(32);
/** Accepted keys that are remembered, and proven ones. */
const MAX_ACCEPTED = 10_000;

/** An authenticator over stored keys. Unknown, malformed, expired and revoked keys get one answer, after the same work. */
export const createAuthenticator = ({
  findKey,
  peekKey,
  now,
  refusals,
  onUse,
}: AuthenticatorOptions): Authenticator => {
  // A cached key is one object for many requests; so is its identity.
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
      // A key that was accepted before is not held up by others from its address.
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
        // Another object is another reading of the key, which may say that it was revoked.
        if (known === undefined || peekKey(known.key.selector) !== known.key || !isAlive(known.key, now()))
          return undefined;
        onUse?.(known.identity);
        return known.identity;
      }),
  };
};

interface ProvenKey {
  /** What the secret was compared with. */
  readonly key: StoredKey;
  readonly identity: Identity;
}

/** Keys whose secret was compared, by their hash: no secret is kept, and the time of a search tells nothing of one. The oldest are forgotten first. */
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

/** Always compares once in constant time, whether there is a key or not. */
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

/** A moment that cannot be read counts as passed. */
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

/** Throws `forbidden` where the role of the key does not allow it. */
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

/** Digits and lower-case letters without i, l, o and u, which are mistaken for others: five bits a character. */
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

/** A selector for text that is not a key, so that the look-up takes as long. With 60 bits it is hardly ever that of a key. */
const selectorOfInvalidKey = (text: string): string =>
  [...hash('sha256', text, 'buffer').subarray(0, SELECTOR_LENGTH)]
    .map((byte) => SELECTOR_ALPHABET.charAt(byte & 31))
    .join('');

/** SHA-256 of the secret part of a key. The secret has 256 bits of chance, so a fast hash is enough. */
export const hashApiKeySecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/**
 * The groups that a key gives to a thing. A restricted key hands on only groups of its own, and all of them where none are named; those that the
 * thing had before may stay. Throws `invalid_request`.
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
