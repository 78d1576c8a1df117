import { ConnectorFailure } from '../src';
import { createAddressGuard, type Lookup } from '../src/network/address-guard';

const setting = 'FLOW_API_ALLOWED_HOSTS';
const resolvesTo =
  (...addresses: readonly string[]): Lookup =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address })));

const verdict = (host: string, allowed: readonly string[] = [], lookup: Lookup = resolvesTo(host)): Promise<string> =>
  createAddressGuard({ allowed, setting, lookup })
    .resolve(host, 443)
    .then(
      ({ address }) => address,
      (error: ConnectorFailure) => error.outcome,
    );

describe('the guard of addresses', () => {
  it.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['192.88.99.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '[::1]', 'fe80::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '::ffff:127.0.0.1'],
    ...['::ffff:7f00:1', '::ffff:a9fe:a9fe', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::1'],
    ...['2001::1', '2001:db8::1', '100::1', '0:0:0:0:0:0:0:1', '5f00::1'],
  ])('CN-20: refuses %s, whether written or resolved', async (address) => {
    expect(await verdict(address)).toBe('refused');
    expect(await verdict('public.example', [], resolvesTo(address.replace(/[[\]]/g, '')))).toBe('refused');
  });

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8'])('CN-20: lets %s pass', async (address) => {
    expect(await verdict(address)).toBe(address);
    expect(await verdict('public.example', [], resolvesTo(address))).toBe(address);
  });

  it.each(['2130706433', '0177.0.0.1', '0x7f.1', '127.1', '0x7f000001', '017700000001', 'localhost', 'LOCALHOST.'])(
    'CN-20: refuses %s as the system parses it',
    async (host) => {
      const guard = createAddressGuard({ allowed: [], setting });
      // An address that the system cannot parse leads nowhere; nothing leads to loopback.
      await expect(guard.resolve(host, 80)).rejects.toThrow(ConnectorFailure);
    },
  );

  it('CN-21: chooses a public address of a name that also has private ones', async () => {
    expect(await verdict('both.example', [], resolvesTo('10.0.0.1', '8.8.8.8'))).toBe('8.8.8.8');
  });

  it.each([
    ['a name', ['db.internal'], 'DB.internal.', '10.0.0.1', true],
    ['a name with its port', ['db.internal:443'], 'db.internal', '10.0.0.1', true],
    ['a name with another port', ['db.internal:5432'], 'db.internal', '10.0.0.1', false],
    ['another name', ['db.internal'], 'xdb.internal', '10.0.0.1', false],
    ['an address', ['10.0.0.1'], 'x.example', '10.0.0.1', true],
    ['an IPv6 network', ['10.0.0.1:443'], '10.0.0.1', '10.0.0.1', true],
    ['a network', ['10.0.0.0/8'], 'x.example', '10.9.9.9', true],
    ['a network that does not contain it', ['fd00::/8'], 'x.example', 'fd00::5', true],
    ['a network that does not hold it', ['10.0.0.0/8'], 'x.example', '192.168.0.1', false],
    ['an address in brackets', ['[::1]:443'], '::1', '::1', true],
    ['a mapped spelling of an address', ['10.0.0.1'], 'x.example', '::ffff:10.0.0.1', true],
  ])('CN-22: operators allow %s', async (_what, allowed, host, address, isAllowed) => {
    expect(await verdict(host, allowed, resolvesTo(address))).toBe(isAllowed ? address : 'refused');
  });

  it('CN-22: an error names the host and the setting, but not the address of the name', async () => {
    const guard = createAddressGuard({ allowed: [], setting, lookup: resolvesTo('10.1.2.3') });
    await expect(guard.resolve('inner.example', 80)).rejects.toThrow(/^inner\.example is not connected to.*FLOW_API/);
    await expect(guard.resolve('inner.example', 80)).rejects.not.toThrow(/10\.1/);
  });
});
