import { join } from 'node:path';

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
  /** The workspace's first API key, which only its hash in the database could not give back. */
  readonly apiKey: string;
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
    overrides: join(directory, 'overrides'),
  };
};
