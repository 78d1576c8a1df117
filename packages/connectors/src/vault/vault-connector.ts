import { Secret } from '@decision/flows';
import { type Connector, type ConnectorCall, ConnectorFailure } from '../connector';
import { originOf } from '../network/http-client';
import { readMountedFile } from './mounted-file';
import { notGranted, type VaultGrant } from './grant';
import { type KeyValueOptions, KeyValueStore } from './key-value-store';

interface VaultOptions {
  /** By workspace; one that is not listed reads nothing. */
  readonly grants: ReadonlyMap<string, VaultGrant>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the key-value store is; without it, nodes that name it fail. */
  readonly keyValue?: KeyValueOptions | undefined;
}

const PROVIDERS = ['environment', 'file', 'key-value'] as const;
const TIME_MS = 10_000;

/** Nodes that read secrets which the operator granted to their workspace. Outputs are {@link Secret}s by the names that the node lists. */
export const createVaultConnector = (options: VaultOptions): Connector => {
  const store = options.keyValue && new KeyValueStore(options.keyValue);
  const read = (provider: string, name: string, call: ConnectorCall): Promise<string> => {
    const grant = options.grants.get(call.workspaceId) ?? {};
    switch (provider) {
      case 'environment':
        return Promise.resolve(readVariable(options.environment, grant.environment ?? [], name));
      case 'file':
        return readMountedFile(grant.files ?? [], name);
      case 'key-value':
        if (store === undefined)
          throw new ConnectorFailure('No key-value store is configured; ask the operator to set FLOW_VAULT_URL.', {
            outcome: 'not_available',
          });
        return store.read(grant.keyValue ?? [], name, call.signal);
      default:
        throw new ConnectorFailure(`There is no provider "${provider}"; use one of ${PROVIDERS.join(', ')}.`, {
          outcome: 'invalid',
          details: { field: 'provider' },
        });
    }
  };
  return {
    type: 'vault',
    timeoutMs: TIME_MS,
    targetOf: ({ fields }) =>
      providerOf(fields) === 'key-value' && options.keyValue !== undefined
        ? originOf(new URL(options.keyValue.url))
        : undefined,
    isRepeatable: () => true,
    run: async (call) => {
      const names = (call.fields['secrets'] as readonly { readonly name: string }[]).map(({ name }) => name);
      const provider = providerOf(call.fields);
      const outputs: Outputs = {};
      for (const name of names) put(outputs, name, new Secret(name, await read(provider, name, call)));
      return outputs;
    },
    stop: () => store?.stop() ?? Promise.resolve(),
  };
};

interface Outputs {
  [name: string]: Secret | Outputs;
}

/** An output with dots in its name lies in nested objects, as flows read it. */
const put = (outputs: Outputs, name: string, secret: Secret): void => {
  const segments = name.split('.');
  const last = segments.pop() ?? name;
  let target = outputs;
  for (const segment of segments) {
    const inner = Object.hasOwn(target, segment) ? target[segment] : undefined;
    target = inner === undefined || inner instanceof Secret ? define(target, segment, {}) : inner;
  }
  define(target, last, secret);
};

const define = <T extends Secret | Outputs>(target: Outputs, name: string, value: T): T => {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  return value;
};

const providerOf = ({ provider }: Readonly<Record<string, unknown>>): string =>
  typeof provider === 'string' ? provider : 'environment';

const readVariable = (
  environment: Readonly<Record<string, string | undefined>>,
  prefixes: readonly string[],
  name: string,
): string => {
  const isGranted = prefixes.some((prefix) => prefix !== '' && name.startsWith(prefix));
  const value = isGranted && Object.hasOwn(environment, name) ? environment[name] : undefined;
  if (value !== undefined && value !== '') return value;
  throw notGranted(name);
};
