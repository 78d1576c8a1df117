import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

/** Codes of authenticator apps: RFC 6238 with the parameters that all of them support. */
const CODES = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Codes of the steps before and after count too: clocks differ, and people are slow. */
const WINDOW = 1;
const SECRET_BYTES = 20;

/** A new secret, as authenticator apps take it: base 32. */
export const newFactorSecret = (randomBytes: (size: number) => Buffer): string =>
  new Secret({ buffer: Uint8Array.from(randomBytes(SECRET_BYTES)).buffer }).base32;

/** The address that an authenticator app reads from a picture. */
export const factorAddress = (secret: string, { issuer, email }: { issuer: string; email: string }): string =>
  new TOTP({ ...CODES, issuer, label: email, secret: Secret.fromBase32(secret) }).toString();

/** The step of time, 30 s each, whose code this is; undefined if it is not currently valid. Spaces in it are ignored. */
export const stepOfCode = (secret: string, code: string, nowMs: number): number | undefined => {
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const totp = new TOTP({ ...CODES, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token, timestamp: nowMs, window: WINDOW });
  return delta === null ? undefined : Math.floor(nowMs / 1_000 / CODES.period) + delta;
};

/** Without easily confused letters and digits. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const [RECOVERY_CODES, CHARACTERS] = [10, 10];

/** Ten new recovery codes, ten characters each: almost fifty bits. */
export const newRecoveryCodes = (randomBytes: (size: number) => Buffer): readonly string[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const text = Array.from({ length: CHARACTERS }, () => pick(randomBytes)).join('');
    return `${text.slice(0, CHARACTERS / 2)}-${text.slice(CHARACTERS / 2)}`;
  });

/** All characters are equally likely: bytes beyond the last whole multiple are redrawn. */
const pick = (randomBytes: (size: number) => Buffer): string => {
  const [byte = 0] = randomBytes(1);
  const limit = 256 - (256 % ALPHABET.length);
  return byte < limit ? (ALPHABET[byte % ALPHABET.length] ?? '') : pick(randomBytes);
};

/** The normalised form of a recovery code; undefined for a text that cannot be one. Case, spaces and hyphens do not matter. */
export const hashOfRecoveryCode = (code: string): string | undefined => {
  const plain = code.toLowerCase().replace(/[\s-]/g, '');
  if (plain.length !== CHARACTERS || [...plain].some((character) => !ALPHABET.includes(character))) return undefined;
  return createHash('sha256').update(plain).digest('hex');
};
