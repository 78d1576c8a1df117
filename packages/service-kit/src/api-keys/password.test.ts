import { randomBytes, scryptSync } from 'node:crypto';
import { hashPassword } from './password';

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
