import type { TokenSource } from '../settings';
import { keepToken, type Token } from './kept-token';
import { lifeMs, readJsonObject, requestText, requireText } from './token-request';

interface OauthClient {
  /** Address of the token endpoint, http or https. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
}

/** Its name in sentences about its answers. */
const ENDPOINT = 'the token endpoint';

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
  const fields = readJsonObject(ENDPOINT, text);
  return { value: requireText(ENDPOINT, fields, 'access_token'), expiresAt: asked + lifeMs(fields) };
};

/** Tokens of an OAuth 2 token endpoint by client credentials (RFC 6749, section 4.4), cached until shortly before they expire. */
export const oauthTokens = (client: OauthClient): TokenSource => keepToken(() => fetchToken(client));
