import { hash } from 'node:crypto';

/** The two parts of an API key: what it is found by, and what proves it. */
interface ApiKeyParts {
  readonly selector: string;
  readonly secret: string;
}

/** A new key. Only `selector` and `secretHash` are stored; `apiKey` is shown once. */
export interface GeneratedApiKey {
  readonly apiKey: string;
  readonly selector: string;
  /** SHA-256 of the secret part, hex. */
  readonly secretHash: string;
}

/** Digits and lower-case letters without i, l, o and u, which are mistaken for others: five bits a character. */
const SELECTOR_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SELECTOR_LENGTH = 12;
const SECRET_BYTES = 32;
const API_KEY = /^dsk_([0-9a-hjkmnp-tv-z]{12})_([A-Za-z0-9_-]{43})$/;

/** Makes a key: `dsk_<selector, 60 bit>_<secret, 256 bit>`. `randomBytes` must be cryptographically strong. */
export const generateApiKey = (randomBytes: (size: number) => Buffer): GeneratedApiKey => {
  const selector = [...randomBytes(SELECTOR_LENGTH)].map((byte) => SELECTOR_ALPHABET.charAt(byte & 31)).join('');
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { apiKey: `dsk_${selector}_${secret}`, selector, secretHash: hashApiKeySecret(secret).toString('hex') };
};

/** Takes a key apart, or answers undefined for text that cannot be one. */
export const parseApiKey = (text: string): ApiKeyParts | undefined => {
  const [, selector, secret] = API_KEY.exec(text) ?? [];
  return selector === undefined || secret === undefined ? undefined : { selector, secret };
};

/** A selector for text that is no key, so that it can be looked up as a key is; of 60 bit, so it is nobody's. */
export const selectorOfNonsense = (text: string): string =>
  [...hash('sha256', text, 'buffer').subarray(0, SELECTOR_LENGTH)]
    .map((byte) => SELECTOR_ALPHABET.charAt(byte & 31))
    .join('');

/** SHA-256 of the secret part of a key. The secret has 256 bits of chance, so a fast hash is enough. */
export const hashApiKeySecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');
