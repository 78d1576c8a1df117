import { startStack } from '../../src';

/** A program that starts a stack and then waits to be killed. */
const [directory = '', downloads = '', servers = ''] = process.argv.slice(2);
startStack({ directory, downloads, durable: false, servers: servers.split(',') as ['cache'] }).then(
  ({ processes }) => process.stdout.write(`${JSON.stringify(processes.map(({ pid }) => pid))}\n`),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
