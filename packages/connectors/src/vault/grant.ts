import { type VaultGrants } from '@decision/service-kit';
import { ConnectorFailure } from '../connector';

/** A source of secrets. */
export interface SecretStore {
  /**
   * The secret of a name that begins with one of the prefixes. Rejects with {@link notGranted} if there is none, and with another {@link
   * ConnectorFailure} if it cannot be read.
   */
  read(prefixes: readonly string[], name: string, signal: AbortSignal): Promise<string>;
  stop?(): Promise<void>;
}

/** The prefixes that the operator granted to a workspace for a provider: its own and those granted to every workspace. */
export const grantedPrefixes = (
  grants: VaultGrants,
  workspaceId: string,
  provider: 'environment' | 'file' | 'key-value' | 'aws',
): readonly string[] => [workspaceId, '*'].flatMap((workspace) => grants.get(workspace)?.[provider] ?? []);

/** The same message whether a secret does not exist or is not granted. */
export const notGranted = (name: string): ConnectorFailure =>
  new ConnectorFailure(
    `The secret "${name}" does not exist, or this workspace may not read it; check its name, or ask the operator to grant it.`,
    { outcome: 'refused', details: { secret: name } },
  );

/** `path#key`, where the key selects one of several values. */
export const splitName = (name: string, path: RegExp): readonly [path: string, key: string | undefined] => {
  const hash = name.indexOf('#');
  const [before, key] = hash < 0 ? [name, undefined] : [name.slice(0, hash), name.slice(hash + 1)];
  if (!path.test(before) || (key !== undefined && !/^[\w.-]{1,200}$/.test(key))) throw notGranted(name);
  return [before, key];
};

/** A member as a secret: a text as it is, anything else as JSON. Without a key, the only member. */
export const memberOf = (data: Readonly<Record<string, unknown>>, key: string | undefined): string | undefined => {
  const [only, ...others] = Object.keys(data);
  const chosen = key ?? (others.length === 0 ? only : undefined);
  if (chosen === undefined || !Object.hasOwn(data, chosen)) return undefined;
  const value = data[chosen];
  return typeof value === 'string' ? value : JSON.stringify(value);
};
