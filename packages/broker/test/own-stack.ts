import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ServerControl, startStack } from '@decision/local-stack';

/** A broker that one test file has to itself, to kill and to freeze. */
export interface OwnBroker {
  /** `host:port`, the same after a restart. */
  readonly address: string;
  readonly control: ServerControl;
  stop(): Promise<void>;
}

const DOWNLOADS = resolve(__dirname, '../../../.local/downloads');

/** Starts a broker in a directory of its own. */
export const startOwnBroker = async (): Promise<OwnBroker> => {
  const directory = await mkdtemp(join(tmpdir(), 'broker-test-'));
  const stack = await startStack({ directory, downloads: DOWNLOADS, servers: ['broker'], durable: false });
  const control = stack.controls.broker;
  if (control === undefined) throw new Error('The stack runs no broker.');
  return {
    address: stack.mqBrokers,
    control,
    stop: async () => {
      await stack.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
