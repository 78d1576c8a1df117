import { clientAddress } from './client-address';

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
  ['an address of the newer kind', '10.0.0.1', '2001:db8::1', 1, '2001:db8::1'],
  ['nothing where nothing is known', undefined, undefined, 0, undefined],
])('is %s', (_, connection, forwardedFor, trustedProxies, address) => {
  expect(clientAddress({ connection, forwardedFor, trustedProxies })).toBe(address);
});
