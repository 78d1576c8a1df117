import { readFile } from 'node:fs/promises';
import { withDeadline } from '@decision/waiting';
import type { TokenSource } from '../settings';
import { keepToken, RENEW_BEFORE_MS, TokenError } from './kept-token';

/** A read from a hanging volume is given up after this time, ms. */
const DEADLINE_MS = 10_000;
const MAX_TOKEN_LENGTH = 64 * 1024;
/** Printable ASCII without spaces: anything else would end the token early in the message that carries it. */
const TOKEN = /^[\x21-\x7e]+$/;
/** A token with an unknown expiry is read again each minute: cached tokens are renewed {@link RENEW_BEFORE_MS} before their expiry. */
const UNKNOWN_LIFE_MS = 2 * RENEW_BEFORE_MS;

/**
 * Tokens from a file that the platform keeps fresh, such as the projected token of a service account. The file is read again a minute before its
 * token expires if the token is a JWT with an expiry (RFC 7519, "exp"), otherwise each minute.
 * @throws {TokenError} from the source; it names the file and shows nothing of its content.
 */
export const fileTokens = (file: string, now: () => number = Date.now): TokenSource =>
  keepToken(async () => {
    const value = await readToken(file);
    const expiresAt = endOf(value) ?? now() + UNKNOWN_LIFE_MS;
    if (expiresAt <= now())
      throw new TokenError(
        `the token in ${file} ended at ${new Date(expiresAt).toISOString()} and has not been renewed`,
      );
    return { value, expiresAt };
  }, now);

const readToken = async (file: string): Promise<string> => {
  const late = (): Error => new TokenError(`${file} could not be read within ${DEADLINE_MS / 1_000} seconds`);
  const text = await withDeadline(readFile(file, 'utf8'), DEADLINE_MS, late).catch((error: unknown) => {
    if (error instanceof TokenError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException; // errors of the file system
    throw new TokenError(`${file} cannot be read (${code})`);
  });
  const token = text.trim();
  if (token.length > MAX_TOKEN_LENGTH || !TOKEN.test(token)) throw new TokenError(`${file} holds no token`);
  return token;
};

/** Epoch ms at which a JWT expires; undefined for other tokens and for a JWT without an expiry. */
const endOf = (token: string): number | undefined => {
  const [, claims, signature] = token.split('.');
  if (claims === undefined || signature === undefined) return undefined;
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' && Number.isFinite(exp) ? Math.max(exp, 0) * 1_000 : undefined;
  } catch {
    return undefined;
  }
};
