import { clearedCookie, requireSameSite, sessionCookie, sessionTokenOf } from '../src';

describe('the token of a request', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['nothing', {}, undefined],
    ['the cookie', { cookie: 'a=b; decision_session=t.o.k; c=d' }, 't.o.k'],
    ['the cookie of a secure host', { cookie: '__Host-decision_session=t.o.k' }, 't.o.k'],
    ['the header before the cookie', { 'x-decision-session': 'h', cookie: 'decision_session=c' }, 'h'],
    ['the same cookie twice', { cookie: 'decision_session=c; decision_session=c' }, 'c'],
    ['only the cookie with the prefix over TLS', { 'x-forwarded-proto': 'https', cookie: 'decision_session=sister; __Host-decision_session=own' }, 'own'], // prettier-ignore
    ['no cookie of a sister site over TLS', { 'x-forwarded-proto': 'https', cookie: 'decision_session=sister' }, undefined], // prettier-ignore
    ['an empty cookie after sign-out', { cookie: 'decision_session=' }, undefined],
    ['cookies of other names', { cookie: 'decision_session_2=x; xdecision_session=y; decision_session' }, undefined],
  ])('is found in %s', (_, headers, token) => {
    expect(sessionTokenOf(headers)).toBe(token);
  });

  it.each<[string, Record<string, string>]>([
    ['two cookies of the name', { cookie: 'decision_session=a; decision_session=b' }],
    ['a cookie of each name', { cookie: 'decision_session=a; __Host-decision_session=b' }],
    ['a repeated header', { 'x-decision-session': 'a, b' }],
    ['a header of 100 kB', { cookie: `decision_session=${'a'.repeat(100_000)}` }],
  ])('is refused in %s', (_, headers) => {
    expect(() => sessionTokenOf(headers)).toThrow(expect.objectContaining({ code: 'invalid_session' }));
  });
});

describe('the cookie', () => {
  it('is out of reach for scripts and other sites, and bound to its host on TLS', () => {
    expect(sessionCookie('t', { secure: true, maxAgeSeconds: 86_400 })).toBe(
      '__Host-decision_session=t; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure',
    );
    expect(sessionCookie('t', { secure: false, maxAgeSeconds: 60.9 })).toBe(
      'decision_session=t; Path=/; Max-Age=60; HttpOnly; SameSite=Lax',
    );
  });
  it('is removed by an empty one', () => {
    expect(clearedCookie({ secure: true })).toContain('__Host-decision_session=; Path=/; Max-Age=0;');
  });
});

describe('a request that another site made a browser send', () => {
  const host = 'decisions.example.com';
  it.each<[string, string, Record<string, string>]>([
    ['reads', 'GET', { host, origin: 'https://evil.example' }],
    ['comes from a page of this host', 'POST', { host, origin: `https://${host}` }],
    ['comes from a page of the host that the ingress was asked for', 'PUT', { host: 'objects-api:3000', 'x-forwarded-host': host, origin: `https://${host}` }], // prettier-ignore
    ['comes from a program', 'DELETE', { host }],
    ['was typed by its user', 'POST', { host, 'sec-fetch-site': 'none' }],
  ])('is accepted if it %s', (_, method, headers) => {
    expect(() => requireSameSite(method, headers)).not.toThrow();
  });
  it.each<[string, Record<string, string>]>([
    ['its origin is another host', { host, origin: 'https://evil.example' }],
    ['its origin is a host that ends like this one', { host, origin: `https://evil-${host}` }],
    ['its origin is another port', { host, origin: `https://${host}:8443` }],
    ['its origin is hidden', { host, origin: 'null' }],
    ['its origin is no web page', { host, origin: `file://${host}` }],
    ['its origin cannot be read', { host, origin: 'https://[' }],
    ['the browser says so', { host, 'sec-fetch-site': 'cross-site' }],
    ['a sister site made it', { host, 'sec-fetch-site': 'same-site' }],
  ])('is refused if %s', (_, headers) => {
    expect(() => requireSameSite('POST', headers)).toThrow(expect.objectContaining({ code: 'cross_site_request' }));
  });
});
