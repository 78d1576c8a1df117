const REPLACEMENT = '\uFFFD';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** First fault of bytes that are known not to be UTF-8. */
interface Utf8Fault {
  /** The text with the bad bytes replaced; correct up to `position`. */
  readonly text: string;
  /** Characters from 0. */
  readonly position: number;
  readonly byte: number;
}

/** Finds the first byte at which the bytes stop being UTF-8: the first replacement that was not itself sent. One pass. */
export const findUtf8Fault = (bytes: Buffer): Utf8Fault => {
  const text = bytes.toString('utf8');
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    const sent = bytes.subarray(offset, offset + REPLACEMENT_BYTES.length).equals(REPLACEMENT_BYTES);
    if (!sent) return { text, position: at, byte: bytes[offset] ?? 0 };
    offset += REPLACEMENT_BYTES.length;
    from = at + 1;
  }
  return { text, position: text.length, byte: 0 };
};
