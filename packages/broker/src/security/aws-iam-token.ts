import { readFile } from 'node:fs/promises';
import type { TokenSource } from '../settings';
import { type AwsCredentials, EMPTY_PAYLOAD_HASH, presign } from './aws-signature';
import { requestText } from './http-text';
import { readJsonObject, requireText } from './json-answer';
import { keepToken, type Token } from './kept-token';
import { TokenError } from './token-error';

/** Source of the credentials: given once, or asked of the endpoint that the platform gives to a container. */
type AwsCredentialSource =
  | { readonly kind: 'given'; readonly credentials: AwsCredentials }
  | {
      readonly kind: 'container';
      readonly url: string;
      /** A file with the value of the authorization header; read for each request, because the platform renews it. */
      readonly authorizationFile?: string | undefined;
    };

/** The longest that the service accepts, s. */
const LIFE_SECONDS = 900;
const WHOSE = 'the credentials endpoint';

/** The token that a broker with IAM access control takes: a signed request to connect, in base64. Pure. */
export const awsIamToken = (region: string, credentials: AwsCredentials, now: number): Token => {
  const signed = presign(
    {
      host: `kafka.${region}.amazonaws.com`,
      path: '/',
      query: { Action: 'kafka-cluster:Connect' },
      region,
      service: 'kafka-cluster',
      payloadHash: EMPTY_PAYLOAD_HASH,
      lifeSeconds: LIFE_SECONDS,
      now,
    },
    credentials,
  );
  const value = Buffer.from(`${signed}&User-Agent=decision-service`).toString('base64url');
  return { value, expiresAt: now + LIFE_SECONDS * 1_000 };
};

const readAuthorization = async (file: string): Promise<string> => {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new TokenError(`the authorization token for ${WHOSE} cannot be read`);
  }
};

interface Obtained {
  readonly credentials: AwsCredentials;
  /** Epoch ms; Infinity where they do not end. */
  readonly expiresAt: number;
}

const obtain = async (source: AwsCredentialSource): Promise<Obtained> => {
  if (source.kind === 'given') return { credentials: source.credentials, expiresAt: Infinity };
  const { url, authorizationFile } = source;
  const headers =
    authorizationFile === undefined ? undefined : { authorization: await readAuthorization(authorizationFile) };
  const fields = readJsonObject(await requestText(url, { method: 'GET', headers: { ...headers } }), WHOSE);
  const expiresAt = Date.parse(String(fields['Expiration']));
  const sessionToken = fields['Token'];
  return {
    credentials: {
      accessKeyId: requireText(fields, 'AccessKeyId', WHOSE),
      secretAccessKey: requireText(fields, 'SecretAccessKey', WHOSE),
      sessionToken: typeof sessionToken === 'string' ? sessionToken : undefined,
    },
    expiresAt: Number.isNaN(expiresAt) ? Infinity : expiresAt,
  };
};

/** Tokens for a broker with AWS IAM access control, kept until they, or their credentials, are near their end. */
export const awsIamTokens = (region: string, source: AwsCredentialSource): TokenSource =>
  keepToken(async () => {
    const { credentials, expiresAt } = await obtain(source);
    const token = awsIamToken(region, credentials, Date.now());
    return { value: token.value, expiresAt: Math.min(token.expiresAt, expiresAt) };
  });
