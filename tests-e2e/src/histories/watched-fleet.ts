import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type ServiceName } from '@decision/contracts';
import { type Fleet, prepareServers, type ServiceProcess, startFleet, startServiceProcess } from '@decision/launcher';
import { freePort } from '@decision/local-stack';
import { dropDatabase } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { HistoryError } from './history-error';
import { callJson } from './service-call';
import { startStatementProxy, type StatementProxy } from './statement-proxy';
import { SENDER_CONTEXT, SENDER_FLOW, senderRule, WATCHED_CONTEXT, watchedRule } from './watched-context';

const ROOT = resolve(__dirname, '../../..');
const READY_MS = 180_000;
/** Tests kill processes many times; this bounds the wait before a restart, ms. */
const RESTARTED_AFTER_MS = 500;

/** Short leases and deadlines, so that a run reaches them. */
export const LEASE_MS = 2_000;
export const RPC_TIMEOUT_MS = 20_000;
const CONTEXTS_ENVIRONMENT = {
  CONTEXT_LEASE_MS: String(LEASE_MS),
  CONTEXT_UPKEEP_MS: '200',
  CONTEXT_MAX_WAITING: '1000',
  RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS),
};

/** Nodes of flows write instances within the process that runs them. */
const WORKER_ENVIRONMENT = { CONTEXT_LEASE_MS: String(LEASE_MS), CONTEXT_MAX_WAITING: '1000' };

/** Services that no operation on a context uses: none of their processes is started. */
const NOT_ASKED = { 'hps-gateway': 0, 'log-collector': 0, 'auth-proxy-adapter': 0 };

interface WatchedFleetOptions {
  readonly addresses: { readonly databaseUrl: string; readonly cacheUrl: string; readonly mqBrokers: string };
  /** Prefix of the database, the topics and the cache keys. */
  readonly name: string;
  /** Additional environment of workers. */
  readonly workerEnvironment?: Environment;
  /** Additional environment of processes of contexts-api. */
  readonly contextsEnvironment?: Environment;
  /** Whether the second process of contexts-api uses the database through a proxy that can hold its statements. Default: no. */
  readonly hasProxy?: boolean;
  /** Whether the worker does, even after a restart. Default: no. */
  readonly workerHasProxy?: boolean;
}

type Environment = Readonly<Record<string, string>>;

/** Makes a process of contexts-api, or a worker, one of the broken builds of `broken-build.cjs`. */
export const breakingEnvironment = (build: string): Environment => ({
  NODE_OPTIONS: `--require ${require.resolve('./broken-build.cjs')}`,
  BROKEN_BUILD: build,
});

