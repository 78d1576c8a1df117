import { readFile } from 'node:fs/promises';
import { withDeadline } from '@decision/waiting';
import type { TokenSource } from '../settings';
import { keepToken, RENEW_BEFORE_MS, TokenError } from './kept-token';

/** A volume that hangs is given up after this time, ms. */
const DEADLINE_MS = 10_000;
const MAX_TOKEN_LENGTH = 64 * 1024;
/** Printable ASCII without spaces: anything else would end the token early in the message that carries it. */
const TOKEN = /^[\x21-\x7e]+$/;
/** A token whose end is not known is read again each minute: kept tokens are renewed {@link RENEW_BEFORE_MS} before the end that they have. */
const UNKNOWN_LIFE_MS = 2 * RENEW_BEFORE_MS;

/**
 * Tokens of a file that the platform keeps fresh, such as the projected token of a service account. The file is read again a minute before its token ends,
 * which the token itself says if it is a JWT (RFC 7519, "exp"), and each minute if it does not.
 * @throws {TokenError} from the source; it names the file and shows nothing of it.
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
    const { code = 'unknown error' } = error as NodeJS.ErrnoException; // what the file system throws
    throw new TokenError(`${file} cannot be read (${code})`);
  });
  const token = text.trim();
  if (token.length > MAX_TOKEN_LENGTH || !TOKEN.test(token)) throw new TokenError(`${file} holds no token`);
  return token;
};

/** Epoch ms at which a JWT ends; undefined for other tokens and for one that does not say. */
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
