import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** A GET request that is to be signed in its query. */
interface PresignedRequest {
  readonly host: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly region: string;
  readonly service: string;
  /** Hash of the body, hex, or the word that the service takes instead. */
  readonly payloadHash: string;
  readonly lifeSeconds: number;
  /** Epoch ms. */
  readonly now: number;
}

export const EMPTY_PAYLOAD_HASH = createHash('sha256').digest('hex');

const ALGORITHM = 'AWS4-HMAC-SHA256';

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** RFC 3986: unlike `encodeURIComponent` it leaves none of !'()* as it is. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const canonicalQuery = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');

/** The address of the request with its signature, version 4, in the query. Pure. */
export const presign = (request: PresignedRequest, credentials: AwsCredentials): string => {
  const { host, path, region, service, payloadHash, lifeSeconds, now } = request;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const date = time.slice(0, 8);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const query = canonicalQuery({
    ...request.query,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(lifeSeconds),
    'X-Amz-SignedHeaders': 'host',
    ...(sessionToken === undefined ? {} : { 'X-Amz-Security-Token': sessionToken }),
  });
  const canonical = ['GET', path, query, `host:${host}`, '', 'host', payloadHash].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex');
  return `https://${host}${path}?${query}&X-Amz-Signature=${signature}`;
};
