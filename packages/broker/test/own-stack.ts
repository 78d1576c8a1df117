import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type BrokerAccess, type SecureBrokers, type ServerControl, startStack } from '@decision/local-stack';

/** A broker of one test file, to kill and to freeze. */
export interface OwnBroker {
  /** `host:port`, the same after a restart. */
  readonly address: string;
  readonly control: ServerControl;
  readonly secure: SecureBrokers | undefined;
  stop(): Promise<void>;
}

const DOWNLOADS = resolve(__dirname, '../../../.local/downloads');

/** Starts a broker in a directory of its own; with listeners that require an account if one is given. */
export const startOwnBroker = async (brokerAccess?: BrokerAccess): Promise<OwnBroker> => {
  const directory = await mkdtemp(join(tmpdir(), 'broker-test-'));
  const stack = await startStack({
    directory,
    downloads: DOWNLOADS,
    servers: ['broker'],
    durable: false,
    ...(brokerAccess === undefined ? {} : { brokerAccess }),
  });
  const control = stack.controls.broker;
  if (control === undefined) throw new Error('The stack runs no broker.');
  return {
    address: stack.mqBrokers,
    control,
    secure: stack.secureBrokers,
    stop: async () => {
      await stack.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
