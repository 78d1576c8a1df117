import { randomBytes, randomUUID } from 'node:crypto';
import { type InvalidationKind } from '@decision/contracts';
import { type CallFor } from '@decision/flows';
import { testStack } from '@decision/local-stack';
import {
  createApiKey,
  type Database,
  dropDatabase,
  ensureWorkspace,
  findApiKey,
  findPendingMigrations,
  openDatabase,
  recordKeyUse,
} from '@decision/persistence';
import { type Mailer } from '@decision/mail';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createAuthenticator, createLogger, createMetrics, generateApiKey, guardKeys } from '@decision/service-kit';
import supertest from 'supertest';
import { createObjectsApi } from '../src/app';
import { createLiveCalls } from '../src/tests/live-calls';

export interface Answer {
  readonly status: number;
  /** The header `etag`. */
  readonly etag: string | null;
  readonly body: Record<string, unknown> & { readonly [index: number]: Record<string, unknown> };
}

/** The service over HTTP, with its own database. */
export interface ObjectsApiUnderTest {
  readonly baseUrl: string;
  readonly database: Database;
  /** Address of the database for its owner role. */
  readonly databaseUrl: string;
  /** Announcements, in order: kinds and cache keys. A test may empty it. */
  readonly announced: [InvalidationKind, readonly string[]][];
  /** Calls a path under /api/v1 with a key. */
  call(
    key: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Makes a workspace, or finds it, and answers its id. */
  makeWorkspace(slug: string): Promise<string>;
  makeKey(workspaceId: string, role: string, userGroups?: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** Default of tests: no outside calls. */
const refuseLive: CallFor = () => () => Promise.reject(new Error('Nothing outside can be asked here.'));

/** The default limit of request bodies is 1 MB. */
export const startObjectsApi = async ({
  bodyLimitBytes = 1_000_000,
  openLive = (): Promise<CallFor> => Promise.resolve(refuseLive),
  mailer = undefined as Pick<Mailer, 'send'> | undefined,
} = {}): Promise<ObjectsApiUnderTest> => {
  const stack = testStack();
  const databaseName = stack.uniqueName('objects');
  const url = await createMigratedDatabase(stack.databaseUrl, databaseName);
  // Generous: these tests do not depend on how fast a busy machine answers.
  const patience = { statementTimeoutMs: 100_000, acquireTimeoutMs: 60_000, connectTimeoutMs: 30_000 };
  const database = openDatabase({ url, applicationName: 'objects-api-test', ...patience });
  const announced: [InvalidationKind, readonly string[]][] = [];
  const logger = createLogger({ service: 'objects-api', level: 'silent' });
  const metrics = createMetrics('objects-api');
  const server = createObjectsApi({
    config: {
      host: '127.0.0.1',
      port: 0,
      bodyLimitBytes,
      requestTimeoutMs: 60_000,
      keepAliveMs: 75_000,
      shutdownGraceMs: 0,
      metricsPort: undefined,
      apiMetrics: true,
      logRequests: false,
      trustedProxies: 1,
      proxySecret: undefined,
    },
    logger,
    metrics,
    database,
    announce: (kind, _workspace, keys) => Promise.resolve(void announced.push([kind, keys])),
    newId: randomUUID,
    randomBytes,
    now: Date.now,
    live: createLiveCalls(openLive),
    flowLimits: {},
    publicUrl: 'https://decisions.example.com',
    mailer,
    authenticator: createAuthenticator({
      findKey: (selector) => findApiKey(database, selector),
      now: Date.now,
      ...guardKeys({
        metrics,
        logger,
        recordUse: ({ workspaceId, actor }) =>
          database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
            recordKeyUse(transaction, actor),
          ),
      }),
    }),
    health: {
      pingDatabase: () => database.ping(),
      pendingMigrations: () => findPendingMigrations(database),
      probeBroker: undefined,
      cacheStatus: () => ({
        enabled: false,
        connected: false,
        channel: { enabled: false, ready: false, name: 'service:cache:invalidate' },
      }),
    },
  });
  const { url: baseUrl } = await server.listen();
  return {
    baseUrl,
    database,
    databaseUrl: url,
    announced,
    call: async (key, method, path, body, headers = {}) => {
      // All HTTP methods have the same signature.
      const sending = supertest(baseUrl)
        [method.toLowerCase() as 'get'](`/api/v1${path}`)
        .set({ 'x-api-key': key, ...headers });
      const response = await (body === undefined
        ? sending
        : sending.type('application/json').send(JSON.stringify(body)));
      return {
        status: response.status,
        etag: response.get('etag') ?? null,
        body: JSON.parse(response.text) as Answer['body'],
      };
    },
    makeWorkspace: async (slug) => (await ensureWorkspace(url, { slug, name: slug })).id,
    makeKey: async (workspaceId, role, userGroups = []) => {
      const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
      await database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
        createApiKey(transaction, { selector, secretHash, name: role, role, userGroups, expiresAt: null }),
      );
      return apiKey;
    },
    stop: async () => {
      await server.stop(1_000);
      await database.close();
      await dropDatabase(stack.databaseUrl, databaseName);
    },
  };
};
