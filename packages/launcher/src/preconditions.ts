import { connect } from 'node:net';
import { ServiceError } from '@decision/contracts';
import { isPortFree } from '@decision/local-stack';
import { LaunchError } from './launch-error';
import { type LaunchSettings } from './launch-settings';

type External = LaunchSettings['external'];

/** An external server, without its user and password. */
interface ExternalServer {
  readonly variable: 'DATABASE_URL' | 'CACHE_URL' | 'MQ_BROKERS';
  readonly what: string;
  /** At least one must be reachable; undefined if the variable cannot be parsed. */
  readonly addresses: readonly Address[] | undefined;
  readonly example: string;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const DATABASE_PORT = 5432;
const CACHE_PORT = 6379;

const describe = (addresses: readonly Address[]): string =>
  addresses.map(({ host, port }) => `${host}:${port}`).join(', ');

const ofUrl = (url: string, protocols: readonly string[], port: number): readonly Address[] | undefined => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || parsed.hostname === '' || !protocols.includes(parsed.protocol)) return undefined;
  return [{ host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'), port: parsed.port === '' ? port : Number(parsed.port) }];
};

const ofList = (list: string): readonly Address[] | undefined => {
  const addresses = list.split(',').flatMap((entry) => {
    const [, host, port] = /^\s*([^\s:]+):(\d{1,5})\s*$/.exec(entry) ?? [];
    return host === undefined ? [] : [{ host, port: Number(port) }];
  });
  return addresses.length === list.split(',').length ? addresses : undefined;
};

const serversOf = ({ databaseUrl, cacheUrl, mqBrokers }: External): readonly ExternalServer[] => {
  const servers: ExternalServer[] = [];
  if (databaseUrl !== undefined) {
    const addresses = ofUrl(databaseUrl, ['postgres:', 'postgresql:'], DATABASE_PORT);
    const example = 'postgresql://user:password@host:5432/name';
    servers.push({ variable: 'DATABASE_URL', what: 'database', addresses, example });
  }
  if (cacheUrl !== undefined) {
    const addresses = ofUrl(cacheUrl, ['redis:', 'rediss:'], CACHE_PORT);
    servers.push({ variable: 'CACHE_URL', what: 'cache', addresses, example: 'redis://:password@host:6379' });
  }
  if (mqBrokers !== undefined) {
    const addresses = ofList(mqBrokers);
    servers.push({ variable: 'MQ_BROKERS', what: 'message broker', addresses, example: 'host:9092,host:9093' });
  }
  return servers;
};

/**
 * Refuses to start if a server in the environment cannot be parsed or reached. Throws {@link LaunchError} with a sentence for each such
 * server: its variable, its address, and the cause.
 */
export const requireExternalServers = async (external: External): Promise<void> => {
  const faults = await Promise.all(serversOf(external).map(faultOf));
  const found = faults.filter((fault) => fault !== undefined);
  if (found.length > 0) throw new LaunchError(found.join('\n'));
};

const faultOf = async ({ variable, what, addresses, example }: ExternalServer): Promise<string | undefined> => {
  if (addresses === undefined) return `${variable} cannot be read; it must look like ${example}.`;
  const causes = await Promise.all(addresses.map(whyUnreachable));
  if (causes.includes(undefined)) return undefined;
  const [cause] = causes;
  return `${variable} names the ${what} at ${describe(addresses)}, which cannot be reached: ${cause}. Start it, correct the address, or unset ${variable} to use the embedded one.`;
};

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no such host is known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to its network',
};

/** The cause; undefined if the connection is accepted. */
const whyUnreachable = ({ host, port }: Address): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const end = (cause: string | undefined): void => {
      socket.destroy();
      resolve(cause);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`));
    socket.once('error', (error: NodeJS.ErrnoException) => end(CAUSES[error.code ?? ''] ?? error.message));
  });

const VARIABLE_OF: Readonly<Partial<Record<string, ExternalServer['variable']>>> = {
  database_unavailable: 'DATABASE_URL',
  broker_unavailable: 'MQ_BROKERS',
};

/** Converts the refusal of a reachable server into a reason not to start; it names the variable if the environment gave the address. */
export const explainRefusal = (error: unknown, external: External): unknown => {
  if (!(error instanceof ServiceError)) return error;
  const variable = VARIABLE_OF[error.code];
  const server = serversOf(external).find((one) => one.variable === variable);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const where = server?.addresses === undefined ? '' : `${server.variable}, ${describe(server.addresses)}: `;
  return new LaunchError(`${where}${error.message}${cause}`, { cause: error });
};

/** Refuses a port of 127.0.0.1 that is in use, naming the variable that changes it. */
export const requireFreePort = async (port: number, variable: string): Promise<void> => {
  if (await isPortFree(port)) return;
  throw new LaunchError(`Port ${port} is in use. Stop what listens on it, or set ${variable} to another port.`);
};
