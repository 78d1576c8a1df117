import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tryLock } from '@decision/local-stack';
import { LaunchError } from './launch-error';

/** Paths of everything that running a checkout leaves behind. */
export interface LocalPaths {
  readonly directory: string;
  /** Data of the embedded servers. */
  readonly data: string;
  /** Fetched binaries, kept by `npm run reset`. */
  readonly downloads: string;
  readonly logs: string;
  /** File with the addresses, the API key and the process ids of the running stack. */
  readonly connection: string;
  /** Lock with the process that runs the stack. */
  readonly lock: string;
  /** The workspace's first API key, of which the database has only a hash. */
  readonly apiKey: string;
  /** The secret of sessions, and the admin's password, of which the database has only a hash. */
  readonly people: string;
  /** Services that an engineer runs by hand, which the ingress prefers. */
  readonly overrides: string;
}

export const localPaths = (root: string): LocalPaths => {
  const directory = join(root, '.local');
  return {
    directory,
    data: join(directory, 'data'),
    downloads: join(directory, 'downloads'),
    logs: join(directory, 'logs'),
    connection: join(directory, 'connection.json'),
    lock: join(directory, 'launcher.lock'),
    apiKey: join(directory, 'api-key.json'),
    people: join(directory, 'people.json'),
    overrides: join(directory, 'overrides'),
  };
};

/** Description of the running stack, for people and tools on the same machine. */
export interface Connection {
  readonly base_url: string;
  readonly api_key: string;
  /** The admin who signs in with a password; absent if a proxy authenticates people. */
  readonly admin_email?: string;
  readonly admin_password?: string;
  /** The signing proxy of `npm start -- --passthrough`. */
  readonly proxy_url?: string;
  readonly services: Readonly<Record<string, { readonly url: string; readonly pid: number | undefined }>>;
  readonly database_url: string;
  readonly cache_url: string;
  readonly mq_brokers: string;
  /** Environment for a further service. */
  readonly service_environment: Readonly<Record<string, string>>;
}

/** Writes a file that holds secrets: atomically, readable only by its owner. */
export const writePrivateJson = (path: string, content: unknown): void => {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
};

/** The connection of the running stack; undefined if none runs. */
export const readConnection = (path: string): Connection | undefined => readPrivateJson(path) as Connection | undefined; // written by the same release

/** Content of such a file, or undefined if it is absent or damaged. */
export const readPrivateJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

export const removeFile = (path: string): void => rmSync(path, { force: true });

/**
 * Takes the lock of a checkout and returns its release. Throws {@link LaunchError} when a live process holds it; a lock whose process is
 * gone, after a crash or a reboot, is taken over.
 */
export const takeLaunchLock = (path: string, describeRunning: () => string): (() => void) => {
  const lock = tryLock(path);
  if (lock.kind === 'taken') return lock.release;
  throw new LaunchError(
    lock.pid === 0
      ? 'Another launcher started at the same moment. Let that one go on.'
      : `It already runs here as process ${lock.pid}${describeRunning()}. Stop that one first.`,
  );
};

/** Whether a process of this id exists; one that we may not signal exists too. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // kill throws nothing but system errors
  }
};
