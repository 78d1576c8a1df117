import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TokenSource } from '../settings';
import { keepToken, type Token, TokenError } from './kept-token';

interface OauthClient {
  /** Address of the token endpoint, http or https. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
}

/** Life of a token whose answer does not say, s. */
const DEFAULT_LIFE_SECONDS = 300;

const fetchToken = async ({ tokenUrl, clientId, clientSecret, scope }: OauthClient): Promise<Token> => {
  const asked = Date.now();
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) });
  const text = await requestText(tokenUrl, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: form.toString(),
  });
  const fields = readJsonObject(text);
  const seconds = Number(fields['expires_in'] ?? DEFAULT_LIFE_SECONDS);
  const life = Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_LIFE_SECONDS;
  return { value: requireText(fields, 'access_token'), expiresAt: asked + life * 1_000 };
};

/** Tokens of an OAuth 2 token endpoint by client credentials (RFC 6749, section 4.4), kept until they are near their end. */
export const oauthTokens = (client: OauthClient): TokenSource => keepToken(() => fetchToken(client));

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
const requestText = (url: string, { method, headers, body = '' }: TextRequest): Promise<string> => {
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

/** The fields of a JSON object. @throws {TokenError} that shows nothing of it. */
const readJsonObject = (text: string): Readonly<Record<string, unknown>> => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined; // its message would show some of the text
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw new TokenError(`the token endpoint did not answer a JSON object`);
  return parsed as Readonly<Record<string, unknown>>; // an object, whose fields are checked where they are read
};

/** A field that must be text. @throws {TokenError} that names it. */
const requireText = (fields: Readonly<Record<string, unknown>>, name: string): string => {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new TokenError(`the token endpoint answered no "${name}"`);
  return value;
};
