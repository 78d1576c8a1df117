import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its key, as PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate that can sign others. */
export interface SelfSigned extends Identity {
  /** The name in it. */
  readonly host: string;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALTERNATIVE_NAME = [0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];

/**
 * Makes a certificate for a host name, valid from yesterday until tomorrow, so that the repository contains no key. See
 * docs/adr/0033-libraries-tried.md.
 */
export const makeSelfSigned = (host: string): SelfSigned => ({ host, ...makeIdentity(host, undefined) });

/** Makes a client certificate signed by the given one, with the same validity. */
export const makeSignedBy = (authority: SelfSigned, client: string): Identity => makeIdentity(client, authority);

const distinguishedName = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(objectId(COMMON_NAME), der(0x0c, Buffer.from(commonName)))));

/** Without an authority the certificate is self-signed. */
const makeIdentity = (host: string, authority: SelfSigned | undefined): Identity => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
  const basicConstraints = authority === undefined ? sequence(der(0x01, Buffer.from([0xff]))) : sequence();
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(authority?.host ?? host),
    sequence(time(-DAY_MS), time(DAY_MS)),
    distinguishedName(host),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(BASIC_CONSTRAINTS, basicConstraints),
        extension(SUBJECT_ALTERNATIVE_NAME, sequence(der(0x82, Buffer.from(host)))),
      ),
    ),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, authority?.key ?? privateKey)]));
  const base64 = sequence(body, algorithm, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
};

/** One value in DER: its tag, the length of its content, its content. */
const der = (tag: number, content: Buffer): Buffer => {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);
const objectId = (bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const extension = (id: readonly number[], value: Buffer): Buffer => sequence(objectId(id), der(0x04, value));
const time = (offsetMs: number): Buffer => {
  const text = new Date(Date.now() + offsetMs).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(text));
};
