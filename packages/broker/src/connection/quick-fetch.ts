import { inflaterOf } from '../codec/codecs';
import { encodeFetchRequest, type FetchRequest, isPlainFetch } from '../wire/fetch-request';
import { decodeFetchResponse } from '../wire/fetch-response';
import { asEncoded, type Encoded, type LibraryProtocol, replaceProtocol } from './replace-protocol';

/** The version of the request that brokers since 2.3 agree on with the client library. */
const FETCH_VERSION = 11;

interface FetchExchange {
  readonly request: { encode(): Promise<Encoded> };
  response: { readonly decode: (bytes: Buffer) => Promise<unknown>; readonly parse: unknown };
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
const requests = require('kafkajs/src/protocol/requests/fetch') as LibraryProtocol<FetchRequest, FetchExchange>;

const quicken = (exchange: FetchExchange, request: FetchRequest): FetchExchange => {
  const { response } = exchange;
  if (isPlainFetch(request)) exchange.request.encode = () => Promise.resolve(asEncoded(encodeFetchRequest(request)));
  // The library's own decoders are shared by all exchanges: this one gets another object.
  exchange.response = {
    ...response,
    decode: async (bytes) => (await decodeFetchResponse(bytes, inflaterOf)) ?? response.decode(bytes),
  };
  return exchange;
};

/**
 * Has fetches written and read by this package instead of the client library, which handles each of a topic's partitions by itself, with
 * several objects and a heartbeat, however few have messages. What this package does not know (older record formats) stays
 * with the library. Safe to call many times. Returns whether it is in place.
 */
export const quickenFetch = (installedVersion?: string): boolean =>
  replaceProtocol(requests, { covers: (version) => version === FETCH_VERSION, replace: quicken }, installedVersion);
