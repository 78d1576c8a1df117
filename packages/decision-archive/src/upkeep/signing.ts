import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { ArchiveError } from '../archive-error';

/** Signs records of the archive. */
export interface Signer {
  /** The object as JSON, with the members `key` and `signature` after its own. */
  textOf(value: object): string;
}

/** Whether a text was signed with one of the keys, and has not changed since. */
export type SignatureCheck = (text: string) => boolean;

/** Ed25519, base64: the last member of a text. */
const SIGNED = /^(.*),"signature":"([A-Za-z0-9+/]{86}==)"\}$/s;
const PEM = /-----BEGIN (PRIVATE|PUBLIC) KEY-----[^-]*-----END \1 KEY-----/g;

const refused = (what: string, cause?: unknown): ArchiveError =>
  new ArchiveError('misused', `${what} "openssl genpkey -algorithm ed25519" makes a private key.`, { cause });

const requireEd25519 = (key: KeyObject): KeyObject => {
  if (key.asymmetricKeyType !== 'ed25519')
    throw refused(`The key is of the kind "${key.asymmetricKeyType ?? 'unknown'}" instead of Ed25519.`);
  return key;
};

/** Name of a key: the start of the SHA-256 of its public half. */
const idOf = (key: KeyObject): string =>
  createHash('sha256').update(key.export({ type: 'spki', format: 'der' })).digest('hex').slice(0, 16); // prettier-ignore

/** Opens a private key in PEM. Throws `misused` if it is not an Ed25519 key. */
export const openSigner = (pem: string): Signer => {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw refused('The key is not a private key in PEM.', error);
  }
  requireEd25519(key);
  const id = idOf(createPublicKey(key));
  return {
    textOf: (value) => {
      const text = JSON.stringify({ ...value, key: id });
      return `${text.slice(0, -1)},"signature":"${sign(null, Buffer.from(text), key).toString('base64')}"}`;
    },
  };
};

/** Opens keys in PEM, public or private, one after the other. Throws `misused` if there is none, or one is not an Ed25519 key. */
export const openSignatureCheck = (pem: string): SignatureCheck => {
  let keys: readonly KeyObject[];
  try {
    keys = (pem.match(PEM) ?? []).map((block) => createPublicKey(block));
  } catch (error) {
    throw refused('The text holds a key that cannot be read.', error);
  }
  if (keys.length === 0) throw refused('The text holds no key in PEM.');
  keys.forEach(requireEd25519);
  return (text) => {
    const [, beginning, signature] = SIGNED.exec(text) ?? [];
    if (beginning === undefined || signature === undefined) return false;
    const signed = Buffer.from(`${beginning}}`);
    return keys.some((key) => verify(null, signed, key, Buffer.from(signature, 'base64')));
  };
};

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
