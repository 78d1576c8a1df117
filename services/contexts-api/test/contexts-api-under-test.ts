import { randomBytes, randomUUID } from 'node:crypto';
import { type RequestEnvelope, type RequestOptions } from '@decision/broker';
import { openCache } from '@decision/cache';
import { createConnectors, createEntityConnector } from '@decision/connectors';
import {
  decodeSettleAnswer,
  decodeSettleRequest,
  encodeSettleAnswer,
  limits,
  type FlowField,
  type FlowGraph,
  type FlowUse,
  type RuleField,
  type RuleRow,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import {
  createContextModels,
  createFlowRunner,
  createStoredFlows,
  createStoredRules,
  type SettleFault,
  settleOperations,
} from '@decision/execution';
import { testStack, waitUntil } from '@decision/local-stack';
import {
  createContextDirectory,
  createEntityStore,
  createFailureLogger,
  createLocalSettler,
  createOperationsObserver,
  createOwnSettler,
  createSettler,
} from '@decision/operations';
import {
  createApiKey,
  type Database,
  dropDatabase,
  ensureWorkspace,
  findApiKey,
  insertAsset,
  openDatabase,
  publishAsset,
  updateAsset,
  type WorkspaceAccess,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createAuthenticator, createLogger, createMetrics, generateApiKey, openAdmission } from '@decision/service-kit';
import supertest from 'supertest';
import { createContextsApi } from '../src/app';
import { createUpkeepObserver, startUpkeep, type Upkeep } from '../src/upkeep/upkeep';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Controls of the workers of the service, which run in this process. */
export interface WorkersUnderTest {
  /** Called before each message is processed; a test may wait or throw here. */
  before: (bytes: Buffer) => Promise<void>;
  /** Slugs of rules that ran, in order. */
  readonly ran: string[];
  /** Numbers of instances in each message. */
  readonly messages: number[];
  /** The message keys with which each instance arrived. */
  readonly keys: Map<string, Set<string>>;
  /** Decisions of operations that were settled in the service itself. */
  readonly ranHere: { id: string; versionId: string; slug: string | undefined; keyId: string | undefined }[];
  /** Why rules had no answer, from workers and the service itself. */
  readonly faults: SettleFault[];
  /** Answers the outside calls of flows, except entity nodes. */
  answer: ReturnType<CallFor>;
  /** Answers `entity` nodes. */
  entities: CallFor;
  /** Number of waits that ended in favour of another operation. */
  givenWay: number;
  /** The runs of flows that made outside calls. */
  readonly asked: Parameters<CallFor>[0][];
}

/** One process of the service over HTTP. */
export interface ContextsApiUnderTest {
  readonly url: string;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly workers: WorkersUnderTest;
  readonly access: WorkspaceAccess;
  readonly adminKey: string;
  /** Failures reported by operations, as log lines. */
  readonly lines: readonly string[];
  readonly upkeep: Upkeep;
  call(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  makeKey(role: string, userGroups?: string[], workspaceId?: string): Promise<string>;
  makeWorkspace(slug: string): Promise<string>;
  /** Resolves once an operation is committed whose lease has not ended: a worker may have its message before (ADR 87). */
  held(): Promise<void>;
  /** Creates and publishes a rule that is bound to a context; answers its id. */
  bindRule(
    context: string,
    slug: string,
    table: RuleTableParts,
    version?: unknown,
    userGroups?: readonly string[],
  ): Promise<string>;
  /** Publishes another table of a rule; answers the id of the version. */
  publish(ruleId: string, table: RuleTableParts): Promise<string>;
  /** Creates a flow that is bound to a context, and publishes it; answers its id. */
  bindFlow(context: string, slug: string, flow: FlowParts, version?: string, userGroups?: string[]): Promise<string>;
  /** Publishes another version of a flow; answers its id. */
  publishFlow(flowId: string, flow: FlowParts): Promise<string>;
  stop(): Promise<void>;
}

export interface RuleTableParts {
  readonly inputs: readonly RuleField[];
  readonly outputs: readonly RuleField[];
  readonly rows: readonly RuleRow[];
}

type CallFor = NonNullable<Parameters<typeof createFlowRunner>[0]['callFor']>;

/** A published flow: its graph, its inputs and outputs, and the assets that it runs. */
export interface FlowParts {
  readonly graph: Required<FlowGraph>;
  readonly inputs: readonly RuleField[];
  readonly outputs: readonly FlowField[];
  readonly uses: readonly FlowUse[];
  readonly reachesOut?: boolean;
}

export interface StartOptions {
  readonly leaseMs?: number;
  readonly timeoutMs?: number;
  readonly chunkSize?: number;
  readonly mostWaiting?: number;
  readonly lineMaxBytes?: number;
  /** Limits of admission that matter to a test; the others are out of reach. */
  readonly admission?: Partial<typeof ADMISSION>;
  /** Another process whose database this one shares. */
  readonly beside?: ContextsApiUnderTest;
  /** Answers the URL by which the service reaches its database, if it differs from the database's own. Keys are read without it. */
  readonly through?: (databaseUrl: string) => Promise<string>;
}

/** Never reached by a test that does not lower them. */
const ADMISSION = {
  admissionTargetMs: 60_000,
  maxInFlightRequests: 10_000,
  maxInFlightBytes: 4 * 1024 ** 3,
  largeBodyThresholdBytes: 1024 ** 3,
  largeBodyMaxConcurrent: 1_000,
};

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export const startContextsApi = async (options: StartOptions = {}): Promise<ContextsApiUnderTest> => {
  const stack = testStack();
  const name = stack.uniqueName('contexts');
  const databaseUrl = options.beside?.databaseUrl ?? (await createMigratedDatabase(stack.databaseUrl, name));
  // Generous: these tests do not depend on how fast a busy machine answers.
  const patience = { statementTimeoutMs: 100_000, acquireTimeoutMs: 60_000, connectTimeoutMs: 30_000 };
  const open = (url: string) =>
    openDatabase({
      ...{ url, applicationName: 'contexts-api-test', poolMax: 20, ...patience },
      ...{ isPipelined: true, keepsPlans: true },
    });
  const database = open((await options.through?.(databaseUrl)) ?? databaseUrl);
  const ofKeys = options.through === undefined ? database : open(databaseUrl);
  const makeWorkspace = async (slug: string) => (await ensureWorkspace(databaseUrl, { slug, name: slug })).id;
  const access: WorkspaceAccess = { workspaceId: await makeWorkspace('main'), userGroups: undefined, actor: 'tester' };
  const directory = createContextDirectory(database);
  const { settler, own, workers, close } = openWorkers(database);
  const {
    leaseMs = 30_000,
    timeoutMs = 50_000, // as patient as the database
    chunkSize = 500,
    mostWaiting = 100,
    lineMaxBytes = 20_000_000,
  } = options;
  const lines: string[] = [];
  const told = createLogger({
    service: 'contexts-api',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const onFailure = createFailureLogger(told);
  const metrics = createMetrics('contexts-api');
  const onEvent = createOperationsObserver(metrics);
  const line = { mostWaiting, ticketLeaseMs: leaseMs, onEvent };
  const operate = { database, directory, settler, leaseMs, line, onFailure, onEvent };
  const ofFlows = {
    ...operate,
    settler: own,
    line: {
      ...line,
      onEvent: (event: Parameters<typeof onEvent>[0]) => {
        if (event.type === 'gave_way') workers.givenWay += 1;
        onEvent(event);
      },
    },
  };
  const connectors = createConnectors({
    connectors: [createEntityConnector(createEntityStore({ database, directory, operate: ofFlows, chunkSize }))],
  });
  workers.entities = (run) => connectors.callFor(run);
  const failures: unknown[] = [];
  const upkeep = startUpkeep(
    {
      database,
      directory,
      operate,
      timeoutMs,
      chunkSize,
      now: Date.now,
      newId: randomUUID,
      onError: (error) => failures.push(error),
      onEvent: createUpkeepObserver(metrics, silent),
    },
    3_600_000,
  );
  const server = createContextsApi({
    config: {
      ...{ host: '127.0.0.1', port: 0, bodyLimitBytes: 200_000_000, requestTimeoutMs: 30_000, keepAliveMs: 75_000 },
      ...{
        logRequests: false,
        trustedProxies: 0,
        proxySecret: undefined,
        shutdownGraceMs: 0,
        metricsPort: undefined,
        apiMetrics: true,
      },
    },
    logger: createLogger({ service: 'contexts-api', level: 'silent' }),
    metrics,
    admission: openAdmission({ ...ADMISSION, ...options.admission }, metrics),
    authenticator: createAuthenticator({ findKey: (selector) => findApiKey(ofKeys, selector), now: Date.now }),
    ...{ database, directory, operate, timeoutMs, chunkSize, lineMaxBytes, chunkBytes: limits.chunkBytes.defaultValue },
    ...{ newId: randomUUID },
    health: {
      pingDatabase: () => database.ping(),
      cacheStatus: () => ({ enabled: false, connected: false, channel: { enabled: false, ready: false, name: '' } }),
      requesterStatus: () => undefined,
    },
  });
  const { url } = await server.listen();
  const makeKey = async (role: string, userGroups: string[] = [], workspaceId = access.workspaceId) => {
    const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
    await database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
      createApiKey(transaction, { selector, secretHash, name: role, role, userGroups, expiresAt: null }),
    );
    return apiKey;
  };
  const adminKey = options.beside?.adminKey ?? (await makeKey('admin'));
  const publish = async (ruleId: string, table: RuleTableParts) => {
    const versionId = randomUUID();
    await database.inWorkspace(access, async (transaction) => {
      await updateAsset(transaction, 'rule', ruleId, {
        requestSchema: [...table.inputs],
        responseSchema: [...table.outputs],
        conditions: [...table.rows],
      });
      await publishAsset(transaction, 'rule', ruleId, { versionId });
    });
    return versionId;
  };
  const publishFlow = async (flowId: string, { graph, inputs, outputs, uses, reachesOut = false }: FlowParts) => {
    const versionId = randomUUID();
    const [requestSchema, responseSchema] = [[...inputs], [...outputs]];
    await database.inWorkspace(access, async (transaction) => {
      await updateAsset(transaction, 'flow', flowId, { graph, requestSchema, responseSchema });
      const flow = { requestSchema, responseSchema, uses: [...uses], reachesOut };
      await publishAsset(transaction, 'flow', flowId, { versionId, flow });
    });
    return versionId;
  };
  return {
    ...{ url, database, databaseUrl, workers, access, adminKey, lines, upkeep, makeKey, makeWorkspace, publish },
    publishFlow,
    bindFlow: async (context, slug, flow, version = 'latest', userGroups = []) => {
      const id = randomUUID();
      await database.inWorkspace(access, (transaction) =>
        insertAsset(transaction, 'flow', {
          ...{ ...EMPTY_DRAFT, requestSchema: [], responseSchema: [], graph: flow.graph, settings: {} },
          ...{ userGroups, id, slug, name: slug, context: { slug: context, version } },
        }),
      );
      await publishFlow(id, flow);
      return id;
    },
    held: () => waitUntil(() => isHeld(database, access), 'an operation is committed'),
    call: (method, path, body, key = adminKey) => call(url, { method, path: `/api/v1${path}`, body, key }),
    bindRule: async (context, slug, table, version = 'latest', userGroups = []) => {
      const id = randomUUID();
      await database.inWorkspace(access, (transaction) =>
        insertAsset(transaction, 'rule', {
          ...{ ...EMPTY_DRAFT, ...EMPTY_TABLE },
          userGroups,
          id,
          slug,
          name: slug,
          context: { slug: context, version },
        }),
      );
      await publish(id, table);
      return id;
    },
    stop: async () => {
      await server.stop(1_000);
      await upkeep.stop();
      await connectors.stop();
      await close();
      await database.close();
      await ofKeys.close();
      if (options.beside === undefined) await dropDatabase(stack.databaseUrl, name);
      expect(failures).toEqual([]);
    },
  };
};

const HELD = /* sql */ `select from context_operations where lease_until > clock_timestamp()`;
const isHeld = (database: Database, access: WorkspaceAccess): Promise<boolean> =>
  database.inWorkspace(access, async (t) => (await t.raw<{ rows: unknown[] }>(HELD)).rows.length > 0);

const EMPTY_DRAFT = {
  ...{ description: null, labels: [], folder: null, testSuite: [], metadata: {} },
  ...{ sampleRequest: null, sampleResponse: null, testRequest: null },
};
const EMPTY_TABLE = { requestSchema: [], responseSchema: [], conditions: [], groups: {}, settings: {} };

/** The service's settler with workers in this process, which read and answer real messages. */
const openWorkers = (database: Database) => {
  const cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  const library = createStoredRules(database, cache, { maxBytes: 67_108_864, onStale: () => undefined });
  const models = createContextModels();
  const workers: WorkersUnderTest = {
    before: () => Promise.resolve(),
    ran: [],
    messages: [],
    keys: new Map(),
    ranHere: [],
    faults: [],
    answer: () => Promise.reject(new Error('Nobody answers.')),
    entities: () => () => Promise.reject(new Error('Nobody answers.')),
    givenWay: 0,
    asked: [],
  };
  const decisions = {
    write: ({ requester: by, correlationId, versionId, origin }: SolutionRequestEnvelope) =>
      void workers.ranHere.push({ id: `${by}:${correlationId}`, versionId, slug: origin?.slug, keyId: origin?.keyId }),
  };
  const flows = createFlowRunner({
    library: createStoredFlows(database, cache, library, { maxBytes: 67_108_864 }),
    ...{ threads: undefined, maxSteps: 100_000, maxWaiting: 100 },
    callFor: (run) => {
      workers.asked.push(run);
      return (call) => (call.node.type === 'entity' ? workers.entities(run)(call) : workers.answer(call));
    },
  });
  const requester = {
    request: async (
      { workspaceId, deadline, requestId }: RequestEnvelope,
      payload: Buffer,
      { key = '' }: RequestOptions = {},
    ) => {
      requireFits(payload, 'payload_too_large');
      const request = decodeSettleRequest(payload);
      workers.messages.push(request.instances.length);
      for (const { instanceId } of request.instances)
        workers.keys.set(instanceId, (workers.keys.get(instanceId) ?? new Set()).add(key));
      await workers.before(payload);
      const settled = await settleOperations(request, {
        ...{ workspaceId, deadline, requestId, library, flows, models },
        onRun: ({ asset }) => {
          workers.ran.push(asset.slug);
          return `${workers.ran.length}`.padStart(32, '0');
        },
        isFull: () => false,
        onFault: (fault) => void workers.faults.push(fault),
      });
      const bytes = encodeSettleAnswer(settled, request);
      requireFits(bytes, 'result_too_large');
      decodeSettleAnswer(bytes);
      return bytes;
    },
  };
  const onFault = (fault: SettleFault): void => void workers.faults.push(fault);
  const settling = { library, flows, decisions, newId: randomUUID, requester: 'contexts-api' as const, onFault };
  const local = createLocalSettler(settling);
  const settler = createSettler({ requester, local });
  const own = createOwnSettler(createLocalSettler({ ...settling, atOnce: Infinity }));
  return { settler, own, workers, close: () => cache.close() };
};

/** The broker's limit on messages. */
const requireFits = (bytes: Buffer, code: 'payload_too_large' | 'result_too_large'): void => {
  if (bytes.length > limits.executionMessageBytes.defaultValue)
    throw new ServiceError(code, 'It does not fit a message.');
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
}

const call = async (url: string, { method, path, body, key }: Call): Promise<Answer> => {
  // All HTTP methods have the same signature.
  const sending = supertest(url)[method.toLowerCase() as 'get'](path).set('x-api-key', key).timeout(60_000);
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await (body === undefined ? sending : sending.type('application/json').send(sent));
  return { status: response.status, body: JSON.parse(response.text) as Record<string, unknown> };
};