/** A fleet with two processes of contexts-api, a context with a bound rule, and another context whose flow writes to its instances. */
export interface WatchedFleet {
  readonly apiKey: string;
  /** Address of the ingress. */
  readonly baseUrl: string;
  /** Address of the database that its processes use. */
  readonly databaseUrl: string;
  readonly contexts: readonly [ServiceProcess, ServiceProcess];
  readonly worker: ServiceProcess;
  /** Between the second process of contexts-api and the database; undefined if not requested. */
  readonly proxy: StatementProxy | undefined;
  /** Between the worker and the database; undefined if not requested. */
  readonly workerProxy: StatementProxy | undefined;
  /** Waits until all of them are ready. Throws {@link HistoryError} after three minutes. */
  ready(): Promise<void>;
  /** Starts another process of a service, with this environment in addition to the usual. */
  startFurther(name: WatchedService, environment: Environment): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

type WatchedService = Extract<ServiceName, 'contexts-api' | 'solve-worker'>;

export const startWatchedFleet = async (options: WatchedFleetOptions): Promise<WatchedFleet> => {
  const {
    addresses,
    name,
    workerEnvironment = {},
    contextsEnvironment = {},
    hasProxy = false,
    workerHasProxy = false,
  } = options;
  const lines: string[] = [];
  const databaseUrl = await createMigratedDatabase(addresses.databaseUrl, name);
  const servers = { ...addresses, databaseUrl };
  const names = { topicPrefix: `${name}.`, cachePrefix: `${name}:` };
  const keep = (line: string): void => void lines.push(line);
  const { apiKey } = await prepareServers({ addresses: servers, names, knownApiKey: undefined, onProgress: keep });
  const proxy = hasProxy ? await startStatementProxy(databaseUrl) : undefined;
  const workerProxy = workerHasProxy ? await startStatementProxy(databaseUrl) : undefined;
  const usual = {
    'contexts-api': { ...CONTEXTS_ENVIRONMENT, ...contextsEnvironment },
    'solve-worker': { ...WORKER_ENVIRONMENT, ...workerEnvironment, ...through(workerProxy) },
  };
  const fleet = await startFleet({
    ...{ root: ROOT, addresses: servers, names, ingressPort: 0 },
    environment: usual,
    replicas: NOT_ASKED,
    restartAfterAtMostMs: RESTARTED_AFTER_MS,
    onLine: (service, line) => keep(`[${service}] ${line}`),
    onNotice: keep,
  });
  const further: ServiceProcess[] = [];
  const startFurther: WatchedFleet['startFurther'] = async (service, environment) => {
    const started = startServiceProcess({
      name: service,
      script: join(ROOT, 'services', service, 'dist/main.js'),
      port: await freePort(),
      environment: { ...fleet.environment, ...usual[service], ...environment },
      restartAfterAtMostMs: RESTARTED_AFTER_MS,
      onLine: (_, line) => keep(`[further ${service}] ${line}`),
      onNotice: keep,
    });
    further.push(started);
    return started;
  };
  const [first, worker] = [fleet.services.get('contexts-api'), fleet.services.get('solve-worker')];
  const stop = async (): Promise<void> => {
    await Promise.all([...further.map((service) => service.kill()), fleet.kill()]);
    await proxy?.close();
    await workerProxy?.close();
    await dropDatabase(addresses.databaseUrl, name);
  };
  try {
    if (first === undefined || worker === undefined) throw new HistoryError('The fleet lacks a service.');
    const second = await startFurther('contexts-api', through(proxy));
    const ready = () => becomeReady([first, worker, ...further], lines);
    await fleet.ready(READY_MS);
    await ready();
    await define(fleet, apiKey);
    const { baseUrl } = fleet;
    const contexts = [first, second] as const;
    return { apiKey, baseUrl, databaseUrl, contexts, worker, proxy, workerProxy, ready, startFurther, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const through = (proxy: StatementProxy | undefined): Environment =>
  proxy === undefined ? {} : { DATABASE_URL: proxy.url };

const define = async (fleet: Fleet, apiKey: string): Promise<void> => {
  const steps = [
    ['/admin/contexts', WATCHED_CONTEXT],
    ['/admin/rules/import', { rule: watchedRule(randomUUID()) }],
    ['/admin/contexts', SENDER_CONTEXT],
    ['/admin/rules/import', { rule: senderRule(randomUUID()) }],
    ['/admin/flows/import', { flow: SENDER_FLOW }],
  ] as const;
  for (const [path, body] of steps) {
    const answer = await callJson(`${fleet.baseUrl}/api/v1${path}`, { method: 'POST', apiKey, body });
    if (answer?.status !== 200) throw new HistoryError(`${path} was refused: ${JSON.stringify(answer)}`);
  }
};

const becomeReady = async (services: readonly ServiceProcess[], lines: readonly string[]): Promise<void> => {
  const end = Date.now() + READY_MS;
  for (const { url, name } of services) {
    while ((await callJson(`${url}/ready`, { method: 'GET', apiKey: '' }))?.status !== 200) {
      if (Date.now() > end) throw new HistoryError(`${name} is not ready:\n${lines.slice(-20).join('\n')}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
};
