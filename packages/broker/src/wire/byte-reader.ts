/** Names of headers, by a hash of their bytes: every message repeats the same dozen, and decoding them as text would take longer than all numbers. */
const knownNames = new Map<number, { readonly bytes: Buffer; readonly text: string }>();
const MOST_NAMES = 256;
const LONGEST_NAME = 32;

/** Reads the brokers' format from front to back. Reading beyond the end throws a `RangeError`. */
export class ByteReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  /** Number of unread bytes. */
  get left(): number {
    return this.bytes.length - this.at;
  }

  int8(): number {
    return this.bytes.readInt8(this.forward(1));
  }

  int16(): number {
    return this.bytes.readInt16BE(this.forward(2));
  }

  int32(): number {
    return this.bytes.readInt32BE(this.forward(4));
  }

  /** Eight bytes as a number: exact up to 2^53, rounded beyond. */
  int64(): number {
    const from = this.forward(8);
    return this.bytes.readInt32BE(from) * 0x1_0000_0000 + this.bytes.readUInt32BE(from + 4);
  }

  /** A zigzag number of at most ten bytes: exact up to 2^53, rounded beyond. */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let byte = this.byte(); ; byte = this.byte()) {
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A view of the next bytes; undefined if the length is negative, which encodes null. */
  view(length: number): Buffer | undefined {
    if (length < 0) return undefined;
    const from = this.forward(length);
    return this.bytes.subarray(from, from + length);
  }

  /** A view of all unread bytes. */
  rest(): Buffer {
    return this.bytes.subarray(this.forward(this.left));
  }

  /** Text of the given number of bytes, UTF-8. */
  text(length: number): string {
    const from = this.forward(length);
    return this.bytes.toString('utf8', from, from + length);
  }

  /** Text of the given number of bytes, UTF-8, that many messages repeat. */
  name(length: number): string {
    const { bytes } = this;
    const from = this.forward(length);
    if (length > LONGEST_NAME) return bytes.toString('utf8', from, from + length);
    let hash = length;
    for (let at = from; at < from + length; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
    const known = knownNames.get(hash);
    if (known !== undefined && isAt(known.bytes, bytes, from, length)) return known.text;
    const text = bytes.toString('utf8', from, from + length);
    if (known === undefined && knownNames.size < MOST_NAMES)
      knownNames.set(hash, { bytes: Buffer.from(bytes.subarray(from, from + length)), text });
    return text;
  }

  private byte(): number {
    const value = this.bytes[this.at];
    if (value === undefined) throw new RangeError('The bytes end within a number.');
    this.at += 1;
    return value;
  }

  /** Offset of the next bytes; moves past them. */
  private forward(count: number): number {
    const from = this.at;
    if (from + count > this.bytes.length) throw new RangeError('The bytes end too early.');
    this.at = from + count;
    return from;
  }
}

/** Whether bytes equal those of a larger buffer from an offset on. */
const isAt = (wanted: Buffer, bytes: Buffer, from: number, length: number): boolean => {
  if (wanted.length !== length) return false;
  for (let at = 0; at < length; at += 1) if (wanted[at] !== bytes[from + at]) return false;
  return true;
};
