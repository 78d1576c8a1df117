import { type IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@decision/contracts';

/**
 * The header in which the door hands a session to the ingress, and the ingress to a service: the first request of a person has no cookie yet. The
 * ingress removes what its client wrote there; a token in it proves no more and no less than one in the cookie.
 */
export const SESSION_HEADER = 'x-decision-session';

/** Name of the cookie. With the prefix browsers take it from its own host over TLS alone, for all paths. */
const COOKIE = 'decision_session';
const SECURE_COOKIE = `__Host-${COOKIE}`;
/** A cookie header that is longer is not looked through. */
const MAX_COOKIES = 65_536;

/**
 * The token that a request carries: in the header, else in the cookie; undefined where it carries none. Throws `invalid_session` where it carries
 * several, since it cannot be told whose request it is.
 */
export const sessionTokenOf = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers[SESSION_HEADER];
  return header === undefined || header === '' ? cookieTokenOf(headers) : headerToken(header);
};

/**
 * The token in the cookie alone, for whoever is asked by clients themselves; as {@link sessionTokenOf}. Of a browser that came over TLS
 * (`x-forwarded-proto`) only the cookie with the prefix counts: a sister site could have set the other one, and have the person act in a session of
 * its own.
 */
export const cookieTokenOf = (headers: IncomingHttpHeaders): string | undefined => {
  const { cookie, 'x-forwarded-proto': protocol } = headers;
  if (cookie === undefined || !cookie.includes(COOKIE)) return undefined;
  if (cookie.length > MAX_COOKIES) throw ambiguous('The header cookie is too long.');
  const names = protocol === 'https' ? [SECURE_COOKIE] : [COOKIE, SECURE_COOKIE];
  const tokens = new Set(cookie.split(';').flatMap((pair) => tokenOfPair(pair, names)));
  if (tokens.size > 1) throw ambiguous('The request carries several session cookies.');
  return [...tokens][0];
};

const headerToken = (header: string | string[]): string => {
  // Node joins a repeated header with a comma, which no token holds.
  if (typeof header === 'string' && !header.includes(',')) return header.trim();
  throw ambiguous(`The header ${SESSION_HEADER} is repeated.`);
};

const tokenOfPair = (pair: string, names: readonly string[]): readonly string[] => {
  const separator = pair.indexOf('=');
  const name = pair.slice(0, Math.max(0, separator)).trim();
  if (!names.includes(name)) return [];
  const value = pair.slice(separator + 1).trim();
  // What sign-out left behind is no session.
  return value === '' ? [] : [value];
};

const ambiguous = (problem: string): ServiceError =>
  new ServiceError('invalid_session', `${problem} Sign out, or clear the cookies of this site, and sign in again.`);

interface CookieOptions {
  /** Whether browsers reach the service over TLS. */
  readonly secure: boolean;
}

/** The header `set-cookie` that gives a browser a session: not readable by scripts, and not sent by what other sites post. */
export const sessionCookie = (
  token: string,
  { secure, maxAgeSeconds }: CookieOptions & { readonly maxAgeSeconds: number },
): string =>
  `${nameOf(secure)}=${token}; Path=/; Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

/** The header `set-cookie` that takes the session away. */
export const clearedCookie = ({ secure }: CookieOptions): string => sessionCookie('', { secure, maxAgeSeconds: 0 });

const nameOf = (secure: boolean): string => (secure ? SECURE_COOKIE : COOKIE);

/** Methods that change nothing. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Throws `cross_site_request` for a request that changes something and that another site made a browser send: its `origin` is not the host that it
 * asks, or the browser says so in `sec-fetch-site`. Programs send neither. For requests with a session; nobody else's browser has an API key.
 */
export const requireSameSite = (method: string, headers: IncomingHttpHeaders): void => {
  if (SAFE.has(method)) return;
  const { origin } = headers;
  if (origin !== undefined) {
    if (!hostsOf(headers).includes(hostOf(origin))) throw crossSite(`its origin is ${shown(origin)}`);
    return;
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw crossSite('the browser says so');
};

/** The hosts that the client may have asked: the one of this connection, and the one that the ingress was asked for. No other site can set either. */
const hostsOf = ({ host, 'x-forwarded-host': forwarded }: IncomingHttpHeaders): readonly (string | undefined)[] =>
  [host, ...[forwarded].flat()].filter((name) => name !== undefined).map((name) => name.trim().toLowerCase());

const hostOf = (origin: string): string | undefined => {
  try {
    const { protocol, host } = new URL(origin);
    return protocol === 'http:' || protocol === 'https:' ? host : undefined;
  } catch {
    return undefined;
  }
};

const SHOWN_LENGTH = 100;
const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_LENGTH));

const crossSite = (reason: string): ServiceError =>
  new ServiceError(
    'cross_site_request',
    `The request comes from another site (${reason}), and a session changes nothing from there. Send an API key in x-api-key instead.`,
  );
