/** Input of the client library's encoder of a fetch request, version 11. */
export interface FetchRequest {
  /** -1 for clients that are not brokers. */
  readonly replicaId?: number;
  /** How long the broker may wait for the first message, ms. */
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** 0 reads uncommitted messages too, 1 only committed ones. */
  readonly isolationLevel?: number;
  readonly sessionId?: number;
  readonly sessionEpoch?: number;
  readonly topics: readonly FetchTopic[];
  readonly forgottenTopics?: readonly unknown[];
  readonly rackId?: string;
}

interface FetchTopic {
  readonly topic: string;
  readonly partitions: readonly FetchPartition[];
}

interface FetchPartition {
  readonly partition: number;
  readonly currentLeaderEpoch?: number;
  /** Whole numbers, in any type that prints them. */
  readonly fetchOffset: { toString(): string };
  readonly logStartOffset?: { toString(): string };
  readonly maxBytes: number;
}

/** Four numbers of 32 bits, one of 8, two of 32, and the counts of topics and forgotten topics. */
const FIXED_BYTES = 4 * 4 + 1 + 2 * 4 + 2 * 4;
const PARTITION_BYTES = 4 + 4 + 8 + 8 + 4;
const READ_COMMITTED = 1;

/** Whether {@link encodeFetchRequest} writes the request as the library would. */
export const isPlainFetch = ({ forgottenTopics = [] }: FetchRequest): boolean => forgottenTopics.length === 0;

/** The body of a fetch request of version 11 in one piece; the library allocates half a kibibyte for each partition. */
export const encodeFetchRequest = (request: FetchRequest): Buffer => {
  const { topics, rackId = '' } = request;
  const bytes = Buffer.allocUnsafe(sizeOf(request));
  let at = bytes.writeInt32BE(request.replicaId ?? -1, 0);
  at = bytes.writeInt32BE(request.maxWaitTime, at);
  at = bytes.writeInt32BE(request.minBytes, at);
  at = bytes.writeInt32BE(request.maxBytes, at);
  at = bytes.writeInt8(request.isolationLevel ?? READ_COMMITTED, at);
  at = bytes.writeInt32BE(request.sessionId ?? 0, at);
  at = bytes.writeInt32BE(request.sessionEpoch ?? -1, at);
  at = bytes.writeInt32BE(topics.length, at);
  for (const { topic, partitions } of topics) {
    at = writeText(bytes, topic, at);
    at = bytes.writeInt32BE(partitions.length, at);
    for (const partition of partitions) at = writePartition(bytes, partition, at);
  }
  at = bytes.writeInt32BE(0, at);
  writeText(bytes, rackId, at);
  return bytes;
};

const writePartition = (bytes: Buffer, partition: FetchPartition, from: number): number => {
  let at = bytes.writeInt32BE(partition.partition, from);
  at = bytes.writeInt32BE(partition.currentLeaderEpoch ?? -1, at);
  at = writeInt64(bytes, partition.fetchOffset, at);
  at = writeInt64(bytes, partition.logStartOffset ?? -1, at);
  return bytes.writeInt32BE(partition.maxBytes, at);
};

const writeInt64 = (bytes: Buffer, value: { toString(): string }, at: number): number => {
  const number = Number(value.toString());
  if (!Number.isSafeInteger(number)) return bytes.writeBigInt64BE(BigInt(value.toString()), at);
  // Two halves: a bigint would be allocated for each partition.
  return bytes.writeUInt32BE(number >>> 0, bytes.writeInt32BE(Math.floor(number / 0x1_0000_0000), at));
};

const writeText = (bytes: Buffer, text: string, from: number): number => {
  const length = bytes.write(text, from + 2);
  bytes.writeInt16BE(length, from);
  return from + 2 + length;
};

const sizeOf = ({ topics, rackId = '' }: FetchRequest): number =>
  topics.reduce(
    (size, { topic, partitions }) => size + textSize(topic) + 4 + partitions.length * PARTITION_BYTES,
    FIXED_BYTES + textSize(rackId),
  );

const textSize = (text: string): number => 2 + Buffer.byteLength(text);
