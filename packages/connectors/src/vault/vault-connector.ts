import { Secret } from '@decision/flows';
import { type VaultGrants } from '@decision/service-kit';
import { type Connector, type ConnectorCall, ConnectorFailure } from '../connector';
import { createAddressGuard, type Lookup } from '../network/address-guard';
import { originOf } from '../network/http-client';
import { type AwsOptions, AwsSecrets } from './aws-secrets';
import { grantedPrefixes, notGranted, type SecretStore } from './grant';
import { type KeyValueOptions, KeyValueStore } from './key-value-store';
import { readMountedFile } from './mounted-file';

interface VaultOptions {
  /** A workspace that is not listed reads only what is granted to every workspace. */
  readonly grants: VaultGrants;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Address of the key-value store; without it, nodes that name it fail. */
  readonly keyValue?: KeyValueOptions | undefined;
  /** Settings of AWS Secrets Manager; without them, nodes that name it fail. */
  readonly aws?: AwsOptions | undefined;
  /** Stores that may be asked even if their addresses are private. */
  readonly allowedHosts: readonly string[];
  /** Time for a node, ms. */
  readonly timeoutMs: number;
  /** Default: the resolver of the system. */
  readonly lookup?: Lookup;
}

const providers = ['environment', 'file', 'key-value', 'aws'] as const;
type Provider = (typeof providers)[number];

/** Nodes that read secrets which the operator granted to their workspace. Outputs are {@link Secret}s by the names that the node lists. */
export const createVaultConnector = (options: VaultOptions): Connector => {
  const { grants, environment, keyValue, aws, allowedHosts, timeoutMs, lookup } = options;
  const guard = createAddressGuard({ allowed: allowedHosts, setting: 'FLOW_VAULT_ALLOWED_HOSTS', lookup });
  const stores: Readonly<Record<Provider, SecretStore | undefined>> = {
    environment: { read: (prefixes, name) => Promise.resolve(readVariable(environment, prefixes, name)) },
    file: { read: (folders, name) => readMountedFile(folders, name) },
    'key-value': keyValue && new KeyValueStore(keyValue, guard),
    aws: aws && new AwsSecrets(aws, guard),
  };
  return {
    type: 'vault',
    timeoutMs,
    targetOf: ({ fields }) => {
      if (fields['provider'] === 'key-value') return keyValue && originOf(new URL(keyValue.url));
      return fields['provider'] === 'aws' ? aws && `AWS Secrets Manager of ${aws.region}` : undefined;
    },
    isRepeatable: () => true,
    run: async ({ fields, workspaceId, signal }: ConnectorCall) => {
      const names = (fields['secrets'] as readonly { readonly name: string }[]).map(({ name }) => name); // checked when it was imported
      const provider = providerOf(fields['provider']);
      const store = stores[provider] ?? notConfigured(provider);
      const prefixes = grantedPrefixes(grants, workspaceId, provider);
      const outputs: Outputs = {};
      for (const name of names) put(outputs, name, new Secret(name, await store.read(prefixes, name, signal)));
      return outputs;
    },
    stop: async () => {
      for (const store of Object.values(stores)) await store?.stop?.();
    },
  };
};

const providerOf = (given: unknown = 'environment'): Provider => {
  const provider = providers.find((name) => name === given);
  if (provider !== undefined) return provider;
  throw new ConnectorFailure(`There is no provider "${String(given)}"; use one of ${providers.join(', ')}.`, {
    outcome: 'invalid',
    details: { field: 'provider' },
  });
};

const notConfigured = (provider: Provider): never => {
  const [what, setting] =
    provider === 'aws' ? ['AWS Secrets Manager', 'FLOW_VAULT_AWS_REGION'] : ['key-value store', 'FLOW_VAULT_URL'];
  throw new ConnectorFailure(`No ${what} is configured; ask the operator to set ${setting}.`, {
    outcome: 'not_available',
  });
};

interface Outputs {
  [name: string]: Secret | Outputs;
}

/** An output with dots in its name becomes nested objects, as flows read it. */
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
