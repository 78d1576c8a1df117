import { ByteReader } from './byte-reader';

/** A message as the client library passes it on. */
export interface FetchedRecord {
  readonly magicByte: number;
  readonly attributes: number;
  /** Epoch ms, decimal. */
  readonly timestamp: string;
  /** Decimal. */
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, FetchedHeader>>;
  readonly isControlRecord: boolean;
  readonly batchContext: BatchContext;
}

/** Text, since all headers of this service are; a view of the bytes would cost as much again. A repeated header is a list. */
type FetchedHeader = string | null | (string | null)[];

/** Fields that the records of one batch share. */
interface BatchContext {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly maxTimestamp: string;
  readonly partitionLeaderEpoch: number;
  readonly inTransaction: boolean;
  readonly isControlBatch: boolean;
  readonly lastOffsetDelta: number;
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  /** 1 if the broker sets the time of messages, 0 if their sender does. */
  readonly timestampType: number;
  readonly magicByte: number;
}

/** A batch whose records may still be compressed. */
export interface FetchedBatch {
  readonly context: BatchContext;
  /** Number of the compression, 0 for none. */
  readonly compression: number;
  readonly count: number;
  readonly records: Buffer;
}

const MAGIC = 2;
const COMPRESSION_MASK = 0x7;
const BROKER_TIME_FLAG = 0x8;
const TRANSACTION_FLAG = 0x10;
const CONTROL_FLAG = 0x20;
/** With fewer bytes no batch can follow; brokers truncate the last one when the answer is full. */
const LEAST_BATCH_BYTES = 49;

/** The batches in the bytes of one partition, without a truncated one at the end; undefined if one has an older format. */
export const readBatches = (bytes: Buffer): FetchedBatch[] | undefined => {
  const reader = new ByteReader(bytes);
  const batches: FetchedBatch[] = [];
  while (reader.left >= LEAST_BATCH_BYTES) {
    const firstOffset = reader.int64();
    const length = reader.int32();
    if (length > reader.left) break;
    const batch = readBatch(firstOffset, new ByteReader(reader.view(length) ?? Buffer.alloc(0)));
    if (batch === undefined) return undefined;
    batches.push(batch);
  }
  return batches;
};

const readBatch = (firstOffset: number, reader: ByteReader): FetchedBatch | undefined => {
  const partitionLeaderEpoch = reader.int32();
  const magicByte = reader.int8();
  if (magicByte !== MAGIC) return undefined;
  reader.int32(); // the checksum, which neither the library nor this reader checks: the broker did
  const attributes = reader.int16();
  const lastOffsetDelta = reader.int32();
  const [firstTimestamp, maxTimestamp, producerId] = [reader.int64(), reader.int64(), reader.int64()];
  const [producerEpoch, firstSequence, count] = [reader.int16(), reader.int32(), reader.int32()];
  if (![firstOffset, firstTimestamp, maxTimestamp, producerId].every(Number.isSafeInteger)) return undefined;
  const context = {
    firstOffset: String(firstOffset),
    firstTimestamp: String(firstTimestamp),
    maxTimestamp: String(maxTimestamp),
    partitionLeaderEpoch,
    inTransaction: (attributes & TRANSACTION_FLAG) > 0,
    isControlBatch: (attributes & CONTROL_FLAG) > 0,
    lastOffsetDelta,
    producerId: String(producerId),
    producerEpoch,
    firstSequence,
    timestampType: (attributes & BROKER_TIME_FLAG) > 0 ? 1 : 0,
    magicByte,
  };
  return { context, compression: attributes & COMPRESSION_MASK, count, records: reader.rest() };
};

/** The records of a batch, from its uncompressed bytes. */
export const readRecords = (context: BatchContext, count: number, bytes: Buffer): FetchedRecord[] => {
  const reader = new ByteReader(bytes);
  const firstOffset = Number(context.firstOffset);
  const firstTimestamp = Number(context.firstTimestamp);
  const records: FetchedRecord[] = [];
  for (let index = 0; index < count; index += 1) {
    const end = reader.varint();
    const left = reader.left - end;
    records.push(readRecord(reader, context, firstOffset, firstTimestamp));
    if (reader.left > left) reader.view(reader.left - left); // additions of later formats
  }
  return records;
};

const unreadableReasons = new WeakMap<object, string>();

/** Why the batch that a record stands for could not be read; undefined for a record that was read. */
export const unreadableReason = (record: object): string | undefined => unreadableReasons.get(record);

/** Stands for an unreadable batch: without it, a consumer would fetch the batch for ever. It has the batch's last offset. */
export const unreadableRecord = (context: BatchContext, reason: string): FetchedRecord => {
  const record: FetchedRecord = {
    magicByte: context.magicByte,
    attributes: 0,
    timestamp: context.maxTimestamp,
    offset: String(Number(context.firstOffset) + context.lastOffsetDelta),
    key: null,
    value: null,
    headers: {},
    isControlRecord: false,
    batchContext: context,
  };
  unreadableReasons.set(record, reason);
  return record;
};

const readRecord = (
  reader: ByteReader,
  context: BatchContext,
  firstOffset: number,
  firstTimestamp: number,
): FetchedRecord => {
  const { magicByte, isControlBatch, timestampType, maxTimestamp } = context;
  const attributes = reader.int8();
  const timestampDelta = reader.varint();
  return {
    magicByte,
    attributes,
    timestamp: timestampType === 1 ? maxTimestamp : String(firstTimestamp + timestampDelta),
    offset: String(firstOffset + reader.varint()),
    key: reader.view(reader.varint()) ?? null,
    value: reader.view(reader.varint()) ?? null,
    headers: readHeaders(reader),
    isControlRecord: isControlBatch,
    batchContext: context,
  };
};

const readHeaders = (reader: ByteReader): Readonly<Record<string, FetchedHeader>> => {
  const headers: Record<string, FetchedHeader> = {};
  for (let left = reader.varint(); left > 0; left -= 1) {
    const name = reader.name(reader.varint());
    const length = reader.varint();
    const value = length < 0 ? null : reader.text(length);
    if (name === '__proto__') continue; // no header of this service, and not a usable key
    if (!Object.hasOwn(headers, name)) headers[name] = value;
    else headers[name] = listOf(headers[name] ?? null).concat(value);
  }
  return headers;
};

const listOf = (header: FetchedHeader): (string | null)[] => (Array.isArray(header) ? header : [header]);
