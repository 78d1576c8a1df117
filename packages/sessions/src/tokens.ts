import { type JWTPayload, jwtVerify, SignJWT } from 'jose';

/** Content of a token. Everything else about the person is looked up. */
interface SessionClaims {
  /** The user, a UUID: `sub`. */
  readonly userId: string;
  /** The session, a UUID: `jti`. */
  readonly sessionId: string;
  /** Its end, epoch ms; whole seconds in the token. */
  readonly expiresAt: number;
}

/** Signing secrets of this deployment. */
export interface SigningSecrets {
  /** Signs tokens; at least 32 characters. */
  readonly secret: string;
  /** Tokens that were signed with it stay valid while the secret is rotated. */
  readonly previousSecret?: string | undefined;
}

interface SessionTokenOptions extends SigningSecrets {
  /** Epoch ms. */
  readonly now: () => number;
}

/** Signs and verifies tokens. */
export interface SessionTokens {
  mint(claims: SessionClaims): Promise<string>;
  /** Undefined for anything but a valid token of this deployment: signature, algorithm, audience, form, expiry. */
  verify(token: string): Promise<SessionClaims | undefined>;
}

/** Other tokens are signed with the same secret, such as keys of the identity stack: the audience distinguishes them. */
export const audienceOf = (purpose: string): string => `decision-service-${purpose}`;
const AUDIENCE = audienceOf('session');
export const ALGORITHM = 'HS256';
/** Maximum characters of a token that is verified. */
const MAX_LENGTH = 2_048;
/** How far the clocks of two machines may differ, seconds. */
const CLOCK_TOLERANCE = 5;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The keys that verify tokens; the first one signs. */
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
  /** The first matching key verifies the token. */
  readonly keys: readonly Uint8Array[];
  readonly audience: string;
  readonly requiredClaims: string[];
  /** Epoch ms. */
  readonly now: number;
}

/**
 * The claims of a token of this deployment; undefined for one of another audience, form, algorithm or signature, and for one that has
 * expired.
 */
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
      // Another key may verify it.
    }
  }
  return undefined;
};
