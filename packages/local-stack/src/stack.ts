import { resolve } from 'node:path';
import { freePort, isPortFree } from './network/free-port';
import { type OpenStack, openStack } from './open-stack';
import { createServerProcess, keepRunning } from './process/server-process';
import type { ServerContext, ServerRecipe } from './server-recipe';
import { chooseSecureListeners, type SecureListeners } from './servers/broker-configuration';
import { prepareBroker } from './servers/broker-server';
import { cacheUrl, prepareCache } from './servers/cache-server';
import { databaseUrl, prepareDatabase } from './servers/database-server';
import { serverPassword } from './stack-files';
import {
  type BrokerAccess,
  type RunningStack,
  type SecureBrokers,
  SERVER_NAMES,
  type ServerControl,
  type ServerName,
  StackError,
  type StackOptions,
} from './stack-options';

const PREPARE: Readonly<Record<ServerName, (context: ServerContext) => Promise<ServerRecipe>>> = {
  database: prepareDatabase,
  cache: prepareCache,
  broker: prepareBroker,
};

/**
 * Starts the servers that are neither external nor left out, all at once, and resolves when all of them answer. Missing programs are
 * fetched or installed first. @throws {StackError} when one does not start; the others have then been stopped.
 */
export const startStack = async (options: StackOptions): Promise<RunningStack> => {
  const stack = await openStack(options);
  try {
    const ports = await choosePorts(embedded(options), options.ports ?? {});
    const { brokerAccess } = options;
    const secure = brokerAccess === undefined ? undefined : await chooseSecureListeners(brokerAccess);
    const login = options.isBrokerLocked === true && ports.has('broker') ? brokerLogin(stack.directory) : undefined;
    await startAll(stack, ports, { secure, login });
    return runningStack(stack, ports, { secure, login });
  } catch (error) {
    await stack.close();
    throw error;
  }
};

const embedded = ({ servers = SERVER_NAMES, external = {} }: StackOptions): ServerName[] => {
  const replaced = { database: external.databaseUrl, cache: external.cacheUrl, broker: external.mqBrokers };
  return servers.filter((server) => replaced[server] === undefined);
};

const brokerLogin = (directory: string): BrokerAccess => ({
  username: 'decision',
  password: serverPassword(directory, 'broker'),
});

type Ports = ReadonlyMap<ServerName, number>;

/** How clients reach the broker. */
interface BrokerSecurity {
  readonly secure: SecureListeners | undefined;
  readonly login: BrokerAccess | undefined;
}

/** Rejects with the first failure, once everything that was under way has ended. */
const startAll = async (stack: OpenStack, ports: Ports, security: BrokerSecurity): Promise<void> => {
  const starts = [...ports].map(([server, port]) =>
    startServer(stack, { server, port, ...security }).catch((error: unknown) => {
      stack.failure.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(starts);
  // Throws what the first of several failures gave as its reason.
  stack.failure.signal.throwIfAborted();
};

interface ServerStart extends BrokerSecurity {
  readonly server: ServerName;
  readonly port: number;
}

const startServer = async (stack: OpenStack, { server, port, ...security }: ServerStart): Promise<void> => {
  const { directory, options, register, reporter, servers } = stack;
  const signal = stack.failure.signal;
  const say = reporter.of(server);
  const downloads = resolve(options.downloads);
  const durable = options.durable ?? true;
  const recipe = await PREPARE[server]({ server, directory, downloads, durable, port, ...security, signal, say });
  const process = createServerProcess(recipe, { register, signal, say });
  if (options.restarts === true) keepRunning(process, { signal, say });
  servers.set(server, { process, say });
  say('start', `starting on port ${port}`);
  await process.start();
  say('ready', `ready on port ${port}`);
};

const runningStack = (
  { options, directory, servers, close }: OpenStack,
  ports: Ports,
  { secure, login }: BrokerSecurity,
): RunningStack => {
  const external = options.external ?? {};
  const address = (server: ServerName, given: string | undefined, own: (port: number) => string): string => {
    const port = ports.get(server);
    return given ?? (port === undefined ? '' : own(port));
  };
  const control = (server: ServerName): ServerControl | undefined => servers.get(server)?.process;
  let stopped: Promise<void> | undefined;
  return {
    databaseUrl: address('database', external.databaseUrl, (port) => databaseUrl(directory, port)),
    cacheUrl: address('cache', external.cacheUrl, (port) => cacheUrl(directory, port)),
    mqBrokers: address('broker', external.mqBrokers, (port) => `127.0.0.1:${port}`),
    brokerLogin: login,
    secureBrokers: secure === undefined ? undefined : secureBrokers(secure),
    get processes() {
      return [...servers].flatMap(([name, { process }]) => {
        const pid = process.pid();
        return pid === undefined ? [] : [{ name, pid }];
      });
    },
    controls: { database: control('database'), cache: control('cache'), broker: control('broker') },
    stop: () => (stopped ??= close()),
  };
};

const secureBrokers = ({ identity, client, ports }: SecureListeners): SecureBrokers => ({
  certificate: identity.cert,
  client,
  tls: `127.0.0.1:${ports.tls}`,
  mutualTls: `127.0.0.1:${ports.mutualTls}`,
  sasl: `127.0.0.1:${ports.sasl}`,
  saslTls: `127.0.0.1:${ports.saslTls}`,
});

/** The variables of `npm start` that fix a port. */
const VARIABLES: Readonly<Record<ServerName, string>> = {
  database: 'DATABASE_PORT',
  cache: 'CACHE_PORT',
  broker: 'BROKER_PORT',
};

/** The fixed port of each server, else a free one. @throws {StackError} if a fixed one is in use. */
const choosePorts = async (
  servers: readonly ServerName[],
  fixed: Readonly<Partial<Record<ServerName, number | undefined>>>,
): Promise<Map<ServerName, number>> => {
  const ports = new Map<ServerName, number>();
  for (const server of servers) {
    const port = fixed[server];
    if (port !== undefined && !(await isPortFree(port))) {
      throw new StackError(
        'port_in_use',
        `Port ${port} for the ${server} is in use: stop what listens there, or set ${VARIABLES[server]} to another port.`,
      );
    }
    ports.set(server, port ?? (await freePort()));
  }
  return ports;
};
