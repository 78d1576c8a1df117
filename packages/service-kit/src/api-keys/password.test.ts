import { randomBytes, scryptSync } from 'node:crypto';
import { hashPassword, verifyPassword } from './password';

it('hashes a password with a salt of its own, so that it can be checked and not read', async () => {
  const [first, second] = [await hashPassword('correct horse', randomBytes), await hashPassword('correct horse', randomBytes)]; // prettier-ignore
  expect(first).not.toBe(second);
  expect(first).not.toContain('correct');
  const [name, cost, r, p, salt = '', key] = first.split('$');
  expect([name, cost, r, p]).toEqual(['scrypt', '32768', '8', '1']);
  const options = { N: 32_768, r: 8, p: 1, maxmem: 2 ** 26 };
  expect(scryptSync('correct horse', Buffer.from(salt, 'base64'), 32, options).toString('base64')).toBe(key);
});

it('takes the same password in whatever form it is typed', async () => {
  const same = () => Buffer.alloc(16);
  expect(await hashPassword('\u0065\u0301'.repeat(6), same)).toBe(await hashPassword('\u00e9'.repeat(6), same));
});

it('knows the password again in whatever form it is typed, and no other', async () => {
  const stored = await hashPassword('caf\u00e9 au lait', randomBytes);
  expect(await verifyPassword('cafe\u0301 au lait', stored)).toBe(true);
  expect(await verifyPassword('cafe au lait', stored)).toBe(false);
  expect(await verifyPassword('', stored)).toBe(false);
});

it.each([
  null,
  '',
  'scrypt',
  'scrypt$32768$8$1$$',
  'scrypt$7$8$1$AAAA$AAAA',
  'scrypt$99999999999$8$1$AAAA$AAAA',
  'other$1$1$1$a$b',
])('takes no password for the hash %j', async (stored) => {
  expect(await verifyPassword('', stored)).toBe(false);
});
