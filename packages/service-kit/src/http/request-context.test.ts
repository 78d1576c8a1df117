import { Secret } from '../config/setting';
import { clientAddress, requestIdOf } from './request-context';

describe('the request id', () => {
  it.each(['a', 'Order-17_b.2', 'x'.repeat(128)])('keeps the valid id %s', (id) => {
    expect(requestIdOf(id)).toBe(id);
  });

  it.each([undefined, '', 'x'.repeat(129), 'a b', 'a\nb', 'a"b', 'ä', '<script>', ['a', 'b']])(
    'replaces the invalid id %j',
    (id) => {
      expect(requestIdOf(id)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    },
  );
});

describe('the address of the client', () => {
  it.each<[string, string | undefined, string | readonly string[] | undefined, number, string | undefined]>([
    ['the connection if no proxy is trusted', '192.0.2.1', '203.0.113.9', 0, '192.0.2.1'],
    ['the connection if nothing is forwarded', '192.0.2.1', undefined, 1, '192.0.2.1'],
    ['the address that the one proxy saw', '10.0.0.1', '203.0.113.9', 1, '203.0.113.9'],
    [
      "the address that the one proxy saw, not the client's claim",
      '10.0.0.1',
      '1.1.1.1, 203.0.113.9',
      1,
      '203.0.113.9',
    ],
    ['the address that the outer of two proxies saw', '10.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['the first if there are fewer than trusted', '10.0.0.1', '203.0.113.9', 5, '203.0.113.9'],
    ['a repeated header as one', '10.0.0.1', ['1.1.1.1', '203.0.113.9'], 1, '203.0.113.9'],
    ['the connection if the header is malformed', '10.0.0.1', 'me; drop table', 1, '10.0.0.1'],
    ['the connection if the header is empty', '10.0.0.1', '', 1, '10.0.0.1'],
    ['a mapped address as IPv4', '::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['a mapped address in capital letters as IPv4', '::FFFF:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['a mapped address in groups as IPv4', '10.0.0.1', '0:0:0:0:0:ffff:c000:201', 1, '192.0.2.1'],
    ['a mapped address that a proxy saw as IPv4', '::ffff:10.0.0.1', '::ffff:203.0.113.9', 1, '203.0.113.9'],
    ['the mapped connection if the header is malformed', '::ffff:10.0.0.1', 'unknown', 1, '10.0.0.1'],
    ['an IPv6 address', '10.0.0.1', '2001:db8::1', 1, '2001:db8::1'],
    ['an IPv6 address in one spelling', 'fd00::1', '2001:0DB8:0:0::0001', 1, '2001:db8::1'],
    ['an IPv6 address without its port', 'fd00::1', '[2001:db8::1]:51234', 1, '2001:db8::1'],
    ['an address without its port', '10.0.0.1', '203.0.113.9:51234', 1, '203.0.113.9'],
    ['a link-local address with its interface', 'fe80::1%eth0', undefined, 0, 'fe80::1%eth0'],
    ['nothing if nothing is known', undefined, undefined, 0, undefined],
  ])('is %s', (_, connection, forwardedFor, trustedProxies, address) => {
    expect(clientAddress({ connection, forwardedFor, trustedProxies, proof: undefined, proxySecret: undefined })).toBe(
      address,
    );
  });

  describe('with a secret of the proxy', () => {
    const claim = { connection: '10.0.0.1', forwardedFor: '203.0.113.9', trustedProxies: 1 };
    const proxySecret = new Secret('known to the proxy');

    it.each<[string, string | readonly string[] | undefined, string]>([
      ['the address that the proxy saw if the proxy proves itself', 'known to the proxy', '203.0.113.9'],
      ['the connection without the secret', undefined, '10.0.0.1'],
      ['the connection if the secret is empty', '', '10.0.0.1'],
      ['the connection if the secret is wrong', 'known to the prox', '10.0.0.1'],
      ['the connection if the secret is one of several', 'guess, known to the proxy', '10.0.0.1'],
      ['the connection if the header is a list', ['known to the proxy'], '10.0.0.1'],
    ])('is %s', (_, proof, address) => {
      expect(clientAddress({ ...claim, proof, proxySecret })).toBe(address);
    });

    it('is the connection if no proxy is trusted, even with the secret', () => {
      const proof = proxySecret.reveal();
      expect(clientAddress({ ...claim, trustedProxies: 0, proof, proxySecret })).toBe('10.0.0.1');
    });
  });
});
