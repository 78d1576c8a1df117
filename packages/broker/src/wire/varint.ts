/** Signed 32-bit whole numbers in one to five bytes: zigzag, then seven bits a byte, the least significant first. */

const zigzag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

/** Bytes that a number takes. */
export const varintSize = (value: number): number => {
  const rest = zigzag(value);
  if (rest < 0x80) return 1;
  if (rest < 0x4000) return 2;
  if (rest < 0x20_0000) return 3;
  return rest < 0x1000_0000 ? 4 : 5;
};

/** Writes a number at an offset and returns the offset behind it. */
export const writeVarint = (bytes: Buffer, offset: number, value: number): number => {
  let at = offset;
  let rest = zigzag(value);
  while (rest > 0x7f) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
};
