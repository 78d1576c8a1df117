import { randomBytes } from 'node:crypto';
import { createBroker } from '@decision/broker';
import { ServiceError } from '@decision/contracts';
import {
  checkServer,
  createApiKey,
  ensureAdmin,
  ensureServiceLogin,
  ensureWorkspace,
  findApiKey,
  findSignIn,
  migrate,
  openDatabase,
  setPassword,
} from '@decision/persistence';
import { generateApiKey, hashApiKeySecret, hashPassword, parseApiKey } from '@decision/service-kit';
import { LaunchError } from '../launch-error';
import { type FleetNames, type ServerAddresses } from './fleet';

/** The workspace of a fleet, and a key with all entitlements in it. */
export interface PreparedWorkspace {
  readonly workspaceId: string;
  readonly apiKey: string;
  /** The URL for the services: with the role of `serviceLogin`, if given. */
  readonly databaseUrl: string;
}

interface PrepareOptions {
  readonly addresses: ServerAddresses;
  readonly names: FleetNames;
  /** A key from an earlier start; it is reused as long as it works. */
  readonly knownApiKey: string | undefined;
  /**
   * A role for the services' login instead of the user of the given URL; it is made, or gets a new password. Only for databases whose user
   * is a superuser; operators give a URL with a suitable user.
   */
  readonly serviceLogin?: string;
  /** An admin with a password; undefined: none is made. */
  readonly admin?: { readonly email: string; readonly password: string } | undefined;
  readonly onProgress: (what: string) => void;
}

/** Makes empty servers usable: schema, topics, workspace, first API key. Running it again changes nothing. */
export const prepareServers = async (options: PrepareOptions): Promise<PreparedWorkspace> => {
  const { addresses, names, onProgress } = options;
  const problems = await checkServer(addresses.databaseUrl);
  if (problems.length > 0) throw new LaunchError(problems.join('\n'));
  const [{ applied }, created] = await Promise.all([
    migrate({ url: addresses.databaseUrl }),
    createTopics(addresses, names.topicPrefix),
  ]);
  if (applied.length > 0) onProgress(`applied ${applied.length} migrations`);
  if (created.length > 0) onProgress(`created the topics ${created.join(', ')}`);
  const workspace = await ensureWorkspace(addresses.databaseUrl, { slug: 'example', name: 'Example workspace' });
  const apiKey = await ensureAdminKey(addresses.databaseUrl, workspace.id, options.knownApiKey);
  if (options.admin !== undefined) await ensureAdminPassword(addresses.databaseUrl, workspace.id, options.admin);
  const { serviceLogin } = options;
  const databaseUrl =
    serviceLogin === undefined ? addresses.databaseUrl : await ensureServiceLogin(addresses.databaseUrl, serviceLogin);
  return { workspaceId: workspace.id, apiKey, databaseUrl };
};

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const createTopics = async (
  { mqBrokers, brokerLogin }: ServerAddresses,
  topicPrefix: string,
): Promise<readonly string[]> => {
  const sasl = brokerLogin && { mechanism: 'scram-sha-256' as const, ...brokerLogin };
  const broker = createBroker(
    { brokers: mqBrokers.split(','), clientId: 'launcher', topicPrefix, ...(sasl ? { sasl } : {}) },
    silent,
  );
  try {
    return (await broker.ensureTopics('local')).created;
  } finally {
    await broker.close();
  }
};

/**
 * The known key if it may act in the workspace, else a new one with the role "admin". Takes the URL of an administrator of the database.
 */
export const ensureAdminKey = async (
  databaseUrl: string,
  workspaceId: string,
  known: string | undefined,
): Promise<string> => {
  const database = openDatabase({ url: databaseUrl, applicationName: 'launcher', poolMax: 1 });
  try {
    const parts = known === undefined ? undefined : parseApiKey(known);
    const stored = parts && (await findApiKey(database, parts.selector));
    if (
      known !== undefined &&
      parts &&
      stored?.workspaceId === workspaceId &&
      stored.secretHash === hashApiKeySecret(parts.secret).toString('hex') &&
      stored.revokedAt === null
    ) {
      return known;
    }
    const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
    const outcome = await database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
      createApiKey(transaction, {
        selector,
        secretHash,
        name: 'First key',
        role: 'admin',
        userGroups: [],
        expiresAt: null,
      }),
    );
    if (outcome.status !== 'created')
      throw new ServiceError('internal_error', 'The workspace has no role "admin" for its first key.');
    return apiKey;
  } finally {
    await database.close();
  }
};

/** Makes the admin of the workspace and sets its password, unless it has that password already. */
const ensureAdminPassword = async (
  databaseUrl: string,
  workspaceId: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> => {
  const database = openDatabase({ url: databaseUrl, applicationName: 'launcher', poolMax: 1 });
  try {
    const known = await findSignIn(database, workspaceId, email);
    if ((known?.passwordHash ?? null) !== null) return;
    const passwordHash = await hashPassword(password, randomBytes);
    const access = { workspaceId, userGroups: undefined, actor: 'launcher' };
    await database.inWorkspace(access, async (transaction) => {
      const admin = await ensureAdmin(transaction, email);
      // Another admin has signed in meanwhile, with a password of its own.
      if (admin.email.toLowerCase() === email.toLowerCase()) await setPassword(transaction, admin.id, passwordHash);
    });
  } finally {
    await database.close();
  }
};
