import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { generateApiKey, hashApiKeySecret, parseApiKey } from './api-key';

const SELECTOR = '0123456789ab';
const SECRET = 'A'.repeat(43);

it('parses whatever it makes, into the parts that are stored', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (chance) => {
      const bytes = Buffer.from(chance);
      const { apiKey, selector, secretHash } = generateApiKey((size) => bytes.subarray(0, size));
      const parts = parseApiKey(apiKey);
      expect(parts?.selector).toBe(selector);
      expect(hashApiKeySecret(parts?.secret ?? '').toString('hex')).toBe(secretHash);
    }),
  );
});

it('stores the SHA-256 of the secret, never the secret', () => {
  const { apiKey, ...stored } = generateApiKey(randomBytes);
  const secret = apiKey.slice(-43);
  expect(stored.secretHash).toBe(createHash('sha256').update(secret).digest('hex'));
  expect(JSON.stringify(stored)).not.toContain(secret);
});

it('draws 12 bytes for the selector and 32 for the secret', () => {
  const sizes: number[] = [];
  generateApiKey((size) => {
    sizes.push(size);
    return randomBytes(size);
  });
  expect(sizes).toEqual([12, 32]);
});

it('parses a key of the right shape', () => {
  expect(parseApiKey(`dsk_${SELECTOR}_${SECRET}`)).toEqual({ selector: SELECTOR, secret: SECRET });
});

it.each([
  ['is empty', ''],
  ['has another prefix', `psk_${SELECTOR}_${SECRET}`],
  ['has a selector of 11', `dsk_${SELECTOR.slice(1)}_${SECRET}`],
  ['has a selector of 13', `dsk_${SELECTOR}0_${SECRET}`],
  ['has an upper-case selector', `dsk_${SELECTOR.toUpperCase()}_${SECRET}`],
  ['has a letter that is mistaken for a digit', `dsk_l${SELECTOR.slice(1)}_${SECRET}`],
  ['has a secret of 42', `dsk_${SELECTOR}_${SECRET.slice(1)}`],
  ['has a secret of 44', `dsk_${SELECTOR}_${SECRET}A`],
  ['has a character outside base64url', `dsk_${SELECTOR}_${SECRET.slice(1)}+`],
  ['goes on after a line break', `dsk_${SELECTOR}_${SECRET}\n`],
  ['begins with a blank', ` dsk_${SELECTOR}_${SECRET}`],
  ['is two keys, as a repeated header gives', `dsk_${SELECTOR}_${SECRET}, dsk_${SELECTOR}_${SECRET}`],
])('does not take for a key what %s', (_what, text) => {
  expect(parseApiKey(text)).toBeUndefined();
});
