import { randomBytes, scryptSync } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { hashPassword, verifyPassword } from './password';

it('hashes a password with its own salt, so that it can be checked but not read', async () => {
  const [first, second] = [await hashPassword('correct horse', randomBytes), await hashPassword('correct horse', randomBytes)]; // prettier-ignore
  expect(first).not.toBe(second);
  expect(first).toMatch(/^\$argon2id\$v=19\$m=47104,t=2,p=1\$/);
  expect(first).not.toContain('correct');
  expect(await verify(first, 'correct horse')).toBe(true);
});

it('accepts the same password in any Unicode form', async () => {
  const same = () => Buffer.alloc(16);
  expect(await hashPassword('\u0065\u0301'.repeat(6), same)).toBe(await hashPassword('\u00e9'.repeat(6), same));
});

it('verifies the password in any Unicode form, and no other', async () => {
  const stored = await hashPassword('caf\u00e9 au lait', randomBytes);
  expect(await verifyPassword('cafe\u0301 au lait', stored)).toBe(true);
  expect(await verifyPassword('cafe au lait', stored)).toBe(false);
  expect(await verifyPassword('', stored)).toBe(false);
});

it('still verifies passwords that were hashed with scrypt', async () => {
  const key = scryptSync('caf\u00e9 au lait', 'some salt', 32, { N: 32_768, r: 8, p: 1, maxmem: 2 ** 26 });
  const stored = `scrypt$32768$8$1$${Buffer.from('some salt').toString('base64')}$${key.toString('base64')}`;
  expect(await verifyPassword('cafe\u0301 au lait', stored)).toBe(true);
  expect(await verifyPassword('cafe au lait', stored)).toBe(false);
});

it.each([
  null,
  '',
  'scrypt',
  'scrypt$32768$8$1$$',
  'scrypt$7$8$1$AAAA$AAAA',
  'scrypt$99999999999$8$1$AAAA$AAAA',
  'other$1$1$1$a$b',
  '$argon2id$',
  '$argon2id$v=19$m=1,t=1,p=1$AAAA$AAAA',
  '$argon2id$v=19$m=9999999,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$argon2id$v=19$m=47104,t=999,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$argon2i$v=19$m=47104,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
])('accepts no password for the hash %j', async (stored) => {
  expect(await verifyPassword('', stored)).toBe(false);
});
