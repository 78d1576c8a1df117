import { type Claims } from '@decision/contracts';
import { decodeClaims, readToken } from './token';

const tokenOf = (claims: unknown, header: object = { alg: 'HS256' }): string =>
  [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('signature')
    .join('.');

describe('step 1: the header', () => {
  it.each(['authorization', 'Authorization', 'AUTHORIZATION', 'aUtHoRiZaTiOn'])('%s is read in any case', (name) => {
    expect(readToken([name, 'a.b.c'], 'Authorization')).toBe('a.b.c');
    expect(readToken([name, 'a.b.c'], 'AUTHORIZATION')).toBe('a.b.c');
  });

  it('Authorization loses a prefix Bearer, and needs none', () => {
    expect(readToken(['authorization', 'Bearer a.b.c'], 'Authorization')).toBe('a.b.c');
    expect(readToken(['authorization', 'bearer  a.b.c'], 'authorization')).toBe('a.b.c');
  });

  it('with another name is used unchanged', () => {
    expect(readToken(['X-Identity', 'Bearer a.b.c', 'authorization', 'no'], 'x-identity')).toBe('Bearer a.b.c');
  });

  it.each([
    [[]],
    [['authorization', '']],
    [['authorization', 'Bearer ']],
    [['authorization', 'Bearer']],
    [['other', 'a']],
  ])('%j counts as missing', (raw) => {
    expect(() => readToken(raw, 'Authorization')).toThrow('Missing authentication token');
  });

  it('that comes twice is refused, even with the same token', () => {
    expect(() => readToken(['authorization', 'a.b.c', 'Authorization', 'a.b.c'], 'Authorization')).toThrow(
      'Invalid token format',
    );
  });

  it('longer than the limit is refused', () => {
    expect(() => readToken(['authorization', 'a'.repeat(65_537)], 'Authorization')).toThrow('longer than 65536');
  });

  it('with a payload of 1 MB is refused before it is decoded', () => {
    const token = tokenOf({ email: 'a@example.com', a: 'a'.repeat(1_048_576) });
    expect(() => readToken(['X-Identity', token], 'x-identity')).toThrow(
      expect.objectContaining({ code: 'headers_too_large' }),
    );
  });
});

describe('step 2: the payload', () => {
  const claims = { email: 'Åsa@example.com', sub: '??>>', list: [{ a: 1 }] };

  it('is read from base64url and from base64, padded or not', () => {
    const bytes = Buffer.from(JSON.stringify(claims));
    for (const payload of [bytes.toString('base64url'), bytes.toString('base64')])
      expect(decodeClaims(`e30.${payload}.x`)).toEqual(claims);
  });

  it.each(['HS256', 'RS512', 'none', 'anything', 7])('is read for the algorithm %s', (alg) => {
    expect(decodeClaims(tokenOf(claims, { alg }))).toEqual(claims);
  });

  it('is read with any signature, even an empty one', () => {
    expect(decodeClaims(tokenOf(claims).replace('signature', ''))).toEqual(claims);
  });

  it.each([
    ['one part', 'abc'],
    ['two parts', 'e30.e30'],
    ['four parts', 'e30.e30.e30.e30'],
    ['an empty header', '.e30.x'],
    ['an empty payload', 'e30..x'],
    ['nothing but dots', '..'],
    ['a payload of other characters', 'e30.e3 0.x'],
    ['a payload that is no JSON', `e30.${Buffer.from('{"email"').toString('base64url')}.x`],
    ['a payload that is no text', `e30.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.x`],
    ['a payload that is a list', tokenOf(['a@example.com'])],
    ['a payload that is text', tokenOf('a@example.com')],
    ['a payload that is null', tokenOf(null)],
    ['a payload with NUL within', tokenOf({ a: [{ b: 'x\0' }] })],
    ['a name with NUL', tokenOf({ 'a\0': 1 })],
  ])('is refused: %s', (_, token) => {
    expect(() => decodeClaims(token)).toThrow('Invalid token format');
  });

  it('nested 10,000 deep is refused, and 60 deep is read', () => {
    const nested = (depth: number): string =>
      `e30.${Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`).toString('base64url')}.x`;
    expect(() => decodeClaims(nested(10_000))).toThrow('Invalid token format');
    expect(Object.keys(decodeClaims(nested(60)))).toEqual(['a']);
  });

  it('with __proto__ has a claim of that name, and changes no object', () => {
    const token = `e30.${Buffer.from('{"__proto__":{"email":"a@example.com"}}').toString('base64url')}.x`;
    const read: Claims = decodeClaims(token);
    expect(Object.keys(read)).toEqual(['__proto__']);
    expect(Object.hasOwn({}, 'email')).toBe(false);
  });
});
