import { exchange } from '../src/network/exchange';

export const portOf = (url: string): number => Number(new URL(url.includes('://') ? url : `tcp://${url}`).port);

/** Sends one Redis command and returns its one-line answer, or the text of a bulk answer; undefined for no answer. */
export const redis = async (url: string, ...command: string[]): Promise<string | undefined> => {
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('');
  const request = Buffer.from(`*${command.length}\r\n${words}`);
  const answer = await exchange(portOf(url), request, (bytes) => isWholeAnswer(bytes.toString()));
  return answer
    ?.toString()
    .replace(/^\$\d+\r\n/, '')
    .trimEnd();
};

const isWholeAnswer = (text: string): boolean => {
  const [, length] = /^\$(\d+)\r\n/.exec(text) ?? [];
  return length === undefined ? text.endsWith('\r\n') : text.length >= length.length + 5 + Number(length);
};

const API_VERSIONS = Buffer.from('0000000e' + '0012' + '0000' + '00000007' + '0004' + '74657374', 'hex');

/** Number of interfaces that the broker offers; undefined for no answer. */
export const brokerInterfaces = async (brokers: string): Promise<number | undefined> => {
  const whole = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0);
  const answer = await exchange(portOf(brokers), API_VERSIONS, whole);
  if (answer === undefined) return undefined;
  const [correlationId, errorCode] = [answer.readInt32BE(4), answer.readInt16BE(8)];
  return correlationId === 7 && errorCode === 0 ? answer.readInt32BE(10) : undefined;
};
