import { crc32c } from './crc32c';

it.each([
  ['', 0],
  ['123456789', 0xe3069283],
  ['\0'.repeat(32), 0x8a9136aa],
])('of %j', (text, expected) => {
  expect(crc32c(Buffer.from(text))).toBe(expected);
});

it('of 32 bytes of ones', () => {
  expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
});
