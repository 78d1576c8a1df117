import { parseJson } from '@decision/contracts';
import { Secret } from '@decision/flows';
import { isPlainObject } from '@decision/values';
import { ConnectorFailure } from '../connector';
import { redactorOf } from '../core/redaction';
import { createAddressGuard } from '../network/address-guard';
import { createHttpClient, type HttpClient } from '../network/http-client';
import { notGranted } from './grant';

export interface KeyValueOptions {
  /** Origin of the store, which the operator sets: it may be private. */
  readonly url: string;
  readonly token: string;
  /** Where the engine of version 2 is mounted. Default `secret`. */
  readonly mount?: string;
}

const MAX_BYTES = 1_048_576;
/** `path/of/secret#key`; the key may be left out where the secret has one key. */
const NAME = /^([\w-]+(?:\/[\w-]+)*)(?:#([\w.-]+))?$/;

/** Reads secrets of a key-value engine of version 2, as HashiCorp's servers and those that are compatible offer it. */
export class KeyValueStore {
  private readonly client: HttpClient;

  constructor(private readonly options: KeyValueOptions) {
    const guard = createAddressGuard({ allowed: [new URL(options.url).hostname], setting: 'FLOW_VAULT_URL' });
    this.client = createHttpClient({ guard, maxBytes: MAX_BYTES, maxRedirects: 0 });
  }

  async read(prefixes: readonly string[], name: string, signal: AbortSignal): Promise<string> {
    const [, path, key] = NAME.exec(name) ?? [];
    if (path === undefined || !prefixes.some((prefix) => prefix !== '' && path.startsWith(prefix)))
      throw notGranted(name);
    const value = valueOf(await this.ask(path, signal), key);
    if (value === undefined) throw notGranted(name);
    return value;
  }

  stop(): Promise<void> {
    return this.client.stop();
  }

  private async ask(path: string, signal: AbortSignal): Promise<unknown> {
    const { url, token, mount = 'secret' } = this.options;
    const { status, body } = await this.client.ask({
      method: 'GET',
      url: new URL(`/v1/${mount}/data/${path}`, url),
      headers: { 'x-vault-token': token, accept: 'application/json' },
      signal,
    });
    if (status === 404 || status === 403) return undefined;
    const parsing = parseJson(body.toString());
    if (status === 200 && parsing.ok) return parsing.value;
    const said = `The key-value store answered with status ${status}${status === 200 ? ', and no JSON' : ''}; check FLOW_VAULT_URL, FLOW_VAULT_TOKEN and FLOW_VAULT_MOUNT.`;
    throw new ConnectorFailure(redactorOf([new Secret('token', token)]).text(said), {
      mayRetry: status >= 500 || status === 429,
    });
  }
}

const valueOf = (answer: unknown, key: string | undefined): string | undefined => {
  const outer = isPlainObject(answer) ? answer['data'] : undefined;
  const data = isPlainObject(outer) ? outer['data'] : undefined;
  if (!isPlainObject(data)) return undefined;
  const [only, ...others] = Object.keys(data);
  const chosen = key ?? (others.length === 0 ? only : undefined);
  if (chosen === undefined || !Object.hasOwn(data, chosen)) return undefined;
  const value = data[chosen];
  return typeof value === 'string' ? value : JSON.stringify(value);
};
