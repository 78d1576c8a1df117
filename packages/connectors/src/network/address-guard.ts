import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConnectorFailure } from '../connector';

/** An address to which connections are allowed. */
interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolves a host name to all its addresses. */
export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

interface GuardOptions {
  /**
   * Targets that are allowed even if their addresses are not public: `host`, `host:port`, an address, or a network such as `10.1.0.0/16`.
   */
  readonly allowed: readonly string[];
  /** The setting that holds `allowed`, for errors. */
  readonly setting: string;
  /** Default: the resolver of the system. */
  readonly lookup?: Lookup;
}

/** Decides which addresses connections may go to. */
export interface AddressGuard {
  /**
   * The address to connect to for a host, which is a name or an address in any spelling. The connection must go to exactly this address,
   * since a second look-up may answer another one (docs/adr/0039-connections-go-to-the-checked-address.md). Rejects with a {@link
   * ConnectorFailure}: `refused` if the host has no allowed address.
   */
  resolve(host: string, port: number): Promise<CheckedAddress>;
}

type Network = ReturnType<typeof ipaddr.parseCIDR>;

interface AllowedTargets {
  readonly hosts: ReadonlySet<string>;
  readonly networks: readonly Network[];
}

export const createAddressGuard = ({ allowed, setting, lookup = everyAddress }: GuardOptions): AddressGuard => {
  const targets = readAllowed(allowed);
  return {
    resolve: async (host, port) => {
      const name = plainHost(host);
      const isNamed = targets.hosts.has(name) || targets.hosts.has(`${name}:${port}`);
      const found = isIP(name) === 0 ? await addressesOf(name, lookup) : [name];
      for (const address of found)
        if (isNamed || isAllowed(address, port, targets)) return { address, family: isIP(address) === 6 ? 6 : 4 };
      throw new ConnectorFailure(
        `${name} is not connected to: its address is private, local or reserved. Use a public one, or ask the operator to list it in ${setting}.`,
        { outcome: 'refused' },
      );
    },
  };
};

const everyAddress: Lookup = (host) => systemLookup(host, { all: true, verbatim: true });

const addressesOf = async (name: string, lookup: Lookup): Promise<readonly string[]> => {
  try {
    return (await lookup(name)).map(({ address }) => address);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'no answer';
    throw new ConnectorFailure(`The name ${name} has no address (${code}); check how it is written.`, {
      mayRetry: true,
    });
  }
};

/** A host without brackets, in lower case, without the trailing dot of a full name. */
const plainHost = (host: string): string => {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return bare.toLowerCase().replace(/\.$/, '');
};

const readAllowed = (entries: readonly string[]): AllowedTargets => {
  const networks = entries.filter((entry) => ipaddr.isValidCIDR(entry)).map((entry) => ipaddr.parseCIDR(entry));
  const hosts = entries.filter((entry) => !ipaddr.isValidCIDR(entry)).map(plainEntry);
  return { hosts: new Set(hosts), networks };
};

/** `[::1]:80` and `[::1]` without brackets, as hosts are compared. */
const plainEntry = (entry: string): string => {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(entry);
  return bracketed === null ? plainHost(entry) : `${bracketed[1]?.toLowerCase()}${bracketed[2] ?? ''}`;
};

const isAllowed = (text: string, port: number, { hosts, networks }: AllowedTargets): boolean => {
  if (!ipaddr.isValid(text)) return false;
  // An IPv4 address inside an IPv6 one is judged as the address that it reaches.
  const address = ipaddr.process(text);
  const plain = address.toString();
  if (isPublic(address) || hosts.has(plain) || hosts.has(`${plain}:${port}`)) return true;
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
};

/** The part of IPv6 that is assigned to public use. */
const [GLOBAL, GLOBAL_BITS] = ipaddr.parseCIDR('2000::/3');

const isPublic = (address: ReturnType<typeof ipaddr.process>): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL, GLOBAL_BITS));
