import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type ServiceName, topics } from '@decision/contracts';
import { freePort } from '@decision/local-stack';
import { type Ingress, startIngress } from './ingress';
import { type Replicas, waitUntilReady, watchReplicas } from './replicas';
import { type ServiceProcess, startServiceProcess } from './service-process';

/** Addresses of the servers of a fleet. */
export interface ServerAddresses {
  readonly databaseUrl: string;
  readonly cacheUrl: string;
  /** Comma-separated host:port. */
  readonly mqBrokers: string;
  /** Login of the brokers, by SCRAM-SHA-256; undefined if they ask for none. */
  readonly brokerLogin?: { readonly username: string; readonly password: string } | undefined;
}

export interface FleetNames {
  readonly topicPrefix: string;
  readonly cachePrefix: string;
}

/** Environment of every service. */
const serviceEnvironment = (
  addresses: ServerAddresses,
  names: FleetNames,
  partitions: number,
): Record<string, string> => ({
  NODE_ENV: 'production',
  DATABASE_URL: addresses.databaseUrl,
  CACHE_URL: addresses.cacheUrl,
  CACHE_KEY_PREFIX: names.cachePrefix,
  MQ_BROKERS: addresses.mqBrokers,
  ...(addresses.brokerLogin === undefined
    ? {}
    : {
        MQ_SASL_MECHANISM: 'scram-sha-256',
        MQ_SASL_USERNAME: addresses.brokerLogin.username,
        MQ_SASL_PASSWORD: addresses.brokerLogin.password,
      }),
  MQ_TOPIC_PREFIX: names.topicPrefix,
  MAX_WORKERS: String(partitions),
  // The ingress forwards the caller's address, and proves itself with PROXY_SECRET.
  TRUSTED_PROXIES: '1',
  // Everything must have stopped ten seconds after Ctrl-C.
  SHUTDOWN_DRAIN_MS: '2500',
  // The ingress is stopped first.
  SHUTDOWN_GRACE_MS: '0',
});

export interface FleetOptions {
  /** Root of the checkout, whose built services are run. */
  readonly root: string;
  readonly addresses: ServerAddresses;
  readonly names: FleetNames;
  /** Port of the ingress; 0 takes a free one. */
  readonly ingressPort: number;
  /** Environment of every service beyond that of the servers, such as the secret of sessions. Default: none. */
  readonly common?: Readonly<Record<string, string>>;
  /** Environment beyond the common one, by service. */
  readonly environment?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** Processes of a service; the ingress sends requests to the ready ones in turn. Default: one. */
  readonly replicas?: Partial<Record<ServiceName, number>>;
  /** An address that replaces a service at the ingress. */
  readonly overrideOf?: (service: ServiceName) => string | undefined;
  /** The longest pause before a repeatedly dying process is restarted, ms. Default: 10,000. */
  readonly restartAfterAtMostMs?: number;
  readonly onLine: (service: ServiceName, line: string) => void;
  readonly onNotice: (sentence: string) => void;
  /** Called after each start of a service, including the first. */
  readonly onStart?: () => void;
}

/** All services as processes behind one ingress. */
export interface Fleet {
  readonly baseUrl: string;
  /** The first process of each service. */
  readonly services: ReadonlyMap<ServiceName, ServiceProcess>;
  readonly processes: readonly ServiceProcess[];
  /** The environment that every service was given. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves once every process answers ready; rejects with `LaunchError` naming the service that does not. */
  ready(deadlineMs: number): Promise<void>;
  /** Stops the ingress, then the services that admit work, then those that do it. Idempotent; takes at most 8 s. */
  stop(): Promise<void>;
  /** Ends every process at once, whatever it is doing. Idempotent. */
  kill(): Promise<void>;
}

/** Started and awaited together, stopped in this order: services that admit work stop before those that do it. */
const SERVICES: readonly ServiceName[] = [
  'hps-gateway',
  'objects-api',
  'contexts-api',
  'solve-worker',
  'log-collector',
  'auth-proxy-adapter',
];
const INGRESS_DRAIN_MS = 1_000;
const SERVICE_STOP_MS = 3_500;

export const startFleet = async (options: FleetOptions): Promise<Fleet> => {
  const replicas = new Map<ServiceName, Replicas>();
  // A secret of this start: services receive it, and those that an engineer starts by hand read it from the connection file.
  const proxySecret = randomBytes(32).toString('base64url');
  const ingress = await startIngress({
    proxySecret,
    asksAdapter: true,
    host: '127.0.0.1',
    port: options.ingressPort,
    urlOf: (name) => options.overrideOf?.(name) ?? replicas.get(name)?.nextUrl(),
  });
  const environment = {
    ...serviceEnvironment(options.addresses, options.names, topics.solutionResponse.localPartitions),
    PUBLIC_URL: ingress.url,
    PROXY_SECRET: proxySecret,
    ...options.common,
  };
  for (const name of SERVICES) replicas.set(name, await startReplicas(name, environment, options));
  const processes = [...replicas.values()].flatMap((service) => service.processes);
  let stopping: Promise<void> | undefined;
  return {
    baseUrl: ingress.url,
    services: new Map(
      [...replicas].flatMap(
        ([
          name,
          {
            processes: [first],
          },
        ]) => (first === undefined ? [] : [[name, first] as const]),
      ),
    ),
    processes,
    environment,
    ready: async (deadlineMs) => {
      await Promise.all(processes.map(({ name, url }) => waitUntilReady(name, `${url}/ready`, deadlineMs)));
    },
    stop: () => (stopping ??= stopAll(ingress, replicas)),
    kill: () => (stopping ??= killAll(ingress, replicas)),
  };
};

const startReplicas = async (
  name: ServiceName,
  environment: Readonly<Record<string, string>>,
  options: FleetOptions,
): Promise<Replicas> => {
  const count = options.replicas?.[name] ?? 1;
  const processes: ServiceProcess[] = [];
  while (processes.length < count) processes.push(await startOne(name, environment, options));
  return watchReplicas(processes);
};

const startOne = async (
  name: ServiceName,
  environment: Readonly<Record<string, string>>,
  options: FleetOptions,
): Promise<ServiceProcess> =>
  startServiceProcess({
    name,
    script: join(options.root, 'services', name, 'dist/main.js'),
    port: await freePort(),
    environment: { ...environment, ...options.environment?.[name] },
    onLine: options.onLine,
    onNotice: options.onNotice,
    restartAfterAtMostMs: options.restartAfterAtMostMs,
    ...(options.onStart === undefined ? {} : { onStart: options.onStart }),
  });

const stopAll = async (ingress: Ingress, replicas: ReadonlyMap<ServiceName, Replicas>): Promise<void> => {
  await ingress.stop(INGRESS_DRAIN_MS);
  const processes = [...replicas.values()].flatMap((service) => service.processes);
  const workers = processes.filter(({ name }) => name === 'solve-worker');
  const admitting = processes.filter(({ name }) => name !== 'solve-worker');
  for (const service of replicas.values()) service.close();
  await Promise.all(admitting.map((service) => service.stop(SERVICE_STOP_MS)));
  await Promise.all(workers.map((service) => service.stop(SERVICE_STOP_MS)));
};

const killAll = async (ingress: Ingress, replicas: ReadonlyMap<ServiceName, Replicas>): Promise<void> => {
  for (const service of replicas.values()) service.close();
  const processes = [...replicas.values()].flatMap((service) => service.processes);
  await Promise.all([ingress.stop(0), ...processes.map((service) => service.kill())]);
};
