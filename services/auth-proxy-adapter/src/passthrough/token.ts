import { type Claims, fixedLimits, ServiceError } from '@decision/contracts';

const MISSING = 'Missing authentication token';
const INVALID = 'Invalid token format';

/** Maximum nesting of claims; deeper ones could not be serialised again. */
const MAX_DEPTH = 64;

const invalidToken = (): ServiceError => new ServiceError('invalid_token', INVALID);

/**
 * The token in the header of this name, in any case. From `Authorization` a prefix `Bearer ` is removed; other headers are used unchanged.
 * `rawHeaders` alternates names and values. Throws `missing_token`, and `invalid_token` if the header came twice, since it is unknown which
 * one the proxy wrote.
 */
export const readToken = (rawHeaders: readonly string[], headerName: string): string => {
  const wanted = headerName.toLowerCase();
  let found: string | undefined;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== wanted) continue;
    if (found !== undefined) throw invalidToken();
    found = rawHeaders[index + 1];
  }
  const token = (wanted === 'authorization' ? found?.replace(/^bearer(?: +|$)/i, '') : found) ?? '';
  if (token === '') throw new ServiceError('missing_token', MISSING);
  if (token.length > fixedLimits.headerBytes)
    throw new ServiceError('headers_too_large', `The token is longer than ${fixedLimits.headerBytes} characters.`);
  return token;
};

/** Both alphabets of base64, with or without padding. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * The claims of a token of three parts. Nothing is verified, since the proxy that attached the token is trusted (docs/people.md). The
 * signature may be empty, as for an unsigned token. Throws `invalid_token`.
 */
export const decodeClaims = (token: string): Claims => {
  const parts = token.split('.', 4);
  const [header = '', payload = ''] = parts;
  if (parts.length !== 3 || header === '' || !BASE64.test(payload)) throw invalidToken();
  const claims = parse(payload);
  if (!isObject(claims) || !isKeepable(claims)) throw invalidToken();
  return claims;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

const parse = (payload: string): unknown => {
  try {
    // Node reads both alphabets. Dropped characters, and bytes that are not text, do not result in JSON.
    return JSON.parse(utf8.decode(Buffer.from(payload, 'base64')));
  } catch {
    throw invalidToken();
  }
};

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether it respects the maximum nesting, and contains no U+0000, which databases do not accept. Iterative, since it may be deeper than
 * the stack.
 */
export const isKeepable = (claims: Claims): boolean => {
  let level: unknown[] = [claims];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return false;
    const next: unknown[] = [];
    for (const value of level) {
      for (const [name, inner] of Object.entries(value as object)) {
        if (name.includes('\0') || (typeof inner === 'string' && inner.includes('\0'))) return false;
        if (typeof inner === 'object' && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return true;
};
