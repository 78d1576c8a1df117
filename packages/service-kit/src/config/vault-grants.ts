import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { type Setting, type SettingReading, type Surroundings } from './setting';

/** Secrets that the operator lets one workspace read: prefixes of names by provider, and folders. */
interface VaultGrant {
  /** Prefixes of environment variables, such as `SALES_SECRET_`. */
  readonly environment?: readonly string[];
  /** Folders whose files are secrets. */
  readonly file?: readonly string[];
  /** Prefixes of paths in the key-value store, such as `sales/`. */
  readonly 'key-value'?: readonly string[];
  /** Prefixes of names in AWS Secrets Manager. */
  readonly aws?: readonly string[];
}

/** Grants by the id of a workspace; those of `*` are for every workspace. */
export type VaultGrants = ReadonlyMap<string, VaultGrant>;

type Provider = keyof VaultGrant;

const MAX_GRANTS = 1_000;
const WORKSPACE = /^(?:\*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const PREFIXES: Readonly<Record<Provider, { readonly pattern: RegExp; readonly is: string }>> = {
  environment: { pattern: /^[A-Za-z_]\w{3,199}$/, is: 'the beginning of a name, of at least 4 characters' },
  file: { pattern: /^(?:\/(?!\.\.?(?:\/|$))[^/\0]+)+$/, is: 'a folder by its whole path, without a / at its end' },
  'key-value': { pattern: /^[\w-]+(?:\/[\w-]+)*\/?$/, is: 'the beginning of a path' },
  aws: { pattern: /^[\w/+=.@-]{2,512}$/, is: 'the beginning of a name, of at least 2 characters' },
};
const PROVIDERS = Object.keys(PREFIXES) as readonly Provider[]; // the keys of the record above

/** Folders of the system, whose files reveal data of this process or the machine. */
const SYSTEM_FOLDERS: readonly string[] = ['/proc', '/sys', '/dev', '/boot'];
/** Prefixes of variables that the runtime and libraries read, besides the settings of a service. */
const RUNTIME_PREFIXES: readonly string[] = [
  'AWS_',
  'KUBERNETES_',
  'LD_',
  'NODE_',
  'OPENSSL_',
  'PG',
  'SSL_',
  'UV_',
  'npm_',
];
const RUNTIME_NAMES: readonly string[] = [
  ...['HOME', 'HOSTNAME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TMPDIR', 'TZ', 'USER'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/**
 * Which workspace may read which secrets: `WORKSPACE PROVIDER:PREFIX ...`, grants separated by `;`. Secrets of the service itself are
 * refused (docs/adr/0043-operators-grant-secrets-and-models.md).
 */
export const vaultGrants = (env: string, meaning: string): Setting<VaultGrants> => ({
  env,
  meaning,
  accepts: `grants separated by \`;\`, each the id of a workspace or \`*\` and, after blanks, \`PROVIDER:PREFIX\`, where the provider is ${PROVIDERS.join(', ')}`,
  secret: false,
  required: false,
  defaultText: '(empty)',
  read: (text) => parseGrants(text ?? ''),
  conflict: (grants, around) => {
    for (const [workspace, grant] of grants) {
      const fault = variableConflict(grant, around) ?? folderConflict(grant, around);
      if (fault !== undefined) return `grants the workspace ${workspace} ${fault}`;
    }
    return undefined;
  },
});

const refused = (fault: string): SettingReading<never> => ({ ok: false, fault });

const parseGrants = (text: string): SettingReading<VaultGrants> => {
  const grants = new Map<string, Record<Provider, string[]>>();
  const parts = text.split(';').map((part) => part.trim().split(/\s+/));
  if (parts.length > MAX_GRANTS) return refused(`has ${parts.length} grants, more than ${MAX_GRANTS}`);
  for (const [index, [workspace = '', ...permissions]] of parts.entries()) {
    if (workspace === '') continue;
    const at = `at grant ${index + 1}`;
    if (!WORKSPACE.test(workspace)) return refused(`names neither the id of a workspace nor * ${at}`);
    if (permissions.length === 0) return refused(`grants nothing ${at}`);
    const grant = grants.get(workspace) ?? { environment: [], file: [], 'key-value': [], aws: [] };
    grants.set(workspace, grant);
    for (const permission of permissions) {
      const colon = permission.indexOf(':');
      const provider = PROVIDERS.find((name) => name === permission.slice(0, Math.max(colon, 0)));
      if (provider === undefined) return refused(`names no provider ${at}, in ${JSON.stringify(permission)}`);
      const prefix = permission.slice(colon + 1);
      const { pattern, is } = PREFIXES[provider];
      if (!pattern.test(prefix)) return refused(`has ${JSON.stringify(prefix)} ${at}, which must be ${is}`);
      if (provider === 'file' && SYSTEM_FOLDERS.some((folder) => isWithin(prefix, folder)))
        return refused(`has ${JSON.stringify(prefix)} ${at}, which is a folder of the system`);
      grant[provider].push(prefix);
    }
  }
  return { ok: true, value: grants };
};

const variableConflict = ({ environment = [] }: VaultGrant, { variables }: Surroundings): string | undefined => {
  for (const prefix of environment) {
    const own = [...variables, ...RUNTIME_NAMES].find((name) => name.startsWith(prefix));
    const reserved = RUNTIME_PREFIXES.find((name) => name.startsWith(prefix) || prefix.startsWith(name));
    const covered = own ?? (reserved && `${reserved}...`);
    if (covered !== undefined)
      return `environment:${prefix}, which covers ${covered}, a variable of the service itself`;
  }
  return undefined;
};

const folderConflict = ({ file: folders = [] }: VaultGrant, { environment }: Surroundings): string | undefined => {
  for (const folder of folders) {
    if (SYSTEM_FOLDERS.some((system) => isWithin(real(folder), system)))
      return `file:${folder}, a folder of the system`;
    if (isWithin(process.cwd(), real(folder))) return `file:${folder}, which holds the service itself`;
    const own = ownFiles(environment).find(
      ({ path }) => isWithin(resolve(path), folder) || isWithin(real(path), real(folder)),
    );
    if (own !== undefined) return `file:${folder}, which holds the file of ${own.of}, which is the service's own`;
  }
  return undefined;
};

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep);

const real = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

interface OwnFile {
  readonly path: string;
  /** The variable that names it, or its purpose. */
  readonly of: string;
}

/**
 * Files that a process reads for itself: those named by variables (`..._FILE`, `NODE_EXTRA_CA_CERTS`), and default files of cloud
 * libraries. They need not exist.
 */
export const ownFiles = (environment: Readonly<Record<string, string | undefined>>): readonly OwnFile[] => [
  ...Object.entries(environment).flatMap(([name, path]) =>
    path !== undefined && path !== '' && (name.endsWith('_FILE') || name === 'NODE_EXTRA_CA_CERTS')
      ? [{ path, of: name }]
      : [],
  ),
  { path: join(homedir(), '.aws', 'credentials'), of: 'the AWS credentials' },
  { path: '/var/run/secrets/kubernetes.io/serviceaccount/token', of: 'the service account' },
];
