const POLYNOMIAL = 0x82f63b78; // Castagnoli, reflected

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1) remainder = remainder & 1 ? (remainder >>> 1) ^ POLYNOMIAL : remainder >>> 1;
  return remainder;
});

/** The CRC-32C of bytes, unsigned. */
export const crc32c = (bytes: Buffer): number => {
  let remainder = -1;
  for (let index = 0; index < bytes.length; index += 1) {
    // Both indices are within bounds: the one by the loop, the other by the mask.
    remainder = (table[(remainder ^ (bytes[index] as number)) & 0xff] as number) ^ (remainder >>> 8);
  }
  return ~remainder >>> 0;
};
