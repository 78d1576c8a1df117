import { type IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@decision/contracts';

/**
 * The header in which auth-proxy-adapter passes a session to the ingress, and the ingress to a service, since the first request of a person
 * has no cookie yet. The ingress removes its client's value; a token in it counts the same as one in the cookie.
 */
export const SESSION_HEADER = 'x-decision-session';

/** Name of the cookie. With the prefix browsers accept it only from its own host over TLS, for all paths. */
const COOKIE = 'decision_session';
const SECURE_COOKIE = `__Host-${COOKIE}`;
/** Maximum characters of a cookie header that is parsed. */
const MAX_COOKIES = 65_536;

/**
 * The token that a request carries: in the header, else in the cookie; undefined if there is none. Throws `invalid_session` if there are
 * several, since the caller is then ambiguous.
 */
export const sessionTokenOf = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers[SESSION_HEADER];
  return header === undefined || header === '' ? cookieTokenOf(headers) : headerToken(header);
};

/**
 * The token in the cookie only, for services that clients reach directly; otherwise like {@link sessionTokenOf}. Over TLS
 * (`x-forwarded-proto`) only the cookie with the prefix counts: a sister site could have set the other one, and make the person act in the
 * attacker's session.
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
  // Node joins a repeated header with a comma, which no token contains.
  if (typeof header === 'string' && !header.includes(',')) return header.trim();
  throw ambiguous(`The header ${SESSION_HEADER} is repeated.`);
};

const tokenOfPair = (pair: string, names: readonly string[]): readonly string[] => {
  const separator = pair.indexOf('=');
  const name = pair.slice(0, Math.max(0, separator)).trim();
  if (!names.includes(name)) return [];
  const value = pair.slice(separator + 1).trim();
  // The empty cookie that sign-out leaves is not a session.
  return value === '' ? [] : [value];
};

const ambiguous = (problem: string): ServiceError =>
  new ServiceError('invalid_session', `${problem} Sign out, or clear the cookies of this site, and sign in again.`);

interface CookieOptions {
  /** Whether browsers reach the service over TLS. */
  readonly secure: boolean;
}

/** The header `set-cookie` that gives a browser a session: not readable by scripts, and not sent with forms of other sites. */
export const sessionCookie = (
  token: string,
  { secure, maxAgeSeconds }: CookieOptions & { readonly maxAgeSeconds: number },
): string =>
  `${nameOf(secure)}=${token}; Path=/; Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

/** The header `set-cookie` that removes the session. */
export const clearedCookie = ({ secure }: CookieOptions): string => sessionCookie('', { secure, maxAgeSeconds: 0 });

const nameOf = (secure: boolean): string => (secure ? SECURE_COOKIE : COOKIE);

/** Methods that change nothing. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Throws `cross_site_request` for a change that another site made a browser send: its `origin` is not the requested host, or the browser
 * says so in `sec-fetch-site`. Programs send neither. Only for requests with a session, since browsers do not send API keys on behalf of
 * other sites.
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

/**
 * The hosts that the client may have requested: that of this connection, and that of the request to the ingress. No other site can set
 * either.
 */
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
