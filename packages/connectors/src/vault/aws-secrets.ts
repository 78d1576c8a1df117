import { Readable } from 'node:stream';
import type { SecretsManagerClient, SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import { parseJson } from '@decision/contracts';
import { isPlainObject } from '@decision/values';
import { ConnectorFailure } from '../connector';
import { type AddressGuard } from '../network/address-guard';
import { createHttpClient, type HttpClient } from '../network/http-client';
import { memberOf, notGranted, type SecretStore, splitName } from './grant';

export interface AwsOptions {
  readonly region: string;
  /** Default: the endpoint of the region. */
  readonly url?: string | undefined;
}

/** Secrets have at most 64 KiB, and as JSON within JSON somewhat more. */
const MAX_BYTES = 1_048_576;
const NAME = /^[\w/+=.@-]{1,512}$/;
const MISSING: readonly string[] = ['ResourceNotFoundException', 'AccessDeniedException'];

/**
 * Reads secrets of AWS Secrets Manager through its official client, which finds credentials in the usual places. The client is loaded by
 * the first call, and connects through an address guard.
 */
export class AwsSecrets implements SecretStore {
  private readonly http: HttpClient;
  private client: Promise<SecretsManagerClient> | undefined;

  constructor(
    private readonly options: AwsOptions,
    guard: AddressGuard,
  ) {
    this.http = createHttpClient({ guard, maxBytes: MAX_BYTES, maxRedirects: 0 });
  }

  async read(prefixes: readonly string[], name: string, signal: AbortSignal): Promise<string> {
    const [id, key] = splitName(name, NAME);
    if (!prefixes.some((prefix) => id.startsWith(prefix))) throw notGranted(name);
    const text = await this.ask(id, name, signal);
    const value = key === undefined ? text : memberNamed(text, key);
    if (value === undefined) throw notGranted(name);
    return value;
  }

  async stop(): Promise<void> {
    (await this.client?.catch(() => undefined))?.destroy();
    await this.http.stop();
  }

  /** The text of a secret; undefined if it is binary. */
  private async ask(id: string, name: string, signal: AbortSignal): Promise<string | undefined> {
    const { GetSecretValueCommand } = await import('@aws-sdk/client-secrets-manager');
    const client = await (this.client ??= this.open());
    try {
      return (await client.send(new GetSecretValueCommand({ SecretId: id }), { abortSignal: signal })).SecretString;
    } catch (error) {
      throw failureOf(error, name);
    }
  }

  private async open(): Promise<SecretsManagerClient> {
    const { SecretsManagerClient: Client } = await import('@aws-sdk/client-secrets-manager');
    const { region, url } = this.options;
    // The connector core makes the attempts.
    return new Client({
      ...{ region, maxAttempts: 1, requestHandler: handlerOf(this.http) },
      ...(url === undefined ? {} : { endpoint: url }),
    });
  }
}

const memberNamed = (text: string | undefined, key: string): string | undefined => {
  const parsing = parseJson(text ?? '');
  return parsing.ok && isPlainObject(parsing.value) ? memberOf(parsing.value, key) : undefined;
};

/** A request as the client hands it to its transport. */
interface SentRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The transport of the client, behind the guard and within its bounds. */
const handlerOf = (http: HttpClient): NonNullable<SecretsManagerClientConfig['requestHandler']> => ({
  handle: async (request: SentRequest, { abortSignal }: { readonly abortSignal?: unknown } = {}) => {
    const { method, protocol, hostname, port, path, headers, body = '' } = request;
    const answer = await http.ask({
      method,
      url: new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`),
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: typeof body === 'string' ? body : new TextDecoder().decode(body),
      signal: abortSignal instanceof AbortSignal ? abortSignal : new AbortController().signal,
    });
    const named = Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')] as const);
    return {
      response: {
        statusCode: answer.status,
        headers: Object.fromEntries(named),
        body: Readable.from([answer.body]),
      },
    };
  },
});

/** Only names of errors: messages of a service may repeat its input. */
const failureOf = (error: unknown, secret: string): ConnectorFailure => {
  if (error instanceof ConnectorFailure) return error;
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  if (MISSING.includes(name)) return notGranted(secret);
  const shown = /^\w{1,80}$/.test(name) ? name : 'an unknown error';
  if (name === 'CredentialsProviderError')
    return new ConnectorFailure(
      'The service has no AWS credentials to ask Secrets Manager with; ask the operator to give it some.',
    );
  const status = $metadata?.httpStatusCode ?? 0;
  const isBusy = status >= 500 || status === 429 || /Throttl|TooManyRequests/.test(name);
  return new ConnectorFailure(
    `AWS Secrets Manager answered with ${shown}${isBusy ? '; try again later' : '; ask the operator to check FLOW_VAULT_AWS_REGION, FLOW_VAULT_AWS_URL and the credentials of the service'}.`,
    { mayRetry: isBusy, blamesTarget: status >= 500 },
  );
};
