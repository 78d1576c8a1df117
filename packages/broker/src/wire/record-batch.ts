import { crc32c } from './crc32c';
import { encodeRecords, type WritableMessage } from './records';

/** One partition's share of a produce request, as the library describes it. */
export interface RecordBatch {
  readonly messages: readonly WritableMessage[];
  /** Epoch ms of all its records. */
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
/** Bytes before those that the length counts: the base offset and the length itself. */
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

/** The head of a batch, which the checksum covers besides the records. */
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
