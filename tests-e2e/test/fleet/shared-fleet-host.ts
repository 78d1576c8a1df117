import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type FleetUnderTest } from './fleet-under-test';
import { type SharedFleetAnswer } from './shared-fleet';
import { SHARED_JWT_SECRET } from './shared-fleet-secret';

/**
 * `shared-fleet-host DIRECTORY`: starts one fleet when the first client connects to the socket in the directory, and sends its location to every
 * client. Stops the fleet and deletes the directory when standard input ends, which happens when the parent process dies.
 */
const main = async (directory: string): Promise<void> => {
  let fleet: Promise<FleetUnderTest> | undefined;
  const server = createServer((client) => {
    client.on('error', () => undefined); // a test file that has ended
    fleet ??= start();
    void answer(client, fleet);
  });
  server.listen(join(directory, 'socket'));
  await untilAbandoned();
  server.close();
  await (await fleet?.catch(() => undefined))?.stop();
  rmSync(directory, { recursive: true, force: true });
};

const people = { JWT_SECRET: SHARED_JWT_SECRET };

/** Loads the code of the fleet only on demand: most runs of single files do not need it. */
const start = async (): Promise<FleetUnderTest> =>
  (await import('./fleet-under-test.js')).startFleetUnderTest({
    environment: {
      'solve-worker': { FLOW_API_ALLOWED_HOSTS: '127.0.0.1' },
      'objects-api': { FLOW_API_ALLOWED_HOSTS: '127.0.0.1', ...people },
      ...{ 'hps-gateway': people, 'contexts-api': people, 'log-collector': people, 'auth-proxy-adapter': people },
    },
  });

const answer = async (client: Socket, fleet: Promise<FleetUnderTest>): Promise<void> => {
  client.end(JSON.stringify(await fleet.then(describe, refuse)));
};

const describe = ({ baseUrl, apiKey, databaseUrl, fleet: { services } }: FleetUnderTest): SharedFleetAnswer => ({
  ...{ baseUrl, apiKey, databaseUrl },
  urls: Object.fromEntries([...services].map(([name, { url }]) => [name, url])),
});

const refuse = (error: unknown): SharedFleetAnswer => ({
  refusal: error instanceof Error ? error.message : String(error),
});

const untilAbandoned = (): Promise<void> =>
  new Promise((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve).once('error', resolve).resume();
    process.once('SIGTERM', resolve);
  });

main(process.argv[2] ?? '').then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`The shared fleet: ${String(error)}\n`);
    process.exit(1);
  },
);
