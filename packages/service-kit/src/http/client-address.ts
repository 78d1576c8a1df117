import { isIP } from 'node:net';

/** What a request says of where it comes from. */
export interface AddressClues {
  /** The other end of the connection. */
  readonly connection: string | undefined;
  /** The header `x-forwarded-for`, to which each proxy adds the address that it was called from. */
  readonly forwardedFor: string | readonly string[] | undefined;
  /** How many proxies in front of the service can be believed; 0: none, and the header says nothing. */
  readonly trustedProxies: number;
}

/** The address of the client, as the outermost proxy that can be believed saw it; undefined where it is not known. */
export const clientAddress = ({ connection, forwardedFor, trustedProxies }: AddressClues): string | undefined => {
  const own = connection === undefined ? undefined : plain(connection);
  if (trustedProxies < 1 || forwardedFor === undefined) return own;
  const chain = (typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(','))
    .split(',')
    .map((part) => plain(part.trim()));
  // What stands further to the left was written by whoever called the first of them, and may be anything.
  const claimed = chain.at(-Math.min(trustedProxies, chain.length));
  return claimed !== undefined && isIP(claimed) !== 0 ? claimed : own;
};

/** An IPv4 address that came through an IPv6 socket is written as the IPv4 address that it is. */
const plain = (address: string): string => (/^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address);
