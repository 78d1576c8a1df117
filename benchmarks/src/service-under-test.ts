import { resolve } from 'node:path';
import { type FlowImport, type RuleImport } from '@decision/contracts';
import { type Fleet, type FleetOptions, prepareServers, startFleet } from '@decision/launcher';
import { BenchmarkError } from './benchmark-error';

/** The checkout. */
export const ROOT = resolve(__dirname, '../..');
/** Prefix of topics. */
export const TOPIC_PREFIX = 'benchmark.';

const READY_MS = 60_000;
const IMPORT_MS = 60_000;

/** Addresses of servers, as returned by `startStack`. */
export interface Addresses {
  readonly databaseUrl: string;
  readonly cacheUrl: string;
  readonly mqBrokers: string;
}

/** All services, running, and a key with all permissions. */
export interface ServiceUnderTest {
  readonly fleet: Fleet;
  readonly apiKey: string;
  readonly workspaceId: string;
  /** Base URL of the gateway itself, without the ingress. */
  readonly gateway: string;
  /** Imports and publishes a rule. */
  publish(rule: RuleImport): Promise<void>;
  /** Imports a flow, which publishes it. */
  publishFlow(flow: FlowImport): Promise<void>;
}

/** Writes progress to standard error, apart from results. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** A benchmark's changes to the fleet: environments in addition to the common one, and numbers of processes (one of each by default). */
export type FleetChanges = Pick<FleetOptions, 'environment' | 'replicas'>;

/**
 * The fleet for benchmarks of solving. No collector: it would store the decisions of one measurement during the next; records still reach the
 * topic. And nothing is refused because answers take long, as could happen on a temporarily slow machine.
 */
export const SOLVING: FleetChanges = {
  replicas: { 'log-collector': 0 },
  environment: { 'hps-gateway': { ADMISSION_TARGET_MS: '60000' } },
};

/** Starts all services on the given servers. They run until `fleet.stop()`. */
export const startService = async (addresses: Addresses, changes: FleetChanges = {}): Promise<ServiceUnderTest> => {
  const names = { topicPrefix: TOPIC_PREFIX, cachePrefix: 'benchmark:' };
  const { apiKey, workspaceId } = await prepareServers({ addresses, names, knownApiKey: undefined, onProgress: say });
  const fleet = await startFleet({
    root: ROOT,
    addresses,
    names,
    ingressPort: 0,
    ...changes,
    onLine: () => undefined,
    onNotice: say,
  });
  await fleet.ready(READY_MS);
  const save = async (kind: 'rules' | 'flows', document: object): Promise<void> => {
    const response = await fetch(`${fleet.baseUrl}/api/v1/admin/${kind}/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify(document),
      signal: AbortSignal.timeout(IMPORT_MS),
    });
    if (!response.ok) throw new BenchmarkError(`The import was refused: ${response.status} ${await response.text()}`);
  };
  return {
    fleet,
    apiKey,
    workspaceId,
    gateway: fleet.services.get('hps-gateway')?.url ?? '',
    publish: (rule) => save('rules', { rule: { ...rule, _publish: true } }),
    publishFlow: (flow) => save('flows', { flow }),
  };
};
