import { hash } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { cookieTokenOf, type SessionFacts, type SessionVerifier } from '@decision/sessions';
import { withDeadline } from '@decision/waiting';
import { BoundedMap } from '../door/bounded-map';
import { createSignInSlots } from '../door/sign-in-slots';
import { type ClaimPaths, identityOf, type TokenIdentity } from './claims';
import { decodeClaims, readToken } from './token';

/** A session with the address of its person. */
interface PersonSession extends SessionFacts {
  readonly email: string;
}

/** Origin of a request, for the lists of sessions and sign-ins. */
export interface Origin {
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** A request with a token of the proxy. */
interface TokenRequest extends Origin {
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

/** An admitted person. */
export interface Admitted<Session> {
  readonly session: Session;
  /** The token of the session. */
  readonly token: string;
  /** Whether to set it as a cookie: the browser sent no session, or one that is no longer valid. */
  readonly isNew: boolean;
}

interface PassthroughOptions<Session extends PersonSession> {
  readonly header: string;
  readonly claimPaths: ClaimPaths;
  readonly verifier: Pick<SessionVerifier<Session>, 'recall' | 'verify'>;
  /** Creates or updates the person and begins a session; answers its token. Throws if the person is not admitted. */
  readonly begin: (identity: TokenIdentity, origin: Origin) => Promise<string>;
  /** Maximum remembered fingerprints, and people without a cookie. Default 10,000. */
  readonly capacity?: number;
}

/** Admits people by the token that the proxy attached. */
export interface Passthrough<Session> {
  /** Known people are answered at once: with one digest, but no signature check and no database. */
  admit(request: TokenRequest): Admitted<Session> | Promise<Admitted<Session>>;
}

const CAPACITY = 10_000;
/** Maximum concurrent sign-ins; the other database connections, and most of the processor, are left to known people. */
const RUNNING = 2;
const WAITING = 256;
/** While some wait, sign-ins take a third of the time. */
const REST = 2;
/** How long a sign-in may take, ms. */
const BEGIN_MS = 8_000;

/** Specification, "Token passthrough mode", steps 1 to 5. One per process. */
export const createPassthrough = <Session extends PersonSession>(
  options: PassthroughOptions<Session>,
): Passthrough<Session> => {
  const { header, claimPaths, verifier, begin, capacity = CAPACITY } = options;
  /** People by the fingerprint of their token. */
  const fingerprints = new BoundedMap<string>(capacity);
  /** Session tokens by person, for requests without a cookie. */
  const begun = new BoundedMap<string>(capacity);
  const flights = new Map<string, Promise<Admitted<Session>>>();
  const slots = createSignInSlots({ running: RUNNING, waiting: WAITING, rest: REST });

  const personOf = (token: string, cookie: string | undefined): string => {
    const fingerprint = hash('sha256', token, 'base64');
    const known = fingerprints.get(fingerprint);
    if (known !== undefined) return known;
    // Strangers beyond the queue are refused before their tokens are decoded or remembered.
    if (cookie === undefined) slots.requireRoom();
    const person = personKey(identityOf(decodeClaims(token), claimPaths).email);
    fingerprints.set(fingerprint, person);
    return person;
  };

  const signIn = async (person: string, token: string, origin: Origin): Promise<Admitted<Session>> => {
    const identity = identityOf(decodeClaims(token), claimPaths);
    let isLate = false;
    const beginInTime = (): Promise<string> => (isLate ? Promise.reject(late()) : begin(identity, origin));
    const minted = await withDeadline(slots.run(beginInTime), BEGIN_MS, () => {
      isLate = true;
      return late();
    });
    const session = await verifier.verify(minted);
    if (session === undefined) throw new ServiceError('invalid_session', 'The session was ended meanwhile; try again.');
    begun.set(person, minted);
    return { session, token: minted, isNew: true };
  };

  /** One sign-in per person at a time: concurrent requests wait for it and get its session. */
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

/** The session cookie; a session in a header is ignored here, and contradictory cookies count as none. */
const cookieOf = (headers: IncomingHttpHeaders): string | undefined => {
  try {
    return cookieTokenOf(headers);
  } catch {
    return undefined;
  }
};

/** Equal for addresses that differ only in case. Characters that fold onto others were refused before. */
const personKey = (email: string): string => `${email.toLowerCase()} ${email.toUpperCase()}`;

const late = (): ServiceError =>
  new ServiceError('database_unavailable', `The sign-in was not done within ${BEGIN_MS} ms; try again.`);
