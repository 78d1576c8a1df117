import { expiryAfterWrite, isExpired } from './expiry';

it('C105: an instance expires its lifetime after the last write', () => {
  expect(expiryAfterWrite(60, 1_000)).toBe(61_000);
  expect(expiryAfterWrite(null, 1_000)).toBeNull();
});

it('C106: it is gone from that moment on', () => {
  expect([60_999, 61_000, 61_001].map((now) => isExpired(61_000, now))).toEqual([false, true, true]);
  expect(isExpired(null, Number.MAX_SAFE_INTEGER)).toBe(false);
});
