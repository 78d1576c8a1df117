import { connectorSettings, createLogger, createMetrics, createStopper, readConfig } from '@decision/service-kit';
import { ServiceError } from '@decision/contracts';
import { openConnectors } from '../src';

const cache = {
  shared: { get: () => Promise.resolve(undefined), set: () => Promise.resolve(), delete: () => Promise.resolve() },
};

const entities = { open: () => Promise.reject(new ServiceError('context_not_found', 'There is no such context.')) };
const outbox = { countWaiting: () => Promise.resolve(0) };

it('opens nodes that reach out, measures their calls by kind and outcome, and stops them', async () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const metrics = createMetrics('test');
  const stopper = createStopper();
  process.env['FLOW_SECRET_OF_TEST'] = 'a secret';
  const config = readConfig(connectorSettings, { FLOW_VAULT_GRANTS: '* environment:FLOW_SECRET_' });
  const connectors = openConnectors(cache, { config, logger, metrics, stopper, entities, outbox });
  const run = {
    ...{ workspaceId: 'w', versionId: 'v', deadline: Date.now() + 10_000 },
    ...{ idempotencyRoot: 'r', round: 0, requestId: 'q' },
  };
  const ask = (type: string, fields: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const node = { ref: 'a', type, fields, onError: 'fail' as const, defaultOutputs: {} };
    const signal = new AbortController().signal;
    return connectors.callFor(run)({ node, path: ['a'], indexes: [], inputs: {}, signal });
  };
  await expect(ask('api', { url: 'http://127.0.0.1:1/' })).rejects.toThrow(/FLOW_API_ALLOWED_HOSTS/);
  await expect(ask('soap', { wsdlUrl: 'http://127.0.0.1:1/' })).rejects.toThrow(/FLOW_SOAP_ALLOWED_HOSTS/);
  const secrets = [{ name: 'FLOW_SECRET_OF_TEST' }];
  expect(JSON.stringify(await ask('vault', { secrets }))).toBe('{"FLOW_SECRET_OF_TEST":"[secret]"}');
  await expect(ask('vault', { secrets: [{ name: 'PATH' }] })).rejects.toThrow(/may not read it/);
  await expect(ask('vault', { provider: 'aws', secrets })).rejects.toThrow(/FLOW_VAULT_AWS_REGION/);
  delete process.env['FLOW_SECRET_OF_TEST'];
  await expect(ask('ai', { labels: [{ name: 'a' }] })).rejects.toThrow(/set FLOW_AI_URL/);
  await expect(ask('entity', { entitySlug: 'orders' })).rejects.toThrow('There is no such context.');
  await expect(ask('unknown', {})).rejects.toThrow(/Nodes of type unknown cannot run here/);
  const { text } = await metrics.render();
  expect(text).toMatch(/decision_flow_call_duration_seconds_count\{.*kind="api",outcome="refused".*\} 1/);
  expect(text).toMatch(/decision_flow_call_duration_seconds_count\{.*kind="unknown",outcome="not_available".*\} 1/);
  expect(text).toMatch(/decision_flow_calls\{state="running".*\} 0/);
  await connectors.stop();
  await expect(ask('api', { url: 'http://127.0.0.1:1/' })).rejects.toThrow(/is stopping/);
});

it('refuses to start if a key-value store is named without a token', () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const config = readConfig(connectorSettings, { FLOW_VAULT_URL: 'https://vault.example' });
  const tools = { config, logger, metrics: createMetrics('test'), stopper: createStopper(), entities, outbox };
  expect(() => openConnectors(cache, tools)).toThrow(/set FLOW_VAULT_TOKEN or FLOW_VAULT_TOKEN_FILE/);
});
