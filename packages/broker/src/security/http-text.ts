import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TokenError } from './token-error';

interface TextRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** From the first byte sent to the last received, ms. */
const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * The body of an answer with status 200, at most 64 KiB, within 10 s, on a connection of its own.
 * @throws {TokenError} that names the origin and what went wrong, nothing of what was sent or answered.
 */
export const requestText = (url: string, { method, headers, body = '' }: TextRequest): Promise<string> => {
  const { protocol, origin } = new URL(url);
  const open = protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => reject(new TokenError(`${origin} ${what}`));
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const request = open(url, { method, headers: { ...headers, ...length }, agent: false, signal }, (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('data', (part: Buffer) => {
        size += part.length;
        parts.push(part);
        if (size <= MAX_ANSWER_BYTES) return;
        fail(`answered more than ${MAX_ANSWER_BYTES} bytes`);
        request.destroy();
      });
      response.once('error', () => fail('broke off its answer'));
      response.once('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(parts).toString('utf8'));
        else fail(`answered ${String(response.statusCode)}`);
      });
    });
    request.once('error', ({ message }) =>
      fail(signal.aborted ? `did not answer within ${DEADLINE_MS / 1_000} seconds` : `cannot be reached: ${message}`),
    );
    request.end(body);
  });
};
