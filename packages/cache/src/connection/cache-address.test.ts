import { describeAddress, parseCacheUrl } from './cache-address';

const NOBODY = { username: undefined, password: undefined };

describe('parseCacheUrl', () => {
  it.each([
    ['redis://cache', { host: 'cache', port: 6379, tls: false, ...NOBODY, database: 0 }],
    ['redis://cache:6380/', { host: 'cache', port: 6380, tls: false, ...NOBODY, database: 0 }],
    ['rediss://cache.example:1/15', { host: 'cache.example', port: 1, tls: true, ...NOBODY, database: 15 }],
    ['redis://[::1]:7/3', { host: '::1', port: 7, tls: false, ...NOBODY, database: 3 }],
    [
      'redis://:p%40ss%2F@h',
      { host: 'h', port: 6379, tls: false, username: undefined, password: 'p@ss/', database: 0 },
    ],
    ['redis://user:p@h', { host: 'h', port: 6379, tls: false, username: 'user', password: 'p', database: 0 }],
  ])('reads %s', (url, address) => {
    expect(parseCacheUrl(url)).toEqual({ ok: true, address });
  });

  it.each([
    ['secret', 'form'],
    ['redis://', 'form'],
    ['redis://:secret@', 'form'],
    ['redis://h:99999', 'form'],
    ['http://:secret@h', 'begin with'],
    ['unix:///tmp/secret', 'form'],
    ['redis://:secret@h/one', 'database'],
    ['redis://:secret@h/1/2', 'database'],
    ['redis://:secret@h/123456', 'database'],
    ['rediss://:secret@h?tls=off', 'query'],
    ['redis://:secret@h/1#x', 'fragment'],
    ['redis://:secret%ZZ@h', 'percent-encoded'],
  ])('refuses %s and names the fault, but never the URL', (url, word) => {
    const parsed = parseCacheUrl(url);
    expect(parsed).toEqual({ ok: false, fault: expect.stringContaining(word) });
    expect(JSON.stringify(parsed)).not.toContain('secret');
  });
});

describe('describeAddress', () => {
  it.each([
    ['redis://user:secret@h:1/2', 'h:1'],
    ['rediss://:secret@[fe80::1]', '[fe80::1]:6379'],
  ])('redacts %s to %s', (url, shown) => {
    const parsed = parseCacheUrl(url);
    expect(parsed.ok && describeAddress(parsed.address)).toBe(shown);
  });
});
