import { type SessionTokens } from './tokens';

/** A session with its person, as the database says it now. Moments are ISO 8601 text. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly userId: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  /** Since when the person may not sign in. */
  readonly disabledAt: string | null;
}

interface SessionVerifierOptions<Facts extends SessionFacts> {
  readonly tokens: Pick<SessionTokens, 'verify'>;
  /** Looks up a session; undefined where there is none. Its failures are handed on, and nothing is kept of them. */
  readonly findSession: (sessionId: string) => Promise<Facts | undefined>;
  /** Epoch ms. */
  readonly now: () => number;
  /** Tokens that are remembered at most; the one that was used longest ago is forgotten first. Default: 10,000. */
  readonly capacity?: number;
  /** How long what was looked up counts, ms. Default: 60,000 (specification: "Authentication"). */
  readonly ttlMs?: number;
}

/** Proves sessions. What was proven a short while ago needs no signature and no database. */
export interface SessionVerifier<Facts extends SessionFacts> {
  /** The session behind a token; undefined where the token proves none that is alive. */
  verify(token: string): Promise<Facts | undefined>;
  /** The same of a token that is remembered, at once; undefined where it is not. */
  recall(token: string): Facts | undefined;
  /** Forgets a session, or all of a user, by the key that invalidations name it by: `session:<id>` or `user:<id>`. */
  forget(key: string): void;
  /** Forgets everything: invalidations may have been lost. */
  clear(): void;
  /** Tokens that are remembered now. */
  size(): number;
}

interface Remembered<Facts> {
  /** Undefined: the token is proven, and its session is not alive. */
  readonly facts: Facts | undefined;
  readonly keys: readonly string[];
  /** Epoch ms. */
  readonly until: number;
}

const CAPACITY = 10_000;
const TTL_MS = 60_000;
/** How long it is remembered that a session is not alive, ms: long enough that a flood of one token costs nothing. */
const ABSENT_TTL_MS = 5_000;
/** Tokens that may be looked up at once; further ones wait for nobody and are looked up when these have ended. */
const MAX_FLIGHTS = 1_000;

/** Makes a verifier; one for each process. */
export const createSessionVerifier = <Facts extends SessionFacts>(
  options: SessionVerifierOptions<Facts>,
): SessionVerifier<Facts> => {
  const { tokens, findSession, now, capacity = CAPACITY, ttlMs = TTL_MS } = options;
  const remembered = new Map<string, Remembered<Facts>>();
  const flights = new Map<string, Promise<Facts | undefined>>();
  /** Counts what was forgotten: what was looked up before may be old. */
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
    // A signature that is wrong costs little to find again, and nothing is kept of it: a flood of such tokens fills no memory.
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
