import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ServerControl, startStack } from '@decision/local-stack';

/** A Redis of its own, for faults. */
export interface OwnServer extends ServerControl {
  readonly url: string;
  stop(): Promise<void>;
}

const DOWNLOADS = resolve(__dirname, '../../../.local/downloads');

export const startOwnServer = async (): Promise<OwnServer> => {
  const directory = mkdtempSync(join(tmpdir(), 'cache-test-'));
  const stack = await startStack({ directory, downloads: DOWNLOADS, servers: ['cache'], durable: false });
  const control = stack.controls.cache;
  if (!control) throw new Error('The stack runs no cache.');
  return {
    ...control,
    url: stack.cacheUrl,
    stop: async () => {
      await stack.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
