import { type Cache } from '@decision/cache';
import {
  type Config,
  type connectorSettings,
  type Logger,
  type Metrics,
  type Secret,
  StartRefusal,
  type Stopper,
} from '@decision/service-kit';
import { createAiConnector } from './ai/ai-connector';
import { createApiConnector } from './api/api-connector';
import { createCodeConnector } from './code/code-connector';
import { type CallEnd, type Connectors, createConnectors } from './create-connectors';
import { createDbConnector } from './db/db-connector';
import { createEntityConnector } from './entity/entity-connector';
import { type EntityStore } from './entity/entity-store';
import { createNotificationConnector, type Outbox } from './notification/notification-connector';
import { channelSettings } from './notification/open-notifications';
import { createSoapConnector } from './soap/soap-connector';
import { type KeyValueOptions } from './vault/key-value-store';
import { type OperatorKey } from './core/operator-key';
import { createVaultConnector } from './vault/vault-connector';

type ConnectorConfig = Config<typeof connectorSettings>;

interface Opening {
  readonly config: ConnectorConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
  /** Instances of contexts, for `entity` nodes; undefined: these cannot run here. */
  readonly entities: EntityStore | undefined;
  /** Notifications that wait, for `notification` nodes; undefined: these cannot run here. */
  readonly outbox: Outbox | undefined;
}

/**
 * Opens the nodes of flows that reach out. They are stopped after components that were opened later, so that flows in flight can still use
 * them.
 */
export const openConnectors = (
  cache: Pick<Cache, 'shared' | 'seal'>,
  { config, logger, metrics, stopper, entities, outbox }: Opening,
): Connectors => {
  const connectors = createConnectors({
    connectors: connectorsOf(config, entities, outbox),
    cache,
    maxCalls: config.flowMaxCalls,
    maxCallsPerTarget: config.flowMaxCallsPerTarget,
    circuitFailures: config.flowCircuitFailures,
    circuitOpenMs: config.flowCircuitOpenMs,
    onCallEnd: measureCalls(metrics),
    onFault: (fault) => logger.error(fault, 'A node of a flow failed by a fault of this program.'),
  });
  exportStatus(metrics, connectors);
  stopper.add('connectors', () => connectors.stop());
  return connectors;
};

const connectorsOf = (config: ConnectorConfig, entities: EntityStore | undefined, outbox: Outbox | undefined) => [
  createApiConnector({
    allowedHosts: config.flowApiAllowedHosts,
    timeoutMs: config.flowApiTimeoutMs,
    maxBytes: config.flowApiMaxBytes,
  }),
  createSoapConnector({
    allowedHosts: config.flowSoapAllowedHosts,
    timeoutMs: config.flowSoapTimeoutMs,
    maxBytes: config.flowSoapMaxBytes,
  }),
  createDbConnector({
    allowedHosts: config.flowDbAllowedHosts,
    timeoutMs: config.flowDbTimeoutMs,
    maxRows: config.flowDbMaxRows,
  }),
  createCodeConnector({
    threads: config.flowCodeThreads,
    maxRunMs: config.flowCodeTimeoutMs,
    memoryBytes: config.flowCodeMemoryBytes,
    maxOutputLength: config.flowCodeMaxOutputBytes,
  }),
  createVaultConnector({
    grants: config.flowVaultGrants,
    environment: process.env,
    keyValue: keyValueOf(config),
    aws:
      config.flowVaultAwsRegion === undefined
        ? undefined
        : { region: config.flowVaultAwsRegion, url: config.flowVaultAwsUrl },
    allowedHosts: config.flowVaultAllowedHosts,
    timeoutMs: config.flowVaultTimeoutMs,
  }),
  createAiConnector({
    url: config.flowAiUrl,
    apiKey: keyOf(config.flowAiApiKey, config.flowAiApiKeyFile),
    model: config.flowAiModel,
    allowedModels: config.flowAiAllowedModels,
    allowedHosts: config.flowAiAllowedHosts,
    timeoutMs: config.flowAiTimeoutMs,
    maxBytes: config.flowAiMaxBytes,
    maxPromptLength: config.flowAiMaxPromptCharacters,
  }),
  ...(entities === undefined ? [] : [createEntityConnector(entities)]),
  ...(outbox === undefined
    ? []
    : [
        createNotificationConnector({
          ...{ outbox, maxWaiting: config.flowNotificationMaxWaiting },
          maxPerRequest: config.flowNotificationMaxPerRequest,
          ...channelSettings(config),
        }),
      ]),
];

const keyValueOf = (config: ConnectorConfig): KeyValueOptions | undefined => {
  const { flowVaultUrl: url, flowVaultMount: mount, flowVaultNamespace: namespace } = config;
  if (url === undefined) return undefined;
  const token = keyOf(config.flowVaultToken, config.flowVaultTokenFile);
  if (token !== undefined) return { url, mount, namespace, token };
  throw new StartRefusal('FLOW_VAULT_URL is set, and no token for it; set FLOW_VAULT_TOKEN or FLOW_VAULT_TOKEN_FILE.');
};

/** A key of the operator: the file, if both are set. */
const keyOf = (key: Secret | undefined, file: string | undefined): OperatorKey | undefined => {
  if (file !== undefined) return { file };
  return key && { text: key.reveal() };
};

const measureCalls = (metrics: Metrics): ((end: CallEnd) => void) => {
  const durations = metrics.histogram({
    name: 'decision_flow_call_duration_seconds',
    help: 'Time of the calls of nodes that reach out, their attempts and waits included, by kind of node and outcome.',
    labelNames: ['kind', 'outcome'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
  });
  return ({ kind, outcome, durationMs }) => durations.observe({ kind, outcome }, durationMs / 1_000);
};

const exportStatus = (metrics: Metrics, connectors: Connectors): void => {
  metrics.gauge({
    name: 'decision_flow_calls',
    help: 'Calls of nodes to other systems, by state: running, or waiting for a place.',
    labelNames: ['state'],
    collect() {
      const { running, waiting } = connectors.status();
      this.set({ state: 'running' }, running);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  metrics.gauge({
    name: 'decision_flow_open_circuits',
    help: 'Targets of nodes whose circuit is open, since they do not answer.',
    collect() {
      this.set(connectors.status().openCircuits);
    },
  });
};
