import { join } from 'node:path';
import { type ServiceName, topics } from '@decision/contracts';
import { freePort } from '../free-port';
import { type Ingress, startIngress } from '../ingress/ingress';
import { type FleetNames, type ServerAddresses, serviceEnvironment } from './addresses';
import { waitUntilReady } from './readiness';
import { type ServiceProcess, startServiceProcess } from './service-process';

export interface FleetOptions {
  /** Root of the checkout, whose built services are run. */
  readonly root: string;
  readonly addresses: ServerAddresses;
  readonly names: FleetNames;
  /** Port of the ingress; 0 takes a free one. */
  readonly ingressPort: number;
  /** Environment beyond the common one, by service. */
  readonly environment?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** An address that takes a service's place at the ingress. */
  readonly overrideOf?: (service: ServiceName) => string | undefined;
  readonly onLine: (service: ServiceName, line: string) => void;
  readonly onNotice: (sentence: string) => void;
  /** Told whenever a service has been started, again or for the first time. */
  readonly onStart?: () => void;
}

/** All services as processes behind one ingress. */
export interface Fleet {
  readonly baseUrl: string;
  readonly services: ReadonlyMap<ServiceName, ServiceProcess>;
  /** The environment that every service was given. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves once every service answers ready; rejects with `LaunchError` naming the one that does not. */
  ready(deadlineMs: number): Promise<void>;
  /** Ingress first, then the services that admit work, then those that do it. Idempotent; at most 8 s. */
  stop(): Promise<void>;
}

/** Started and awaited together, stopped in this order: whoever admits work goes before whoever does it. */
const SERVICES: readonly ServiceName[] = ['hps-gateway', 'objects-api', 'contexts-api', 'solve-worker'];
const INGRESS_DRAIN_MS = 1_000;
const SERVICE_STOP_MS = 3_500;

export const startFleet = async (options: FleetOptions): Promise<Fleet> => {
  const services = new Map<ServiceName, ServiceProcess>();
  const ingress = await startIngress({
    host: '127.0.0.1',
    port: options.ingressPort,
    urlOf: (name) => options.overrideOf?.(name) ?? liveUrl(services.get(name)),
  });
  const environment = {
    ...serviceEnvironment(options.addresses, options.names, topics.solutionResponse.localPartitions),
    PUBLIC_URL: ingress.url,
  };
  for (const name of SERVICES) services.set(name, await startOne(name, environment, options));
  let stopping: Promise<void> | undefined;
  return {
    baseUrl: ingress.url,
    services,
    environment,
    ready: async (deadlineMs) => {
      await Promise.all(
        [...services.values()].map(({ name, url }) => waitUntilReady(name, `${url}/ready`, deadlineMs)),
      );
    },
    stop: () => (stopping ??= stopAll(ingress, services)),
  };
};

const liveUrl = (service: ServiceProcess | undefined): string | undefined =>
  service?.pid() === undefined ? undefined : service.url;

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
    ...(options.onStart === undefined ? {} : { onStart: options.onStart }),
  });

const stopAll = async (ingress: Ingress, services: ReadonlyMap<ServiceName, ServiceProcess>): Promise<void> => {
  await ingress.stop(INGRESS_DRAIN_MS);
  const workers = [...services.values()].filter(({ name }) => name === 'solve-worker');
  const admitting = [...services.values()].filter(({ name }) => name !== 'solve-worker');
  await Promise.all(admitting.map((service) => service.stop(SERVICE_STOP_MS)));
  await Promise.all(workers.map((service) => service.stop(SERVICE_STOP_MS)));
};
