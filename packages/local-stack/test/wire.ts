import { exchange } from '../src/network/exchange';

export const portOf = (url: string): number => Number(new URL(url.includes('://') ? url : `tcp://${url}`).port);

const redisCommand = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;

const LOGGED_IN = '+OK\r\n';

/**
 * Sends one Redis command with the password of the URL, if it has one, and returns its one-line answer, or the text of a bulk answer;
 * undefined for no answer.
 */
export const redis = async (url: string, ...command: string[]): Promise<string | undefined> => {
  const { password } = new URL(url);
  const login = password === '' ? '' : LOGGED_IN;
  const request = Buffer.from(`${login === '' ? '' : redisCommand(['AUTH', password])}${redisCommand(command)}`);
  const own = (bytes: Buffer): string => bytes.toString().replace(login, '');
  const answer = await exchange(
    portOf(url),
    request,
    (bytes) => bytes.length > login.length && isWholeAnswer(own(bytes)),
  );
  return (
    answer &&
    own(answer)
      .replace(/^\$\d+\r\n/, '')
      .trimEnd()
  );
};

const isWholeAnswer = (text: string): boolean => {
  const [, length] = /^\$(\d+)\r\n/.exec(text) ?? [];
  return length === undefined ? text.endsWith('\r\n') : text.length >= length.length + 5 + Number(length);
};

const API_VERSIONS = Buffer.from('0000000e' + '0012' + '0000' + '00000007' + '0004' + '74657374', 'hex');

/** Number of APIs that the broker offers; undefined without an answer. */
export const brokerInterfaces = async (brokers: string): Promise<number | undefined> => {
  const whole = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0);
  const answer = await exchange(portOf(brokers), API_VERSIONS, whole);
  if (answer === undefined) return undefined;
  const [correlationId, errorCode] = [answer.readInt32BE(4), answer.readInt16BE(8)];
  return correlationId === 7 && errorCode === 0 ? answer.readInt32BE(10) : undefined;
};
