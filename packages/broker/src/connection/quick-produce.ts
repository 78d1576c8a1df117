import { CompressionTypes } from 'kafkajs';
import { version } from 'kafkajs/package.json';
import { snappyCodec } from '../codec/snappy-codec';
import { encodeProduceRequest, isEncodable, type ProduceRequest } from '../wire/produce-request';

/** The only version whose produce requests have been read; another one is left as it is. */
const PATCHED_VERSION = '2.2.4';
/** Versions of the request that are laid out alike. */
const OLDEST = 3;
const NEWEST = 7;

const patched = Symbol.for('@decision/broker: produce requests are written in one piece');

/** What the library takes for an encoded request. */
interface Encoded {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

interface RequestPair {
  readonly request: { encode(): Promise<Encoded> };
}

/** The private part of the client library that this file touches. */
interface ProduceRequests {
  protocol(how: { readonly version: number | string }): (request: ProduceRequest) => RequestPair;
  [patched]?: true;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
const requests = require('kafkajs/src/protocol/requests/produce') as ProduceRequests;

const quicken = (pair: RequestPair, request: ProduceRequest): RequestPair => {
  const { compression = CompressionTypes.None } = request;
  const known: number[] = [CompressionTypes.None, CompressionTypes.Snappy];
  if (!known.includes(compression) || !isEncodable(request)) return pair;
  pair.request.encode = async () => {
    const compress = (records: Buffer): Buffer | Promise<Buffer> => snappyCodec.compress({ buffer: records });
    const buffer = await encodeProduceRequest(request, Date.now(), compress);
    return { buf: buffer, buffer };
  };
  return pair;
};

/**
 * Has produce requests encoded by this package instead of the client library, whose encoder is the largest cost of sending small
 * messages. Requests that it does not know (transactions, other compressions, timestamps) stay with the library.
 *
 * Safe to call many times. Returns whether the patch is in place.
 */
export const quickenProduce = (installedVersion: string = version): boolean => {
  if (installedVersion !== PATCHED_VERSION) return false;
  if (requests[patched]) return true;
  const original = requests.protocol.bind(requests);
  requests.protocol = ({ version: wanted }) => {
    const make = original({ version: wanted });
    const number = Number(wanted);
    if (number < OLDEST || number > NEWEST) return make;
    return (request) => quicken(make(request), request);
  };
  requests[patched] = true;
  return true;
};
