import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SubscribedMessage } from '@decision/broker';
import { type FlowDraft } from '@decision/contracts';
import { testStack } from '@decision/local-stack';
import {
  createApiKey,
  type Database,
  dropDatabase,
  ensureWorkspace,
  findApiKey,
  insertAsset,
  openDatabase,
  publishAsset,
  type WorkspaceAccess,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createAuthenticator, createLogger, createMetrics, generateApiKey } from '@decision/service-kit';
import supertest from 'supertest';
import { createCollectorServer } from '../src/app';
import { createLogDays, type LogDays } from '../src/collecting/days';
import { type Collected, storeMessages } from '../src/collecting/store-messages';
import { type DecisionStore } from '../src/queries/decision-store';
import { openTableStore } from '../src/queries/table-store';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface TextAnswer {
  readonly status: number;
  readonly headers: unknown;
  readonly text: string;
}

/** The service over HTTP; messages are passed to it as by its consumer. */
export interface CollectorUnderTest {
  readonly database: Database;
  readonly databaseUrl: string;
  /** Address of the service. */
  readonly url: string;
  /** The folder for export files. */
  readonly fileFolder: string;
  readonly access: WorkspaceAccess;
  readonly adminKey: string;
  readonly days: LogDays;
  /** Simulated moment up to which everything has been collected; default: now. */
  collectedTo: () => number | undefined;
  get(path: string, query?: Readonly<Record<string, string>>, key?: string): Promise<Answer>;
  /** The answer as text. */
  read(path: string, query?: Readonly<Record<string, string>>, key?: string): Promise<TextAnswer>;
  makeKey(role: string, userGroups?: string[], workspaceId?: string): Promise<string>;
  makeWorkspace(slug: string): Promise<string>;
  /** Makes and publishes a rule; answers the id of its version. */
  makeRule(slug: string, userGroups: string[]): Promise<{ readonly ruleId: string; readonly versionId: string }>;
  /** Makes and publishes a flow that runs a version; answers the id of its version. */
  makeFlow(
    slug: string,
    userGroups: string[],
    used: { readonly ruleId: string; readonly versionId: string },
  ): Promise<string>;
  store(...messages: readonly SubscribedMessage[]): Promise<Collected>;
  stop(): Promise<void>;
}

const EMPTY_DRAFT = {
  ...{ description: null, labels: [], folder: null, testSuite: [], sampleRequest: null, sampleResponse: null },
  ...{ testRequest: null, metadata: {}, context: null, settings: {}, requestSchema: [], responseSchema: [] },
};

