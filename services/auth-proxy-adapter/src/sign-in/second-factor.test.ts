import { randomBytes } from 'node:crypto';
import { factorAddress, hashOfRecoveryCode, newFactorSecret, newRecoveryCodes, stepOfCode } from './second-factor';

// RFC 6238, appendix B: the ASCII text 12345678901234567890, SHA-1, the last six digits.
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const vectors = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const;

it.each(vectors)('takes the code of RFC 6238 at %d s', (seconds, code) => {
  expect(stepOfCode(SECRET, code, seconds * 1_000)).toBe(Math.floor(seconds / 30));
});

it('accepts only the codes of the steps before and after, besides the current one', () => {
  const [seconds, code] = vectors[3];
  const step = Math.floor(seconds / 30);
  const at = (shift: number) => stepOfCode(SECRET, code, (seconds + shift * 30) * 1_000);
  expect([-2, -1, 0, 1, 2].map(at)).toEqual([undefined, step, step, step, undefined]);
});

it('ignores blanks in a code, and accepts nothing else', () => {
  const now = 59_000;
  expect(stepOfCode(SECRET, ' 287 082 ', now)).toBe(1);
  for (const wrong of ['', '28708', '2870821', '287o82', '２８７０８２', '-87082', '1e5'])
    expect(stepOfCode(SECRET, wrong, now)).toBeUndefined();
});

it('makes secrets of 160 bits for an app', () => {
  const secret = newFactorSecret(randomBytes);
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(newFactorSecret(randomBytes)).not.toBe(secret);
  const address = new URL(factorAddress(secret, { issuer: 'Ours & theirs', email: 'ada@example.com' }));
  expect(address.protocol).toBe('otpauth:');
  expect(address.searchParams.get('secret')).toBe(secret);
  expect(address.searchParams.get('issuer')).toBe('Ours & theirs');
});

it('makes ten recovery codes, which are recognized in any spelling', () => {
  const codes = newRecoveryCodes(randomBytes);
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^[a-z2-9]{5}-[a-z2-9]{5}$/);
    expect(hashOfRecoveryCode(` ${code.toUpperCase().replace('-', ' ')}`)).toBe(hashOfRecoveryCode(code));
  }
  for (const wrong of ['', '287082', 'aaaaa-aaaa', 'aaaaa-aaaaaa', 'aaaaa-aaaa1', 'äaaaa-aaaaa'])
    expect(hashOfRecoveryCode(wrong)).toBeUndefined();
});
