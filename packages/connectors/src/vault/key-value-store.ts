import { parseJson } from '@decision/contracts';
import { isPlainObject } from '@decision/values';
import { ConnectorFailure } from '../connector';
import { type AddressGuard } from '../network/address-guard';
import { createHttpClient, type HttpClient } from '../network/http-client';
import { memberOf, notGranted, type SecretStore, splitName } from './grant';
import { type OperatorKey, readOperatorKey } from '../core/operator-key';

export interface KeyValueOptions {
  /** Origin of the store. */
  readonly url: string;
  readonly token: OperatorKey;
  /** Where the engine of version 2 is mounted. */
  readonly mount: string;
  readonly namespace?: string | undefined;
}

const MAX_BYTES = 1_048_576;
const PATH = /^[\w-]+(?:\/[\w-]+)*$/;

/** Reads secrets of a key-value engine of version 2, as HashiCorp's servers and compatible ones offer it. */
export class KeyValueStore implements SecretStore {
  private readonly client: HttpClient;

  constructor(
    private readonly options: KeyValueOptions,
    guard: AddressGuard,
  ) {
    this.client = createHttpClient({ guard, maxBytes: MAX_BYTES, maxRedirects: 0 });
  }

  async read(prefixes: readonly string[], name: string, signal: AbortSignal): Promise<string> {
    const [path, key] = splitName(name, PATH);
    if (!prefixes.some((prefix) => path.startsWith(prefix))) throw notGranted(name);
    const value = valueOf(await this.ask(path, signal), key);
    if (value === undefined) throw notGranted(name);
    return value;
  }

  stop(): Promise<void> {
    return this.client.stop();
  }

  private async ask(path: string, signal: AbortSignal): Promise<unknown> {
    const { url, token, mount, namespace } = this.options;
    const { status, body } = await this.client.ask({
      method: 'GET',
      url: new URL(`/v1/${mount}/data/${path}`, url),
      headers: {
        'x-vault-token': await readOperatorKey(token, 'FLOW_VAULT_TOKEN'),
        accept: 'application/json',
        ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
      },
      signal,
    });
    if (status === 404 || status === 403) return undefined;
    const parsing = parseJson(body.toString());
    if (status === 200 && parsing.ok) return parsing.value;
    throw new ConnectorFailure(
      `The key-value store answered with status ${status}${status === 200 ? ', and no JSON' : ''}; check FLOW_VAULT_URL, FLOW_VAULT_TOKEN and FLOW_VAULT_MOUNT.`,
      { mayRetry: status >= 500 || status === 429 },
    );
  }
}

const valueOf = (answer: unknown, key: string | undefined): string | undefined => {
  const outer = isPlainObject(answer) ? answer['data'] : undefined;
  const data = isPlainObject(outer) ? outer['data'] : undefined;
  return isPlainObject(data) ? memberOf(data, key) : undefined;
};
