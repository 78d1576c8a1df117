import { generateApiKey, hashApiKeySecret, parseApiKey } from './authenticator';

/** Both stored parts of a link's token. */
interface LinkParts {
  /** Public part. */
  readonly selector: string;
  /** SHA-256 of its secret part, 64 hex digits. */
  readonly tokenHash: string;
}

/** The token of a link has the form of an API key without its prefix, but is not an API key: it is stored elsewhere. */
const PREFIX = 'dsk_';

/** A new token of a link, and its stored form. */
export const createLinkToken = (randomBytes: (size: number) => Buffer): LinkParts & { readonly token: string } => {
  const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
  return { token: apiKey.slice(PREFIX.length), selector, tokenHash: secretHash };
};

/** The stored form of a presented token; undefined if it cannot be one. */
export const readLinkToken = (token: string): LinkParts | undefined => {
  const parts = parseApiKey(`${PREFIX}${token}`);
  return parts && { selector: parts.selector, tokenHash: hashApiKeySecret(parts.secret).toString('hex') };
};
