import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TokenError } from './kept-token';

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
 * @throws {TokenError} that names the origin and the fault, and shows nothing of the request or the answer.
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

/** The fields of a JSON object in an answer. @throws {TokenError} that shows nothing of it. */
export const readJsonObject = (who: string, text: string): Readonly<Record<string, unknown>> => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined; // its message would show some of the text
  }
  if (typeof parsed !== 'object' || parsed === null) throw new TokenError(`${who} did not answer a JSON object`);
  return parsed as Readonly<Record<string, unknown>>; // an object, whose fields are checked where they are used
};

/** A field that must be text. @throws {TokenError} with its name. */
export const requireText = (who: string, fields: Readonly<Record<string, unknown>>, name: string): string => {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new TokenError(`${who} answered no "${name}"`);
  return value;
};

/** Life of a token whose answer gives none, s. */
const DEFAULT_LIFE_SECONDS = 300;

/** Life of a token by the field `expires_in` of its answer, ms. */
export const lifeMs = (fields: Readonly<Record<string, unknown>>): number => {
  const seconds = Number(fields['expires_in'] ?? DEFAULT_LIFE_SECONDS);
  return (Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_LIFE_SECONDS) * 1_000;
};
