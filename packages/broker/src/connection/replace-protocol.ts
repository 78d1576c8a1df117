import { version } from 'kafkajs/package.json';

/** The only version of the client library that has been read; another one is left as it is. */
export const KNOWN_VERSION = '2.2.4';

/** A folder of the client library with the versions of one request: from a request to what writes it and reads its answer. */
export interface LibraryProtocol<Request, Exchange> {
  protocol(how: { readonly version: number | string }): (request: Request) => Exchange;
}

/** An encoded request, as the library expects it. */
export interface Encoded {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

/** Bytes as the library takes them. */
export const asEncoded = (buffer: Buffer): Encoded => ({ buf: buffer, buffer });

interface Replacement<Request, Exchange> {
  /** Whether the version of the request is one that is replaced. */
  readonly covers: (version: number) => boolean;
  /** Changes an exchange that the library has made, or leaves it. */
  readonly replace: (exchange: Exchange, request: Request) => Exchange;
}

const replaced = Symbol.for('@decision/broker: written and read by this package');

/**
 * Puts this package's writing and reading of one request in the place of the client library's. Safe to call many times. Returns whether
 * it is in place: with another version of the library it is not.
 */
export const replaceProtocol = <Request, Exchange>(
  requests: LibraryProtocol<Request, Exchange> & { [replaced]?: true },
  { covers, replace }: Replacement<Request, Exchange>,
  installedVersion: string = version,
): boolean => {
  if (installedVersion !== KNOWN_VERSION) return false;
  if (requests[replaced]) return true;
  const original = requests.protocol.bind(requests);
  requests.protocol = ({ version: wanted }) => {
    const make = original({ version: wanted });
    return covers(Number(wanted)) ? (request) => replace(make(request), request) : make;
  };
  requests[replaced] = true;
  return true;
};
