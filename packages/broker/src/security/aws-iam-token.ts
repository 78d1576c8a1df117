import { readFile } from 'node:fs/promises';
import type * as Providers from '@aws-sdk/credential-providers';
import { withDeadline } from '@decision/waiting';
import type { TokenSource } from '../settings';
import { keepToken, TokenError } from './kept-token';

/** An access key; temporary credentials also have a session token. */
interface AwsAccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/**
 * The source of the credentials. `given`: the settings hold an access key. `container`: the platform's endpoint for containers. `standard`: the
 * sources of AWS's own clients, in their order: the environment, files, a web identity, containers, the instance.
 */
export type AwsCredentialSource =
  | { readonly kind: 'given'; readonly accessKey: AwsAccessKey }
  | {
      readonly kind: 'container';
      readonly url: string;
      /** A file with the value of the authorization header; read for each request, because the platform rotates it. */
      readonly authorizationFile?: string | undefined;
    }
  | { readonly kind: 'standard' };

type Credentials = Awaited<ReturnType<ReturnType<typeof Providers.fromHttp>>>;

const DEADLINE_MS = 10_000;

/**
 * Tokens for a broker with AWS IAM access control, cached until shortly before they, or their credentials, expire. AWS's libraries are loaded
 * with the first token (decision 32).
 */
export const awsIamTokens = (region: string, source: AwsCredentialSource): TokenSource =>
  keepToken(async () => {
    const late = (): Error =>
      new TokenError(`the AWS credentials were not answered within ${DEADLINE_MS / 1_000} seconds`);
    const { expiration, ...accessKey } = await withDeadline(findCredentials(region, source), DEADLINE_MS, late);
    const { generateAuthTokenFromCredentialsProvider } = await import('aws-msk-iam-sasl-signer-js');
    const { token, expiryTime } = await generateAuthTokenFromCredentialsProvider({
      region,
      // Without their expiry: the signer would derive from it a token lifetime with fractions of seconds.
      awsCredentialsProvider: () => Promise.resolve(accessKey),
    });
    return { value: token, expiresAt: Math.min(expiryTime, expiration?.getTime() ?? Infinity) };
  });

const findCredentials = async (region: string, source: AwsCredentialSource): Promise<Credentials> => {
  if (source.kind === 'given') {
    const { accessKeyId, secretAccessKey, sessionToken } = source.accessKey;
    return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  }
  const { fromHttp, fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  const container =
    source.kind === 'container'
      ? fromHttp({ awsContainerCredentialsFullUri: source.url, ...(await readAuthorization(source.authorizationFile)) })
      : undefined;
  try {
    return await (container ?? fromNodeProviderChain({ clientConfig: { region } }))();
  } catch (error) {
    // Only the name: the message about an unreadable answer would show parts of the answer.
    const reason = error instanceof Error ? error.name : 'unknown error';
    throw new TokenError(`${SEARCHED[source.kind]} gave no AWS credentials (${reason})`);
  }
};

/** Read here, since AWS's client fails on a line break at the end of the file. */
const readAuthorization = async (file: string | undefined): Promise<{ awsContainerAuthorizationToken?: string }> => {
  if (file === undefined) return {};
  try {
    return { awsContainerAuthorizationToken: (await readFile(file, 'utf8')).trim() };
  } catch {
    throw new TokenError('the authorization token for the credentials endpoint cannot be read');
  }
};

const SEARCHED = {
  container: 'the credentials endpoint of the container',
  standard: 'neither environment, files, web identity, container nor instance',
} as const;
