import { hash } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { cookieTokenOf, type SessionFacts, type SessionVerifier } from '@decision/sessions';
import { withDeadline } from '@decision/waiting';
import { BoundedMap } from '../door/bounded-map';
import { createPlaces } from '../door/places';
import { type ClaimPaths, identityOf, type TokenIdentity } from './claims';
import { decodeClaims, readToken } from './token';

/** A session with the address of its person. */
interface PersonSession extends SessionFacts {
  readonly email: string;
}

/** Where a request comes from, for the lists of sessions and sign-ins. */
export interface Origin {
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** A request that carries a token of the proxy. */
interface TokenRequest extends Origin {
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

/** A person who may come in. */
export interface Admitted<Session> {
  readonly session: Session;
  /** The token of the session. */
  readonly token: string;
  /** Whether the browser is to be given it as a cookie: it came without a session, or with one that counts no more. */
  readonly isNew: boolean;
}

interface PassthroughOptions<Session extends PersonSession> {
  readonly header: string;
  readonly claimPaths: ClaimPaths;
  readonly verifier: Pick<SessionVerifier<Session>, 'recall' | 'verify'>;
  /** Makes or updates the person and begins a session; answers its token. Throws where the person may not come in. */
  readonly begin: (identity: TokenIdentity, origin: Origin) => Promise<string>;
  /** Fingerprints, and people without a cookie, that are remembered at most. Default 10,000. */
  readonly capacity?: number;
}

/** Lets people in whose token the proxy attached. */
export interface Passthrough<Session> {
  /** Known people are answered at once: one digest, and no signature and no database. */
  admit(request: TokenRequest): Admitted<Session> | Promise<Admitted<Session>>;
}

const CAPACITY = 10_000;
/** Sign-ins that run at once; the other connections to the database, and most of the processor, are left to people who are known. */
const RUNNING = 2;
const WAITING = 256;
/** While some wait, sign-ins take a third of the time. */
const REST = 2;
/** How long a sign-in may take, ms. */
const BEGIN_MS = 8_000;

/** Specification, "Token passthrough mode", steps 1 to 5. One for each process. */
export const createPassthrough = <Session extends PersonSession>(
  options: PassthroughOptions<Session>,
): Passthrough<Session> => {
  const { header, claimPaths, verifier, begin, capacity = CAPACITY } = options;
  /** Persons by the fingerprint of their token. */
  const fingerprints = new BoundedMap<string>(capacity);
  /** Tokens of sessions by person, for those who bring no cookie. */
  const begun = new BoundedMap<string>(capacity);
  const flights = new Map<string, Promise<Admitted<Session>>>();
  const places = createPlaces({ running: RUNNING, waiting: WAITING, rest: REST });

  const personOf = (token: string, cookie: string | undefined): string => {
    const fingerprint = hash('sha256', token, 'base64');
    const known = fingerprints.get(fingerprint);
    if (known !== undefined) return known;
    // Strangers beyond those who may wait are refused before anything of their tokens is decoded or remembered.
    if (cookie === undefined) places.requireRoom();
    const person = personKey(identityOf(decodeClaims(token), claimPaths).email);
    fingerprints.set(fingerprint, person);
    return person;
  };

  const signIn = async (person: string, token: string, origin: Origin): Promise<Admitted<Session>> => {
    const identity = identityOf(decodeClaims(token), claimPaths);
    let isLate = false;
    const beginInTime = (): Promise<string> => (isLate ? Promise.reject(late()) : begin(identity, origin));
    const minted = await withDeadline(places.run(beginInTime), BEGIN_MS, () => {
      isLate = true;
      return late();
    });
    const session = await verifier.verify(minted);
    if (session === undefined) throw new ServiceError('invalid_session', 'The session was ended meanwhile; try again.');
    begun.set(person, minted);
    return { session, token: minted, isNew: true };
  };

  /** One sign-in of a person at a time: others wait for it and get its session. */
  const joinSignIn = (person: string, token: string, origin: Origin): Promise<Admitted<Session>> => {
    const flying = flights.get(person);
    if (flying !== undefined) return flying;
    const flight = signIn(person, token, origin).finally(() => flights.delete(person));
    flights.set(person, flight);
    return flight;
  };

  const admitSlowly = async (person: string, token: string, request: TokenRequest): Promise<Admitted<Session>> => {
    for (const [candidate, isNew] of [
      [cookieOf(request.headers), false],
      [begun.get(person), true],
    ] as const) {
      const session = candidate === undefined ? undefined : await verifier.verify(candidate);
      if (candidate !== undefined && session !== undefined && personKey(session.email) === person)
        return { session, token: candidate, isNew };
    }
    begun.delete(person);
    return joinSignIn(person, token, request);
  };

  return {
    admit: (request) => {
      const token = readToken(request.rawHeaders, header);
      const cookie = cookieOf(request.headers);
      const person = personOf(token, cookie);
      const session = cookie === undefined ? undefined : verifier.recall(cookie);
      if (cookie !== undefined && session !== undefined && personKey(session.email) === person)
        return { session, token: cookie, isNew: false };
      return admitSlowly(person, token, request);
    },
  };
};

/** The session cookie; a session in a header counts for nothing here, and cookies that contradict each other are none. */
const cookieOf = (headers: IncomingHttpHeaders): string | undefined => {
  try {
    return cookieTokenOf(headers);
  } catch {
    return undefined;
  }
};

/** Equal for addresses that differ in case alone. Signs that fold onto others were refused before. */
const personKey = (email: string): string => `${email.toLowerCase()} ${email.toUpperCase()}`;

const late = (): ServiceError =>
  new ServiceError('database_unavailable', `The sign-in was not done within ${BEGIN_MS} ms; try again.`);
