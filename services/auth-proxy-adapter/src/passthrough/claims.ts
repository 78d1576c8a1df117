import { claimAt, type Claims, ServiceError } from '@decision/contracts';

/** Paths of the claims that identify a person. */
export interface ClaimPaths {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** A person's identity according to a token. */
export interface TokenIdentity {
  /** As written in the token. */
  readonly email: string;
  /** Null if the token has none. */
  readonly name: string | null;
  readonly externalSub: string | null;
  readonly claims: Claims;
}

const MAX_EMAIL = 254;
const MAX_NAME = 200;
const MAX_EXTERNAL_SUB = 1_000;

/** One `@`, something on both sides, no blanks and no control characters: as users have it. */
const EMAIL = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/**
 * A person's identity according to claims. Throws `invalid_token` if there is no valid email address at the email path; the message is that
 * of an absent claim, since no claim is usable.
 */
export const identityOf = (claims: Claims, paths: ClaimPaths): TokenIdentity => {
  const email = claimAt(claims, paths.email);
  if (!isEmail(email)) throw new ServiceError('invalid_token', 'Token missing required email claim');
  return {
    email,
    name: textOf(claimAt(claims, paths.name), MAX_NAME),
    externalSub: idOf(claimAt(claims, paths.id)),
    claims,
  };
};

/** Whether a text has the form of a user's address. */
export const isAddress = (text: string): boolean => text.length <= MAX_EMAIL && EMAIL.test(text);

const isEmail = (value: unknown): value is string =>
  typeof value === 'string' && isAddress(value) && isUnmistakable(value);

/**
 * Characters that become ASCII letters when case is folded or text is normalised; an address with them could be read as that of somebody
 * else.
 */
const isUnmistakable = (email: string): boolean => {
  if (email.normalize('NFKC') !== email || /[\u0130\u0131]/.test(email)) return false;
  const withoutAscii = email.replace(/[\x21-\x7e]/g, '');
  return !/[\x21-\x7e]/.test(withoutAscii.toLowerCase());
};

/** A too long name is cut; a value that is not text, or contains control characters, counts as none. */
const textOf = (value: unknown, most: number): string | null => {
  if (typeof value !== 'string' || /\p{Cc}/u.test(value)) return null;
  const text = [...value.trim()].slice(0, most).join('');
  return text === '' ? null : text;
};

const idOf = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value, MAX_EXTERNAL_SUB);
