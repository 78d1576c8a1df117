import { type SessionTokens } from './tokens';

/** A session with its person, as the database has them now. Moments are ISO 8601 text. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly userId: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  /** Time since which the person may not sign in. */
  readonly disabledAt: string | null;
}

interface SessionVerifierOptions<Facts extends SessionFacts> {
  readonly tokens: Pick<SessionTokens, 'verify'>;
  /** Looks up a session; undefined if there is none. Failures are passed on and not remembered. */
  readonly findSession: (sessionId: string) => Promise<Facts | undefined>;
  /** Epoch ms. */
  readonly now: () => number;
  /** Maximum number of remembered tokens; the least recently used is forgotten first. Default: 10,000. */
  readonly capacity?: number;
  /** How long a look-up is reused, ms. Default: 60,000 (specification: "Authentication"). */
  readonly ttlMs?: number;
}

/** Verifies sessions. A recently verified one needs neither a signature check nor the database: docs/adr/0063-sessions-of-people.md. */
export interface SessionVerifier<Facts extends SessionFacts> {
  /** The session behind a token; undefined if there is no live session for the token. */
  verify(token: string): Promise<Facts | undefined>;
  /** The same for a remembered token, synchronously; undefined if it is not remembered. */
  recall(token: string): Facts | undefined;
  /** Forgets a session, or all sessions of a user, by the key of an invalidation: `session:<id>` or `user:<id>`. */
  forget(key: string): void;
  /** Forgets everything: invalidations may have been lost. */
  clear(): void;
  /** Number of remembered tokens. */
  size(): number;
}

interface Remembered<Facts> {
  /** Undefined: the token is genuine, but its session is not live. */
  readonly facts: Facts | undefined;
  readonly keys: readonly string[];
  /** Epoch ms. */
  readonly until: number;
}

const CAPACITY = 10_000;
const TTL_MS = 60_000;
/** How long a dead session is remembered, ms: long enough that a flood with one token costs little. */
const ABSENT_TTL_MS = 5_000;
/** Maximum concurrent look-ups of tokens; further ones are looked up when these have ended. */
const MAX_FLIGHTS = 1_000;

/** Makes a verifier; one for each process. */
export const createSessionVerifier = <Facts extends SessionFacts>(
  options: SessionVerifierOptions<Facts>,
): SessionVerifier<Facts> => {
  const { tokens, findSession, now, capacity = CAPACITY, ttlMs = TTL_MS } = options;
  const remembered = new Map<string, Remembered<Facts>>();
  const flights = new Map<string, Promise<Facts | undefined>>();
  /** Counts invalidations: a look-up that began before one may be outdated. */
  let generation = 0;

  const remember = (token: string, entry: Remembered<Facts>): void => {
    remembered.delete(token);
    remembered.set(token, entry);
    const oldest = remembered.keys().next().value;
    if (remembered.size > capacity && oldest !== undefined) remembered.delete(oldest);
  };

  const held = (token: string): Remembered<Facts> | undefined => {
    const entry = remembered.get(token);
    if (entry === undefined) return undefined;
    remembered.delete(token);
    if (entry.until <= now()) return undefined;
    remembered.set(token, entry);
    return entry;
  };

  const lookUp = async (token: string): Promise<Facts | undefined> => {
    const claims = await tokens.verify(token);
    // A wrong signature is cheap to detect again, so it is not remembered: a flood of such tokens uses no memory.
    if (claims === undefined) return undefined;
    const begun = generation;
    const found = await findSession(claims.sessionId);
    const facts = found !== undefined && found.userId === claims.userId && isAlive(found, now()) ? found : undefined;
    const ends = Math.min(claims.expiresAt, facts === undefined ? Infinity : Date.parse(facts.expiresAt));
    const until = Math.min(now() + (facts === undefined ? ABSENT_TTL_MS : ttlMs), ends);
    const keys = [`session:${claims.sessionId}`, `user:${claims.userId}`];
    if (begun === generation) remember(token, { facts, keys, until });
    return facts;
  };

  return {
    recall: (token) => held(token)?.facts,
    verify: (token) => {
      const entry = held(token);
      if (entry !== undefined) return Promise.resolve(entry.facts);
      const flying = flights.get(token);
      if (flying !== undefined) return flying;
      const flight = lookUp(token).finally(() => flights.delete(token));
      if (flights.size < MAX_FLIGHTS) flights.set(token, flight);
      return flight;
    },
    forget: (key) => {
      generation += 1;
      for (const [token, { keys }] of remembered) if (keys.includes(key)) remembered.delete(token);
    },
    clear: () => {
      generation += 1;
      remembered.clear();
    },
    size: () => remembered.size,
  };
};

const isAlive = ({ expiresAt, revokedAt, disabledAt }: SessionFacts, now: number): boolean =>
  revokedAt === null && disabledAt === null && Date.parse(expiresAt) > now;
