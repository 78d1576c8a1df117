import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { type Fleet, prepareServers, type ServiceProcess, startFleet, startServiceProcess } from '@decision/launcher';
import { createDatabase, dropDatabase } from '@decision/persistence';
import { HistoryError } from './history-error';
import { callJson } from './service-call';
import { WATCHED_CONTEXT, watchedRule } from './watched-context';

const ROOT = resolve(__dirname, '../../..');
const READY_MS = 180_000;
const STOP_MS = 3_500;

/** Short leases and deadlines, so that a run meets them. */
export const LEASE_MS = 2_000;
export const RPC_TIMEOUT_MS = 20_000;
const CONTEXTS_ENVIRONMENT = {
  CONTEXT_LEASE_MS: String(LEASE_MS),
  CONTEXT_UPKEEP_MS: '200',
  CONTEXT_MAX_WAITING: '1000',
  RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS),
};

export interface WatchedFleetOptions {
  readonly addresses: { readonly databaseUrl: string; readonly cacheUrl: string; readonly mqBrokers: string };
  /** Names the database, the topics and the cache keys. */
  readonly name: string;
}

/** A fleet with two processes of contexts-api, a context and a rule that is bound to it. */
export interface WatchedFleet {
  readonly apiKey: string;
  readonly contexts: readonly [ServiceProcess, ServiceProcess];
  readonly worker: ServiceProcess;
  /** Waits until all of them are ready. Throws {@link HistoryError} after three minutes. */
  ready(): Promise<void>;
  /** Starts another process of contexts-api, told this beside the usual. */
  startFurther(environment: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

export const startWatchedFleet = async ({ addresses, name }: WatchedFleetOptions): Promise<WatchedFleet> => {
  const lines: string[] = [];
  const databaseUrl = await createDatabase(addresses.databaseUrl, name);
  const servers = { ...addresses, databaseUrl };
  const names = { topicPrefix: `${name}.`, cachePrefix: `${name}:` };
  const keep = (line: string): void => void lines.push(line);
  const { apiKey } = await prepareServers({ addresses: servers, names, knownApiKey: undefined, onProgress: keep });
  const fleet = await startFleet({
    ...{ root: ROOT, addresses: servers, names, ingressPort: 0 },
    environment: { 'contexts-api': CONTEXTS_ENVIRONMENT },
    onLine: (service, line) => keep(`[${service}] ${line}`),
    onNotice: keep,
  });
  const further: ServiceProcess[] = [];
  const startFurther = async (environment: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
    const service = startServiceProcess({
      name: 'contexts-api',
      script: join(ROOT, 'services/contexts-api/dist/main.js'),
      port: await freePort(),
      environment: { ...fleet.environment, ...CONTEXTS_ENVIRONMENT, ...environment },
      onLine: (_, line) => keep(`[further contexts-api] ${line}`),
      onNotice: keep,
    });
    further.push(service);
    return service;
  };
  const [first, worker] = [fleet.services.get('contexts-api'), fleet.services.get('solve-worker')];
  const stop = async (): Promise<void> => {
    await Promise.all(further.map((service) => service.stop(STOP_MS)));
    await fleet.stop();
    await dropDatabase(addresses.databaseUrl, name);
  };
  try {
    if (first === undefined || worker === undefined) throw new HistoryError('The fleet lacks a service.');
    const second = await startFurther({});
    const ready = () => becomeReady([first, worker, ...further], lines);
    await fleet.ready(READY_MS);
    await ready();
    await define(fleet, apiKey);
    return { apiKey, contexts: [first, second], worker, ready, startFurther, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const define = async (fleet: Fleet, apiKey: string): Promise<void> => {
  const steps = [
    ['/admin/contexts', WATCHED_CONTEXT],
    ['/admin/rules/import', { rule: watchedRule(randomUUID()) }],
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

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
