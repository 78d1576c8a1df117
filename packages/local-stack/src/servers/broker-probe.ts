import { exchange } from '../network/exchange';
import type { BrokerAccess } from '../stack-options';

const METADATA = 3;
const FIND_COORDINATOR = 10;
const SASL_HANDSHAKE = 17;
const INIT_PRODUCER_ID = 22;
const SASL_AUTHENTICATE = 36;
const CORRELATION_ID = 1;
const HEADER_LENGTH = 8; // length and correlation id of an answer

/**
 * Whether the broker has a leader, its group coordinator answers and it has producer ids, so that no client's first request gets "broker
 * not available", "coordinator not available" or "coordinator is loading".
 */
export const brokerAnswers = async (port: number, login?: BrokerAccess): Promise<boolean> => {
  const ask = (request: Buffer): Promise<Buffer | undefined> => askOnce(port, login, request);
  return (await knowsItself(ask, port)) && (await hasCoordinator(ask)) && (await hasProducerIds(ask));
};

/** Sends one request on its own connection; undefined without a complete answer. */
type Ask = (request: Buffer) => Promise<Buffer | undefined>;

/** Metadata v1 for no topics. In a cluster, a broker knows the others before the controllers have admitted it. */
const knowsItself = async (ask: Ask, port: number): Promise<boolean> => {
  const answer = await ask(requestOf(METADATA, 1, int32(0)));
  return answer !== undefined && brokerPorts(answer).includes(port);
};

/** An array of brokers follows the header: id, host, port, and a rack that may be null. Whole entries are read, no more. */
const brokerPorts = (answer: Buffer): number[] => {
  const ports: number[] = [];
  let at = HEADER_LENGTH + 4;
  for (let left = answer.length < at ? 0 : answer.readInt32BE(HEADER_LENGTH); left > 0; left -= 1) {
    const host = at + 4;
    if (host + 2 > answer.length) break;
    const port = host + 2 + answer.readInt16BE(host);
    if (port + 6 > answer.length) break;
    ports.push(answer.readInt32BE(port));
    at = port + 6 + Math.max(answer.readInt16BE(port + 4), 0);
  }
  return ports;
};

/** FindCoordinator v0: an error code follows the header. The first one makes the broker create its offsets topic. */
const hasCoordinator = async (ask: Ask): Promise<boolean> => {
  const answer = await ask(requestOf(FIND_COORDINATOR, 0, text('ready')));
  return answer !== undefined && answer.length >= HEADER_LENGTH + 2 && answer.readInt16BE(HEADER_LENGTH) === 0;
};

/** InitProducerId v0 without a transaction: a throttle time and an error code follow the header. */
const hasProducerIds = async (ask: Ask): Promise<boolean> => {
  const noTransaction = Buffer.concat([int16(-1), int32(0)]);
  const answer = await ask(requestOf(INIT_PRODUCER_ID, 0, noTransaction));
  return answer !== undefined && answer.length >= HEADER_LENGTH + 6 && answer.readInt16BE(HEADER_LENGTH + 4) === 0;
};

const askOnce = async (port: number, login: BrokerAccess | undefined, request: Buffer): Promise<Buffer | undefined> => {
  // The broker processes requests in order, so all of them can be sent at once.
  const requests = [...(login === undefined ? [] : loginRequests(login)), request];
  const bytes = await exchange(
    port,
    Buffer.concat(requests),
    (received) => frames(received).length === requests.length,
  );
  const answer = bytes && frames(bytes).at(-1);
  return answer !== undefined && answer.length >= HEADER_LENGTH && answer.readInt32BE(4) === CORRELATION_ID
    ? answer
    : undefined;
};

/** SaslHandshake v1 and SaslAuthenticate v0 by PLAIN. A broker that refuses the account closes the connection. */
const loginRequests = ({ username, password }: BrokerAccess): Buffer[] => {
  const token = Buffer.from(`\0${username}\0${password}`);
  return [
    requestOf(SASL_HANDSHAKE, 1, text('PLAIN')),
    requestOf(SASL_AUTHENTICATE, 0, Buffer.concat([int32(token.length), token])),
  ];
};

const requestOf = (api: number, version: number, body: Buffer): Buffer => {
  const message = Buffer.concat([int16(api), int16(version), int32(CORRELATION_ID), text('local-stack'), body]);
  return Buffer.concat([int32(message.length), message]);
};

/** The complete answers in the bytes, each prefixed with its length. */
const frames = (bytes: Buffer): Buffer[] => {
  const whole: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const end = at + 4 + bytes.readInt32BE(at);
    if (end > bytes.length) break;
    whole.push(bytes.subarray(at, end));
    at = end;
  }
  return whole;
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
