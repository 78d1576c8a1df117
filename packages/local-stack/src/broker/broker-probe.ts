import { exchange } from '../network/exchange';

const METADATA = 3;
const FIND_COORDINATOR = 10;
const INIT_PRODUCER_ID = 22;
const CORRELATION_ID = 1;
const HEADER_LENGTH = 8; // length and correlation id of an answer

/**
 * Whether the broker leads itself, its group coordinator answers and it has ids for producers, so that no client's first
 * request meets "broker not available", "coordinator not available" or "coordinator is loading".
 */
export const brokerAnswers = async (port: number): Promise<boolean> =>
  (await knowsItself(port)) && (await hasCoordinator(port)) && (await hasProducerIds(port));

/** Metadata v1 for no topics: an array of brokers follows the header. */
const knowsItself = async (port: number): Promise<boolean> => {
  const answer = await ask(port, METADATA, 1, int32(0));
  return answer !== undefined && answer.length >= HEADER_LENGTH + 4 && answer.readInt32BE(HEADER_LENGTH) > 0;
};

/** FindCoordinator v0: an error code follows the header. The first one makes the broker create its offsets topic. */
const hasCoordinator = async (port: number): Promise<boolean> => {
  const answer = await ask(port, FIND_COORDINATOR, 0, text('ready'));
  return answer !== undefined && answer.length >= HEADER_LENGTH + 2 && answer.readInt16BE(HEADER_LENGTH) === 0;
};

/** InitProducerId v0 without a transaction: a throttle time and an error code follow the header. */
const hasProducerIds = async (port: number): Promise<boolean> => {
  const noTransaction = Buffer.concat([int16(-1), int32(0)]);
  const answer = await ask(port, INIT_PRODUCER_ID, 0, noTransaction);
  return answer !== undefined && answer.length >= HEADER_LENGTH + 6 && answer.readInt16BE(HEADER_LENGTH + 4) === 0;
};

const ask = async (port: number, api: number, version: number, body: Buffer): Promise<Buffer | undefined> => {
  const message = Buffer.concat([int16(api), int16(version), int32(CORRELATION_ID), text('local-stack'), body]);
  const request = Buffer.concat([int32(message.length), message]);
  const answer = await exchange(
    port,
    request,
    (bytes) => bytes.length >= 4 && bytes.length >= bytes.readInt32BE(0) + 4,
  );
  return answer !== undefined && answer.length >= HEADER_LENGTH && answer.readInt32BE(4) === CORRELATION_ID
    ? answer
    : undefined;
};

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const text = (value: string): Buffer => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
