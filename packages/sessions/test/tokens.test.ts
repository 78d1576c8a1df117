import { createHmac, randomUUID } from 'node:crypto';
import { createSessionTokens } from '../src';

const SECRET = 'a secret of the tests, 32 characters at least';
const OTHER = 'another secret of the tests, as long as that one';
const NOW = Date.parse('2026-01-15T09:30:00Z');
const now = () => NOW;
const claims = { userId: randomUUID(), sessionId: randomUUID(), expiresAt: NOW + 3_600_000 };

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
/** A hand-made token, as an attacker could write. */
const handMade = (header: object, payload: object, secret?: string): string => {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${secret === undefined ? '' : createHmac('sha256', secret).update(text).digest('base64url')}`;
};
const [iat, exp] = [NOW / 1_000, NOW / 1_000 + 60];
const payload = { sub: claims.userId, jti: claims.sessionId, aud: 'decision-service-session', iat, exp };
const header = { alg: 'HS256', typ: 'JWT' };

const tokens = createSessionTokens({ secret: SECRET, now });

it('verifies its own tokens', async () => {
  expect(await tokens.verify(await tokens.mint(claims))).toEqual(claims);
});

it('signs with HMAC-SHA256, and the subject is the user', async () => {
  const token = await tokens.mint(claims);
  const [head = '', body = '', signature] = token.split('.');
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual(header);
  expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toMatchObject({ sub: claims.userId });
  expect(createHmac('sha256', SECRET).update(`${head}.${body}`).digest('base64url')).toBe(signature);
});

it('still verifies tokens of the previous secret, and signs only with the new one', async () => {
  const before = createSessionTokens({ secret: OTHER, now });
  const both = createSessionTokens({ secret: SECRET, previousSecret: OTHER, now });
  expect(await both.verify(await before.mint(claims))).toEqual(claims);
  expect(await before.verify(await both.mint(claims))).toBeUndefined();
});

it('accepts a correct hand-made token, so that the refusals below are due to their changes', async () => {
  expect(await tokens.verify(handMade(header, payload, SECRET))).toMatchObject({ userId: claims.userId });
});

it.each<[string, string]>([
  ['another secret', handMade(header, payload, OTHER)],
  ['alg: none', handMade({ alg: 'none' }, payload)],
  ['alg: none with a signature', handMade({ alg: 'none' }, payload, SECRET)],
  ['another algorithm in the header', handMade({ alg: 'HS512' }, payload, SECRET)],
  ['the audience of another token', handMade(header, { ...payload, aud: 'authenticated' }, SECRET)],
  ['no audience, as keys of an identity stack have it', handMade(header, { ...payload, aud: undefined }, SECRET)],
  ['an expiry that has passed', handMade(header, { ...payload, exp: iat - 10 }, SECRET)],
  ['no expiry', handMade(header, { ...payload, exp: undefined }, SECRET)],
  ['an expiry that is text', handMade(header, { ...payload, exp: 'never' }, SECRET)],
  ['a subject that is no id', handMade(header, { ...payload, sub: 'admin' }, SECRET)],
  ['no session', handMade(header, { ...payload, jti: undefined }, SECRET)],
  ['a critical header that nobody knows', handMade({ ...header, crit: ['x'], x: 1 }, payload, SECRET)],
  ['two parts', handMade(header, payload, SECRET).split('.').slice(0, 2).join('.')],
  ['four parts', `${handMade(header, payload, SECRET)}.x`],
  ['a cut signature', handMade(header, payload, SECRET).slice(0, -2)],
  ['a payload that is no object', `${encode(header)}.${Buffer.from('7').toString('base64url')}.x`],
  ['nothing', ''],
  ['a megabyte', 'a'.repeat(1_000_000)],
])('refuses a token with %s', async (_, token) => {
  expect(await tokens.verify(token)).toBeUndefined();
});