/** `storeOf` makes the store; default: the table. */
export const startCollectorUnderTest = async (
  name: string,
  storeOf: (database: Database) => DecisionStore = openTableStore,
): Promise<CollectorUnderTest> => {
  const stack = testStack();
  const databaseName = stack.uniqueName(name);
  const databaseUrl = await createMigratedDatabase(stack.databaseUrl, databaseName);
  const { id: workspaceId } = await ensureWorkspace(databaseUrl, { slug: 'main', name: 'Main' });
  const database = openDatabase({ url: databaseUrl, applicationName: 'test' });
  const access: WorkspaceAccess = { workspaceId, userGroups: undefined };
  const fileFolder = await mkdtemp(join(tmpdir(), 'collector-'));
  const server = createCollectorServer({
    config: {
      ...{ host: '127.0.0.1', port: 0, bodyLimitBytes: 1_048_576, requestTimeoutMs: 10_000, keepAliveMs: 5_000 },
      ...{
        logRequests: false,
        trustedProxies: 0,
        proxySecret: undefined,
        shutdownGraceMs: 0,
        metricsPort: undefined,
        apiMetrics: true,
        retentionDays: 30,
      },
      archiveMemoryBytes: 268_435_456,
    },
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createMetrics('test'),
    store: storeOf(database),
    fileFolder,
    authenticator: createAuthenticator({ findKey: (selector) => findApiKey(database, selector), now: Date.now }),
    health: { pingDatabase: () => database.ping(), waitingFor: () => undefined, subscriberStatus: () => undefined },
    collectedTo: () => collector.collectedTo(),
  });
  const { url } = await server.listen();
  const makeKey = async (role: string, userGroups: string[] = [], workspace = workspaceId) => {
    const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
    await database.inWorkspace({ workspaceId: workspace, userGroups: undefined }, (transaction) =>
      createApiKey(transaction, { selector, secretHash, name: role, role, userGroups, expiresAt: null }),
    );
    return apiKey;
  };
  const adminKey = await makeKey('admin');
  const days = createLogDays({ database, retentionDays: 30, now: Date.now });
  const collector: CollectorUnderTest = {
    ...{ database, databaseUrl, url, fileFolder, access, adminKey, days, makeKey },
    collectedTo: Date.now,
    get: async (path, query = {}, key = adminKey) => {
      const { status, body } = await supertest(url).get(`/api/v1/decisions${path}`).query(query).set('x-api-key', key);
      return { status, body: body as Answer['body'] };
    },
    read: async (path, query = {}, key = adminKey) => {
      const asked = supertest(url).get(`/api/v1/decisions${path}`).query(query).set('x-api-key', key);
      const { status, headers, body } = await asked.buffer(true).parse(collectText);
      return { status, headers: headers, text: String(body) };
    },
    makeWorkspace: async (slug) => (await ensureWorkspace(databaseUrl, { slug, name: slug })).id,
    makeRule: async (slug, userGroups) => {
      const [ruleId, versionId] = [randomUUID(), randomUUID()];
      await database.inWorkspace(access, async (transaction) => {
        await insertAsset(transaction, 'rule', {
          ...EMPTY_DRAFT,
          conditions: [],
          groups: {},
          id: ruleId,
          slug,
          name: slug,
          userGroups,
        });
        await publishAsset(transaction, 'rule', ruleId, { versionId });
      });
      return { ruleId, versionId };
    },
    makeFlow: async (slug, userGroups, used) => {
      const [id, versionId] = [randomUUID(), randomUUID()];
      const graph: FlowDraft['graph'] = { nodes: [{ ref: 'in', type: 'origin', rule: 'hidden' }], connections: [] };
      await database.inWorkspace(access, async (transaction) => {
        await insertAsset(transaction, 'flow', { ...EMPTY_DRAFT, graph, id, slug, name: slug, userGroups });
        const uses = [{ asset_id: used.ruleId, version_id: used.versionId }];
        await publishAsset(transaction, 'flow', id, {
          versionId,
          flow: { requestSchema: [], responseSchema: [], uses: uses as never, reachesOut: false }, // the names of its nodes do not matter here
        });
      });
      return versionId;
    },
    store: (...messages) => storeMessages({ database, days }, messages),
    stop: async () => {
      await server.stop(1_000);
      await database.close();
      await dropDatabase(stack.databaseUrl, databaseName);
      await rm(fileFolder, { recursive: true, force: true });
    },
  };
  return collector;
};

const collectText = (answer: supertest.Response, done: (error: Error | null, text: string) => void): void => {
  const source = answer as unknown as NodeJS.ReadableStream; // what supertest passes to parsers
  let text = '';
  source.setEncoding('utf8');
  source.on('data', (piece: string) => (text += piece));
  source.on('end', () => done(null, text));
  source.on('error', (error: Error) => done(error, text));
};

let lastOffset = 0;

/** A message of `logs` with a unique offset. */
export const messageOf = (value: unknown, form?: 'list'): SubscribedMessage => ({
  ...{ topic: 'logs', partition: 0, offset: (lastOffset += 1), writtenAt: Date.now() },
  value: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
  header: (name) => (name === 'form' ? form : undefined),
});

let lastId = 0;
let lastSequence = -1;

/** A worker's log of a request, with a unique id. */
export const logOf = (workspaceId: string, items: readonly object[], change: object = {}) => ({
  ...{
    v: 2,
    id: `gateway-1:${(lastId += 1).toString(36)}`,
    ...{ producer: 'worker-1', sequence: (lastSequence += 1), asset_id: null, context: null, flow: null },
    kind: 'rule',
    workspace_id: workspaceId,
    key_id: 'key',
    slug: 'price',
  },
  ...{ selector: 'latest', version_id: randomUUID(), request_id: randomUUID(), trace_id: null },
  received_at: new Date().toISOString(),
  items: items.map((item, index) => ({
    ...{ index, status: 200, duration_us: 50, matched: [0], request: {}, response: {} },
    ...item,
  })),
  ...change,
});
