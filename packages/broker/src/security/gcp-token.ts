import type { TokenSource } from '../settings';
import { keepToken, TokenError } from './kept-token';
import { lifeMs, readJsonObject, requestText, requireText } from './token-request';

/** Path at which Google Cloud answers a workload about its service account. */
const ACCOUNT_PATH = '/computeMetadata/v1/instance/service-accounts/default';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** The server refuses requests without it: a forged request that this process was tricked into sending does not carry it. */
const HEADERS = { 'metadata-flavor': 'Google' };
/** Its name in sentences about its answers. */
const SERVER = 'the metadata server';
const ACCOUNT = /^[^\s@]+(@[^\s@]+)?$/;

/**
 * Tokens of the service account of this workload in Google Cloud, in the form that its managed Kafka accepts: the access token, wrapped as if it
 * were the signature of a JWT, whose claims contain the account and times (decision 75). `metadataHost` is a host, or host:port.
 * @throws {TokenError} from the source; it shows nothing of the answer.
 */
export const gcpTokens = (metadataHost: string): TokenSource =>
  keepToken(async () => {
    const asked = Date.now();
    const ask = (what: string): Promise<string> =>
      requestText(`http://${metadataHost}${ACCOUNT_PATH}/${what}`, { method: 'GET', headers: HEADERS });
    const [answer, email] = await Promise.all([ask(`token?scopes=${encodeURIComponent(SCOPE)}`), ask('email')]);
    const fields = readJsonObject(SERVER, answer);
    const accessToken = requireText(SERVER, fields, 'access_token');
    const account = email.trim();
    if (!ACCOUNT.test(account)) throw new TokenError(`${SERVER} named no service account`);
    const expiresAt = asked + lifeMs(fields);
    return { value: wrap(accessToken, { account, issuedAt: asked, expiresAt }), expiresAt };
  });

interface Claims {
  readonly account: string;
  /** Epoch ms. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const wrap = (accessToken: string, { account, issuedAt, expiresAt }: Claims): string => {
  const claims = {
    exp: Math.floor(expiresAt / 1_000),
    iss: 'Google',
    iat: Math.floor(issuedAt / 1_000),
    scope: 'kafka',
    sub: account,
  };
  return [JSON.stringify({ typ: 'JWT', alg: 'GOOG_OAUTH2_TOKEN' }), JSON.stringify(claims), accessToken]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
};
