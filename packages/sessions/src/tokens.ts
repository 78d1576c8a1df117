import { type JWTPayload, jwtVerify, SignJWT } from 'jose';

/** What a token says. Everything else about the person is looked up. */
interface SessionClaims {
  /** The user, a UUID: `sub`. */
  readonly userId: string;
  /** The session, a UUID: `jti`. */
  readonly sessionId: string;
  /** When it ends, epoch ms; whole seconds in the token. */
  readonly expiresAt: number;
}

/** What this deployment signs with. */
export interface SigningSecrets {
  /** Signs tokens; 32 characters at least. */
  readonly secret: string;
  /** Tokens that were signed with it are still proven, while a secret is exchanged. */
  readonly previousSecret?: string | undefined;
}

interface SessionTokenOptions extends SigningSecrets {
  /** Epoch ms. */
  readonly now: () => number;
}

/** Signs tokens, and proves those that come back. */
export interface SessionTokens {
  mint(claims: SessionClaims): Promise<string>;
  /** Undefined for whatever is not a valid token of this deployment: signature, algorithm, audience, form, expiry. */
  verify(token: string): Promise<SessionClaims | undefined>;
}

/** Other tokens are signed with the same secret, such as keys of the identity stack: these are told apart by their audience. */
export const audienceOf = (purpose: string): string => `decision-service-${purpose}`;
const AUDIENCE = audienceOf('session');
export const ALGORITHM = 'HS256';
/** A token is shorter; one that is longer is not looked at. */
const MAX_LENGTH = 2_048;
/** How far the clocks of two machines may differ, seconds. */
const CLOCK_TOLERANCE = 5;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The keys that prove a token; the first one signs. */
export const keysOf = ({ secret, previousSecret }: SigningSecrets): readonly Uint8Array[] =>
  [secret, previousSecret].filter((text) => text !== undefined).map((text) => new TextEncoder().encode(text));

/** Tokens of one deployment: JSON Web Tokens, signed with HMAC-SHA256 (specification: "Token passthrough mode", step 4). */
export const createSessionTokens = ({ now, ...secrets }: SessionTokenOptions): SessionTokens => {
  const keys = keysOf(secrets);
  const [signing = new Uint8Array()] = keys;
  return {
    mint: ({ userId, sessionId, expiresAt }) =>
      new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(userId)
        .setJti(sessionId)
        .setAudience(AUDIENCE)
        .setIssuedAt(Math.floor(now() / 1_000))
        .setExpirationTime(Math.floor(expiresAt / 1_000))
        .sign(signing),
    verify: async (token) => {
      const proof = { keys, audience: AUDIENCE, requiredClaims: ['sub', 'jti', 'exp'], now: now() };
      const { sub = '', jti = '', exp = 0 } = (await provenClaims(token, proof)) ?? {};
      return UUID.test(sub) && UUID.test(jti) ? { userId: sub, sessionId: jti, expiresAt: exp * 1_000 } : undefined;
    },
  };
};

interface Proof {
  /** The first one that fits proves the token. */
  readonly keys: readonly Uint8Array[];
  readonly audience: string;
  readonly requiredClaims: string[];
  /** Epoch ms. */
  readonly now: number;
}

/** The claims of a token of this deployment; undefined for one of another audience, form, algorithm or signature, and for one that has expired. */
export const provenClaims = async (
  token: string,
  { keys, audience, requiredClaims, now }: Proof,
): Promise<JWTPayload | undefined> => {
  if (token.length > MAX_LENGTH) return undefined;
  const checks = { algorithms: [ALGORITHM], audience, clockTolerance: CLOCK_TOLERANCE, currentDate: new Date(now) };
  for (const key of keys) {
    try {
      return (await jwtVerify(token, key, { ...checks, requiredClaims })).payload;
    } catch {
      // Another key may prove it.
    }
  }
  return undefined;
};
