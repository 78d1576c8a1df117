import { requestText } from './http-text';
import { readJsonObject, requireText } from './json-answer';
import { keepToken, type Token } from './kept-token';
import type { TokenSource } from '../settings';

interface OauthClient {
  /** Address of the token endpoint, http or https. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
}

/** Life of a token whose answer does not say, s. */
const DEFAULT_LIFE_SECONDS = 300;
const WHOSE = 'the token endpoint';

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
  const fields = readJsonObject(text, WHOSE);
  const seconds = Number(fields['expires_in'] ?? DEFAULT_LIFE_SECONDS);
  const life = Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_LIFE_SECONDS;
  return { value: requireText(fields, 'access_token', WHOSE), expiresAt: asked + life * 1_000 };
};

/** Tokens of an OAuth 2 token endpoint by client credentials (RFC 6749, section 4.4), kept until they are near their end. */
export const oauthTokens = (client: OauthClient): TokenSource => keepToken(() => fetchToken(client));
