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
    ['the connection where no proxy is trusted', '192.0.2.1', '203.0.113.9', 0, '192.0.2.1'],
    ['the connection where nothing is forwarded', '192.0.2.1', undefined, 1, '192.0.2.1'],
    ['what the one proxy saw', '10.0.0.1', '203.0.113.9', 1, '203.0.113.9'],
    ['what the one proxy saw, not what the client claimed', '10.0.0.1', '1.1.1.1, 203.0.113.9', 1, '203.0.113.9'],
    ['what the outer of two proxies saw', '10.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['the first where there are fewer than trusted', '10.0.0.1', '203.0.113.9', 5, '203.0.113.9'],
    ['a repeated header as one', '10.0.0.1', ['1.1.1.1', '203.0.113.9'], 1, '203.0.113.9'],
    ['the connection where the header is nonsense', '10.0.0.1', 'me; drop table', 1, '10.0.0.1'],
    ['the connection where the header is empty', '10.0.0.1', '', 1, '10.0.0.1'],
    ['a mapped address as what it is', '::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['a mapped address in capital letters as what it is', '::FFFF:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['a mapped address in groups as what it is', '10.0.0.1', '0:0:0:0:0:ffff:c000:201', 1, '192.0.2.1'],
    ['a mapped address that a proxy saw as what it is', '::ffff:10.0.0.1', '::ffff:203.0.113.9', 1, '203.0.113.9'],
    ['the mapped connection where the header is nonsense', '::ffff:10.0.0.1', 'unknown', 1, '10.0.0.1'],
    ['an address of the newer kind', '10.0.0.1', '2001:db8::1', 1, '2001:db8::1'],
    ['an address of the newer kind in one spelling', 'fd00::1', '2001:0DB8:0:0::0001', 1, '2001:db8::1'],
    ['an address of the newer kind without its port', 'fd00::1', '[2001:db8::1]:51234', 1, '2001:db8::1'],
    ['an address without its port', '10.0.0.1', '203.0.113.9:51234', 1, '203.0.113.9'],
    ['an address of a link with its interface', 'fe80::1%eth0', undefined, 0, 'fe80::1%eth0'],
    ['nothing where nothing is known', undefined, undefined, 0, undefined],
  ])('is %s', (_, connection, forwardedFor, trustedProxies, address) => {
    expect(clientAddress({ connection, forwardedFor, trustedProxies, proof: undefined, proxySecret: undefined })).toBe(
      address,
    );
  });

  describe('with a secret of the proxy', () => {
    const claim = { connection: '10.0.0.1', forwardedFor: '203.0.113.9', trustedProxies: 1 };
    const proxySecret = new Secret('known to the proxy');

    it.each<[string, string | readonly string[] | undefined, string]>([
      ['what the proxy saw where the proxy proves itself', 'known to the proxy', '203.0.113.9'],
      ['the connection without the secret', undefined, '10.0.0.1'],
      ['the connection where the secret is empty', '', '10.0.0.1'],
      ['the connection where the secret is another one', 'known to the prox', '10.0.0.1'],
      ['the connection where the secret stands among others', 'guess, known to the proxy', '10.0.0.1'],
      ['the connection where the header came as a list', ['known to the proxy'], '10.0.0.1'],
    ])('is %s', (_, proof, address) => {
      expect(clientAddress({ ...claim, proof, proxySecret })).toBe(address);
    });

    it('is the connection where no proxy is trusted, whoever proves himself', () => {
      const proof = proxySecret.reveal();
      expect(clientAddress({ ...claim, trustedProxies: 0, proof, proxySecret })).toBe('10.0.0.1');
    });
  });
});
