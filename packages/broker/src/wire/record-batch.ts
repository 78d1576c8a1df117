import { crc32c } from '@node-rs/crc32';

/** One partition's share of a produce request, as the library describes it. */
export interface RecordBatch {
  readonly messages: readonly WritableMessage[];
  /** Timestamp of all its records, epoch ms. */
  readonly timestamp: number;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  /** Number of the compression in the batch's attributes, and the function. */
  readonly compression: number;
  readonly compress: (records: Buffer) => Buffer | Promise<Buffer>;
}

const MAGIC = 2;
const ATTRIBUTES_AT = 21;
/** Offset 0, length, leader epoch, magic, checksum, attributes, last offset delta, two timestamps, producer, sequence, count. */
const HEAD_BYTES = 61;
/** Bytes that the length does not count: the base offset and the length itself. */
const UNCOUNTED_BYTES = 12;

/** A record batch of format 2, as a broker stores it, in one piece. */
export const encodeRecordBatch = async (batch: RecordBatch): Promise<Buffer> => {
  const plain = encodeRecords(batch.messages);
  const records = batch.compression === 0 ? plain : await batch.compress(plain);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + records.length);
  bytes.writeBigInt64BE(0n, 0);
  bytes.writeInt32BE(bytes.length - UNCOUNTED_BYTES, 8);
  bytes.writeInt32BE(0, 12);
  bytes.writeInt8(MAGIC, 16);
  writeHead(bytes, batch);
  records.copy(bytes, HEAD_BYTES);
  bytes.writeUInt32BE(crc32c(bytes.subarray(ATTRIBUTES_AT)), 17);
  return bytes;
};

/** Writes the head of a batch, which the checksum covers together with the records. */
const writeHead = (bytes: Buffer, batch: RecordBatch): void => {
  const { messages, timestamp, producerId, producerEpoch, firstSequence, compression } = batch;
  bytes.writeInt16BE(compression, ATTRIBUTES_AT);
  bytes.writeInt32BE(messages.length - 1, 23);
  bytes.writeBigInt64BE(BigInt(timestamp), 27);
  bytes.writeBigInt64BE(BigInt(timestamp), 35);
  bytes.writeBigInt64BE(producerId, 43);
  bytes.writeInt16BE(producerEpoch, 51);
  bytes.writeInt32BE(firstSequence, 53);
  bytes.writeInt32BE(messages.length, 57);
};

/** A message to write. The library's own type allows more; see {@link isWritable}. */
export interface WritableMessage {
  readonly key?: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers?: Readonly<Record<string, Buffer | string>>;
}

const sizeOf = (text: Buffer | string | null | undefined): number => {
  if (text === null || text === undefined) return -1;
  return typeof text === 'string' ? Buffer.byteLength(text) : text.length;
};

const fieldSize = (length: number): number => varintSize(length) + Math.max(length, 0);

const headersSize = (headers: Readonly<Record<string, Buffer | string>>): number => {
  let count = 0;
  let size = 0;
  for (const name in headers) {
    count += 1;
    size += fieldSize(Buffer.byteLength(name)) + fieldSize(sizeOf(headers[name]));
  }
  return size + varintSize(count);
};

/** Attributes and timestamp delta, which are always zero. */
const FIXED_BYTES = 2;

/** Bytes of a record after its length. `index` is its position in the batch. */
const bodySize = ({ key, value, headers = {} }: WritableMessage, index: number): number =>
  FIXED_BYTES + varintSize(index) + fieldSize(sizeOf(key)) + fieldSize(sizeOf(value)) + headersSize(headers);

/** Text up to this length is copied faster by hand than by a call into the runtime. */
const SHORT_TEXT = 24;

const writeText = (bytes: Buffer, offset: number, text: string): number => {
  const { length } = text;
  if (length > SHORT_TEXT) return offset + bytes.write(text, offset);
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return offset + bytes.write(text, offset);
    bytes[offset + index] = code;
  }
  return offset + length;
};

const writeField = (bytes: Buffer, offset: number, text: Buffer | string | null | undefined): number => {
  const at = writeVarint(bytes, offset, sizeOf(text));
  if (text === null || text === undefined) return at;
  return typeof text === 'string' ? writeText(bytes, at, text) : at + text.copy(bytes, at);
};

const writeRecord = (bytes: Buffer, offset: number, message: WritableMessage, index: number, size: number): number => {
  const { key, value, headers = {} } = message;
  let at = writeVarint(bytes, offset, size);
  bytes[at++] = 0; // attributes
  bytes[at++] = 0; // milliseconds since the batch's first record
  at = writeVarint(bytes, at, index);
  at = writeField(bytes, at, key);
  at = writeField(bytes, at, value);
  at = writeVarint(bytes, at, Object.keys(headers).length);
  for (const name in headers) at = writeField(bytes, writeField(bytes, at, name), headers[name]);
  return at;
};

/** The records of one batch in one piece, uncompressed. All have the timestamp of the batch. */
const encodeRecords = (messages: readonly WritableMessage[]): Buffer => {
  const sizes = messages.map(bodySize);
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + varintSize(size) + size, 0));
  let at = 0;
  messages.forEach((message, index) => {
    at = writeRecord(bytes, at, message, index, sizes[index] ?? 0);
  });
  return bytes;
};

const isField = (field: unknown): boolean => typeof field === 'string' || Buffer.isBuffer(field);

/** Whether {@link encodeRecords} writes a message of the library as the library would. */
export const isWritable = (message: {
  key?: unknown;
  value?: unknown;
  headers?: unknown;
  timestamp?: unknown;
}): boolean => {
  const { key, value, headers, timestamp } = message;
  if (timestamp !== undefined && timestamp !== null) return false;
  if (key !== undefined && key !== null && !isField(key)) return false;
  if (value !== null && !isField(value)) return false;
  if (headers === undefined) return true;
  if (typeof headers !== 'object' || headers === null) return false;
  return Object.values(headers).every(isField);
};

/** Signed 32-bit whole numbers in one to five bytes: zigzag, then seven bits per byte, the least significant first. */

const zigzag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

/** Bytes of an encoded number. */
export const varintSize = (value: number): number => {
  const rest = zigzag(value);
  if (rest < 0x80) return 1;
  if (rest < 0x4000) return 2;
  if (rest < 0x20_0000) return 3;
  return rest < 0x1000_0000 ? 4 : 5;
};

/** Writes a number at an offset and returns the offset after it. */
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
