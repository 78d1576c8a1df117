import { CompressionTypes } from 'kafkajs';
import { version } from 'kafkajs/package.json';
import { snappyCodec } from '../codec/snappy-codec';
import { encodeFetchRequest, type FetchRequest, isPlainFetch } from '../wire/fetch-request';
import { decodeFetchResponse, type Decompress } from '../wire/fetch-response';

/** The only version whose fetches have been read; another one is left as it is. */
const PATCHED_VERSION = '2.2.4';
/** The version of the request that brokers since 2.3 agree on with this library. */
const FETCH_VERSION = 11;

const patched = Symbol.for('@decision/broker: fetches are written and read in one piece');

/** What the library takes for an encoded request. */
interface Encoded {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

interface FetchExchange {
  readonly request: { encode(): Promise<Encoded> };
  response: { readonly decode: (bytes: Buffer) => Promise<unknown>; readonly parse: unknown };
}

/** The private part of the client library that this file touches. */
interface FetchRequests {
  protocol(how: { readonly version: number | string }): (request: FetchRequest) => FetchExchange;
  [patched]?: true;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
const requests = require('kafkajs/src/protocol/requests/fetch') as FetchRequests;

const asItIs = (bytes: Buffer): Buffer => bytes;

const NONE: number = CompressionTypes.None;
const SNAPPY: number = CompressionTypes.Snappy;

const decompress: Decompress = (compression) => {
  if (compression === NONE) return asItIs;
  return compression === SNAPPY ? (bytes) => snappyCodec.decompress(bytes) : undefined;
};

const quicken = (exchange: FetchExchange, request: FetchRequest): FetchExchange => {
  const { response } = exchange;
  if (isPlainFetch(request))
    exchange.request.encode = () => {
      const buffer = encodeFetchRequest(request);
      return Promise.resolve({ buf: buffer, buffer });
    };
  // The library's own decoders are shared by all exchanges: this one gets another object.
  exchange.response = {
    ...response,
    decode: async (bytes) => (await decodeFetchResponse(bytes, decompress)) ?? response.decode(bytes),
  };
  return exchange;
};

/**
 * Has fetches written and read by this package instead of the client library, which handles each of a topic's partitions by itself, with
 * several objects and a heartbeat, however few have messages. What this package does not know (older record formats, other compressions)
 * stays with the library.
 *
 * Safe to call many times. Returns whether the patch is in place.
 */
export const quickenFetch = (installedVersion: string = version): boolean => {
  if (installedVersion !== PATCHED_VERSION) return false;
  if (requests[patched]) return true;
  const original = requests.protocol.bind(requests);
  requests.protocol = ({ version: wanted }) => {
    const make = original({ version: wanted });
    if (Number(wanted) !== FETCH_VERSION) return make;
    return (request) => quicken(make(request), request);
  };
  requests[patched] = true;
  return true;
};
