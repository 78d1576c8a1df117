import { resolve } from 'node:path';
import { freePort } from './network/free-port';
import { openStack } from './open-stack';
import { createServerProcess } from './process/server-process';
import { prepareObjects } from './servers/object-server';
import type { ServerControl, StackOptions } from './stack-options';

/** The directory holds its objects; the other options are those of a stack. */
type ObjectStoreOptions = Pick<StackOptions, 'directory' | 'downloads' | 'signal' | 'onProgress'>;

/** A server of the S3 protocol on loopback, without TLS. */
export interface RunningObjectStore {
  /** `http://127.0.0.1:PORT`; buckets are in the path. It stays the same after a restart. */
  readonly endpoint: string;
  /** A bucket that exists from the start. */
  readonly bucket: string;
  readonly control: ServerControl;
  /** Stops it within 8 s; if it has not ended by then, it is killed. Idempotent. */
  stop(): Promise<void>;
}

const BUCKET = 'decisions';

/**
 * Starts an S3 server and resolves when it answers. It accepts any credentials, and its second port, which the system chooses, is open to
 * the network: only for tests. @throws {StackError} when it does not start.
 */
export const startObjectStore = async (options: ObjectStoreOptions): Promise<RunningObjectStore> => {
  const stack = await openStack(options);
  try {
    const { directory, register, reporter, servers } = stack;
    const { signal } = stack.failure;
    const [port, say] = [await freePort(), reporter.of('objects')];
    const context = { server: 'objects', directory, downloads: resolve(options.downloads), durable: false } as const;
    const recipe = await prepareObjects({ ...context, port, signal, say }, BUCKET);
    const process = createServerProcess(recipe, { register, signal, say });
    servers.set('objects', { process, say });
    say('start', `starting on port ${port}`);
    await process.start();
    say('ready', `ready on port ${port}`);
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopped ??= stack.close());
    return { endpoint: `http://127.0.0.1:${port}`, bucket: BUCKET, control: process, stop };
  } catch (error) {
    await stack.close();
    throw error;
  }
};
