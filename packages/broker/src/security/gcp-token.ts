import type { TokenSource } from '../settings';
import { keepToken, TokenError } from './kept-token';
import { lifeMs, readJsonObject, requestText, requireText } from './token-request';

/** Where Google Cloud answers a workload about the service account that it runs as. */
const ACCOUNT_PATH = '/computeMetadata/v1/instance/service-accounts/default';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** Without it the server refuses: a request that somebody else had this process send does not carry it. */
const HEADERS = { 'metadata-flavor': 'Google' };
/** As sentences about its answers name it. */
const SERVER = 'the metadata server';
const ACCOUNT = /^[^\s@]+(@[^\s@]+)?$/;

/**
 * Tokens of the service account that this workload runs as in Google Cloud, in the form that its managed Kafka reads: the access token, wrapped as if it
 * were the signature of a JWT, whose claims name account and times (decision 75). `metadataHost` is a host, or host:port.
 * @throws {TokenError} from the source; it shows nothing of what was answered.
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
