import { ByteReader } from './byte-reader';
import { type FetchedBatch, type FetchedRecord, readBatches, readRecords, unreadableRecord } from './fetched-records';

/** An answer to a fetch in the form of the client library's own decoder, but without the partitions that have no news. */
export interface FetchResponse {
  /** Always 0: the broker does not delay this answer but asks the client to wait. */
  readonly throttleTime: 0;
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly sessionId: number;
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedPartition[] }[];
}

export interface FetchedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly lastStableOffset: string;
  readonly lastStartOffset: string;
  readonly abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[];
  /** The broker from which this partition should rather be read; -1 if it is this one. */
  readonly preferredReadReplica: number;
  readonly messages: readonly FetchedRecord[];
}

/** Decompression by number; undefined for those that only the library supports. The answer may have spare bytes. */
export type Decompress = (compression: number) => ((bytes: Buffer) => Buffer | Promise<Buffer>) | undefined;

/** Inflated bytes of one answer. Batches beyond it are left out, and will be fetched again. */
const INFLATED_PER_ANSWER = 128 * 1024 * 1024;

/** Bytes that one answer may still inflate to. */
interface Room {
  left: number;
}

/**
 * Reads an answer of version 11. The library makes a batch, and awaits a heartbeat, for every partition of the answer; most of them are empty. An
 * unreadable batch is replaced by a record without a value, see `unreadableReason`. Undefined if something is in a form that only the library
 * reads. Throws `RangeError` if the answer itself is truncated.
 */
export const decodeFetchResponse = async (
  bytes: Buffer,
  decompress: Decompress,
): Promise<FetchResponse | undefined> => {
  const reader = new ByteReader(bytes);
  const head = { clientSideThrottleTime: reader.int32(), errorCode: reader.int16(), sessionId: reader.int32() };
  const room: Room = { left: INFLATED_PER_ANSWER };
  const responses: { topicName: string; partitions: FetchedPartition[] }[] = [];
  for (let topics = reader.int32(); topics > 0; topics -= 1) {
    const topicName = reader.text(reader.int16());
    const partitions: FetchedPartition[] = [];
    for (let left = reader.int32(); left > 0; left -= 1) {
      const read = readPartition(reader);
      const messages = read.bytes === undefined ? [] : await readMessages(read.bytes, decompress, room);
      if (messages === undefined) return undefined;
      if (hasNews(read, messages)) partitions.push(asLibraryDoes(read, messages));
    }
    responses.push({ topicName, partitions });
  }
  return { throttleTime: 0, ...head, responses };
};

/** A partition of an answer; its numbers become texts only if they are needed. */
interface ReadPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly lastStartOffset: number;
  readonly abortedTransactions: FetchedPartition['abortedTransactions'];
  readonly preferredReadReplica: number;
  /** Undefined if there are none. */
  readonly bytes: Buffer | undefined;
}

const readPartition = (reader: ByteReader): ReadPartition => ({
  partition: reader.int32(),
  errorCode: reader.int16(),
  highWatermark: reader.int64(),
  lastStableOffset: reader.int64(),
  lastStartOffset: reader.int64(),
  abortedTransactions: readAborted(reader),
  preferredReadReplica: reader.int32(),
  bytes: readBytes(reader),
});

const readBytes = (reader: ByteReader): Buffer | undefined => {
  const length = reader.int32();
  return length > 0 ? reader.view(length) : undefined;
};

const NONE: FetchedPartition['abortedTransactions'] = [];

const readAborted = (reader: ByteReader): FetchedPartition['abortedTransactions'] => {
  let left = reader.int32();
  if (left <= 0) return NONE;
  const aborted: { producerId: string; firstOffset: string }[] = [];
  for (; left > 0; left -= 1) aborted.push({ producerId: String(reader.int64()), firstOffset: String(reader.int64()) });
  return aborted;
};

const hasNews = ({ errorCode, preferredReadReplica }: ReadPartition, messages: readonly FetchedRecord[]): boolean =>
  messages.length > 0 || errorCode !== 0 || preferredReadReplica !== -1;

const asLibraryDoes = ({ bytes: _, ...read }: ReadPartition, messages: readonly FetchedRecord[]): FetchedPartition => ({
  ...read,
  highWatermark: String(read.highWatermark),
  lastStableOffset: String(read.lastStableOffset),
  lastStartOffset: String(read.lastStartOffset),
  messages,
});

const readMessages = async (
  bytes: Buffer,
  decompress: Decompress,
  room: Room,
): Promise<FetchedRecord[] | undefined> => {
  const batches = readBatches(bytes);
  if (batches === undefined) return undefined;
  const messages: FetchedRecord[] = [];
  for (const batch of batches) {
    const inflate = decompress(batch.compression);
    if (inflate === undefined) return undefined;
    if (batch.count <= 0) continue;
    if (room.left <= 0) break;
    for (const record of await readBatch(batch, inflate, room)) messages.push(record);
  }
  return messages;
};

const readBatch = async (
  { context, count, compression, records }: FetchedBatch,
  inflate: NonNullable<ReturnType<Decompress>>,
  room: Room,
): Promise<FetchedRecord[]> => {
  try {
    const inflated = inflate(records);
    const plain = Buffer.isBuffer(inflated) ? inflated : await inflated;
    if (compression !== 0) room.left -= plain.length;
    return readRecords(context, count, plain);
  } catch (error) {
    return [unreadableRecord(context, error instanceof Error ? error.message : 'unknown error')];
  }
};
