import { ArchiveError } from '../archive-error';

/** Location of an archive in an S3 store. */
export interface S3Address {
  readonly bucket: string;
  /** Prefix of every key; empty, or ends with a slash. */
  readonly prefix: string;
  /** Undefined: the client's default, which is that of the region unless its environment names another. */
  readonly endpoint: string | undefined;
  /** Undefined: the client's default from its environment. */
  readonly region: string | undefined;
  /** Whether the bucket is in the path instead of the host name. */
  readonly isPathStyle: boolean;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9._=@+-]{1,100}\/){0,10}$/;
const REGION = /^[a-z0-9-]{1,64}$/;

/**
 * Reads `s3://bucket/prefix?endpoint=http://host:9000&region=eu-central-1&path-style=true`; all but the bucket may be left out. A parameter
 * that is written twice counts as unknown, and so does a user before the bucket: credentials come from the usual sources of S3 clients.
 * @throws {ArchiveError} `not_opened` for anything else.
 */
export const readS3Address = (url: URL): S3Address => {
  const { hostname: bucket, searchParams: parameters } = url;
  if (url.username !== '' || url.password !== '')
    throw refusal('has a user or a password. Give credentials by the environment or the files of the S3 client.');
  if (url.port !== '' || url.hash !== '') throw refusal('has a port or a fragment. Write s3://bucket/prefix.');
  if (!BUCKET.test(bucket)) throw refusal(`has no name of a bucket after s3://, but "${bucket}".`);
  const path = url.pathname.replace(/^\/|\/$/g, '');
  const prefix = path === '' ? '' : `${path}/`;
  if (!PREFIX.test(prefix))
    throw refusal(
      'has a prefix that is more than ten names of letters, digits and ". _ = @ + -", each of at most 100 characters.',
    );
  for (const name of new Set(parameters.keys()))
    if (!['endpoint', 'region', 'path-style'].includes(name) || parameters.getAll(name).length > 1)
      throw refusal(`has the parameter "${name}". Those it may have, once each, are endpoint, region and path-style.`);
  const region = parameters.get('region') ?? undefined;
  if (region !== undefined && !REGION.test(region))
    throw refusal(`has the region "${region}", which is not a valid name.`);
  const style = parameters.get('path-style') ?? 'false';
  if (style !== 'true' && style !== 'false')
    throw refusal(`has "${style}" for path-style, which is neither true nor false.`);
  return { bucket, prefix, endpoint: endpointOf(parameters.get('endpoint')), region, isPathStyle: style === 'true' };
};

const endpointOf = (text: string | null): string | undefined => {
  if (text === null) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!isPlain || !['http:', 'https:'].includes(url.protocol))
    throw refusal(
      'has an endpoint that is no http or https address, or one with a user, a password, a query or a fragment.',
    );
  return url.href.replace(/\/$/, '');
};

const refusal = (what: string): ArchiveError => new ArchiveError('not_opened', `The URL of the archive ${what}`);
