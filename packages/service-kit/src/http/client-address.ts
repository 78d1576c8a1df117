import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { type Secret } from '../config/secret';

/** The header in which a proxy proves itself. The proxy replaces what its client wrote there. */
export const PROXY_SECRET_HEADER = 'x-proxy-secret';

/** Which proxies a service believes. */
export interface ProxyTrust {
  /** How many proxies in front of the service can be believed; 0: none, and `x-forwarded-for` says nothing. */
  readonly trustedProxies: number;
  /** Without this secret in {@link PROXY_SECRET_HEADER} a caller is no proxy; undefined: every caller is one. */
  readonly proxySecret: Secret | undefined;
}

/** Claims of a request about its origin. */
interface AddressClues extends ProxyTrust {
  /** The other end of the connection. */
  readonly connection: string | undefined;
  /** The header `x-forwarded-for`, to which each proxy adds the address that it was called from. */
  readonly forwardedFor: string | readonly string[] | undefined;
  /** The header {@link PROXY_SECRET_HEADER}. */
  readonly proof: string | readonly string[] | undefined;
}

/** The address of the client, as the outermost proxy that can be believed saw it; undefined where it is not known. */
export const clientAddress = (clues: AddressClues): string | undefined => {
  const { connection, forwardedFor, trustedProxies } = clues;
  const own = connection === undefined ? undefined : plain(connection);
  if (trustedProxies < 1 || forwardedFor === undefined || !isProxy(clues)) return own;
  const chain = (typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(','))
    .split(',')
    .map((part) => plain(part.trim()));
  // Entries further to the left were written by the caller of the first proxy, and may be anything.
  const claimed = chain.at(-Math.min(trustedProxies, chain.length));
  return claimed !== undefined && isIP(claimed) !== 0 ? claimed : own;
};

const isProxy = ({ proxySecret, proof }: AddressClues): boolean =>
  proxySecret === undefined ||
  (typeof proof === 'string' && timingSafeEqual(digest(proof), digest(proxySecret.reveal())));

/** Digests have one length, so that comparing them takes the same time whatever was sent. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** An IPv4 address that came through an IPv6 socket is written as the IPv4 address that it is. */
const plain = (address: string): string => (/^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address);
