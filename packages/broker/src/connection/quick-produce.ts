import { CompressionTypes } from 'kafkajs';
import { snappyCodec } from '../codec/snappy-codec';
import { encodeProduceRequest, isEncodable, type ProduceRequest } from '../wire/produce-request';
import { asEncoded, type Encoded, type LibraryProtocol, replaceProtocol } from './replace-protocol';

/** Versions of the request that are laid out alike. */
const OLDEST = 3;
const NEWEST = 7;

interface ProduceExchange {
  readonly request: { encode(): Promise<Encoded> };
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
const requests = require('kafkajs/src/protocol/requests/produce') as LibraryProtocol<ProduceRequest, ProduceExchange>;

const compress = (records: Buffer): Buffer | Promise<Buffer> => snappyCodec.compress({ buffer: records });

const quicken = (exchange: ProduceExchange, request: ProduceRequest): ProduceExchange => {
  const { compression = CompressionTypes.None } = request;
  const known: number[] = [CompressionTypes.None, CompressionTypes.Snappy];
  if (known.includes(compression) && isEncodable(request))
    exchange.request.encode = async () => asEncoded(await encodeProduceRequest(request, Date.now(), compress));
  return exchange;
};

/**
 * Has produce requests encoded by this package instead of the client library, whose encoder is the largest cost of sending small
 * messages. Requests that it does not know (transactions, other compressions, timestamps) stay with the library. Safe to call many times.
 * Returns whether it is in place.
 */
export const quickenProduce = (installedVersion?: string): boolean =>
  replaceProtocol(
    requests,
    { covers: (version) => version >= OLDEST && version <= NEWEST, replace: quicken },
    installedVersion,
  );
