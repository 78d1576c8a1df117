import { type RequesterStatus } from '@decision/broker';
import { chunkInputs, failedResult, joinResults, limits, ServiceError, type SolutionKind } from '@decision/contracts';
import {
  type Authenticator,
  createLogger,
  createMetrics,
  type Identity,
  type Metrics,
  openAdmission,
  openFlowAdmission,
  type ServiceServer,
} from '@decision/service-kit';
import supertest from 'supertest';
import { createGateway } from '../src/app';
import { type GatewayConfig } from '../src/config';
import { createScale, type ScaleSources } from '../src/routes/scale';
import { type Refusals } from '../src/refusals';
import { type DirectSolve, type OpenSolve, type SolveRequest } from '../src/solve';

/** The HTTP side of the gateway with workers in this process. */
export interface GatewayUnderTest {
  readonly server: ServiceServer;
  readonly url: string;
  /** Requests to workers, in order. */
  readonly asked: { readonly kind: SolutionKind; readonly bytes: number; readonly request: SolveRequest }[];
  /** Replaces the workers: answers a payload, or throws. */
  worker: (kind: SolutionKind, payload: Buffer) => Promise<Buffer>;
  requesterStatus: RequesterStatus | undefined;
  /** Called before each key is checked; the key `refused` is then refused. A test may wait here. */
  beforeKey: (key: string) => Promise<void>;
  /** Whether the process has cached the key and the version of each request, so that single inputs take the direct route. Default true. */
  isKnown: boolean;
  /** Number of requests that took the direct route. */
  direct: number;
  /** Log lines that require an operator to act. */
  readonly alarms: string[];
  /** Clears the recorded requests, and makes workers echo again. */
  reset(): void;
}

export const READY: RequesterStatus = {
  ready: true,
  partitions: 4,
  expectedPartitions: 4,
  reason: undefined,
  code: undefined,
  pending: 0,
};

/** Answers every object unchanged, and everything else with an error. */
export const echo = (kind: SolutionKind, payload: Buffer): Promise<Buffer> => {
  if (kind === 'solve' || kind === 'settle') return Promise.resolve(payload);
  const results = [...chunkInputs(payload)].map((input) => {
    const text = input.toString().trim();
    return text.startsWith('{') ? text : failedResult({ message: 'No object.', code: 'input_not_object' });
  });
  return Promise.resolve(joinResults(kind, results));
};

const identityOf = (key: string): Identity => {
  const entitlements = new Set(
    { viewer: ['rules.read'], 'solver alone': ['solve'], admin: ['solve', 'workers.scale'] }[key] ?? [
      'solve',
      'rules.read',
    ],
  );
  return { actor: 'k', workspaceId: 'w', role: key, entitlements, userGroups: undefined };
};

const createAuthenticatorUnderTest = (gateway: () => GatewayUnderTest): Authenticator => ({
  authenticate: async (key) => {
    if (key === undefined) throw new ServiceError('missing_api_key', 'The header x-api-key is absent.');
    await gateway().beforeKey(key);
    if (key === 'refused') throw new ServiceError('invalid_api_key', 'The key is not valid.');
    return identityOf(key);
  },
  authenticateKnown: (key) =>
    gateway().isKnown && gateway().beforeKey === atOnce && key !== 'refused' ? identityOf(key) : undefined,
});

const atOnce = (): Promise<void> => Promise.resolve();

/** Parts of a gateway that a test replaces. */
export interface GatewayParts {
  readonly openFails?: ServiceError;
  /**
   * Default: every rule and flow exists, and {@link GatewayUnderTest.worker} evaluates it; flows whose slug starts with `outward` call other
   * systems.
   */
  readonly openSolve?: OpenSolve;
  /** Default: {@link GatewayUnderTest.worker} evaluates single inputs of rules while keys and versions are cached. */
  readonly direct?: DirectSolve;
  /** Default: refusals are not recorded. */
  readonly refusals?: Refusals;
  /** Default: {@link createAuthenticatorUnderTest}. */
  readonly authenticator?: Authenticator;
  /** Default: an unreachable broker. */
  readonly scaleSources?: ScaleSources;
  readonly metrics?: Metrics;
}

const noBroker = (): Promise<never> => Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'));
const BROKER_AWAY: ScaleSources = { countWorkers: noBroker, findFloor: noBroker, setFloor: noBroker };

export const startGateway = async (changes: Partial<GatewayConfig> & GatewayParts = {}): Promise<GatewayUnderTest> => {
  const config = {
    host: '127.0.0.1',
    port: 0,
    bodyLimitBytes: limits.httpBodyBytes.defaultValue,
    requestTimeoutMs: 60_000,
    keepAliveMs: 75_000,
    logRequests: false,
    itemMaxBytes: limits.itemMaxBytes.defaultValue,
    chunkBytes: limits.chunkBytes.defaultValue,
    bulkMaxItems: undefined,
    largeBodyThresholdBytes: limits.largeBodyThresholdBytes.defaultValue,
    largeBodyMaxConcurrent: limits.largeBodyMaxConcurrent.defaultValue,
    rpcTimeoutMs: 60_000,
    maxWorkers: 8,
    workerFloorMs: limits.workerFloorMs.defaultValue,
    admissionTargetMs: limits.admissionTargetMs.defaultValue,
    flowAdmissionTargetMs: limits.flowAdmissionTargetMs.defaultValue,
    flowMaxInFlightRequests: limits.flowMaxInFlightRequests.defaultValue,
    flowMaxInFlightBytes: limits.flowMaxInFlightBytes.defaultValue,
    maxInFlightRequests: limits.maxInFlightRequests.defaultValue,
    maxInFlightBytes: limits.maxInFlightBytes.defaultValue,
    ...changes,
  } as unknown as GatewayConfig; // the addresses of servers are not used here
  const asked: GatewayUnderTest['asked'] = [];
  const alarms: string[] = [];
  const metrics = changes.metrics ?? createMetrics('hps-gateway');
  const server = createGateway({
    config,
    logger: createLogger({
      service: 'hps-gateway',
      level: 'error',
      destination: { write: (line: string) => void alarms.push(line) },
    }),
    metrics,
    admission: openAdmission(config, metrics),
    flowAdmission: openFlowAdmission(config, metrics),
    authenticator: changes.authenticator ?? createAuthenticatorUnderTest(() => gateway),
    refusals: changes.refusals,
    scale: createScale(changes.scaleSources ?? BROKER_AWAY, config),
    openSolve: (request) => {
      if (changes.openSolve !== undefined) return changes.openSolve(request);
      if (changes.openFails !== undefined) return Promise.reject(changes.openFails);
      return Promise.resolve({
        reachesOut: request.asset === 'flow' && request.slug.startsWith('outward'),
        evaluate: (kind, payload) => {
          asked.push({ kind, bytes: payload.length, request });
          return gateway.worker(kind, payload);
        },
      });
    },
    direct: counted(changes.direct, () => (gateway.direct += 1)) ?? {
      find: () =>
        gateway.isKnown && changes.openSolve === undefined && changes.openFails === undefined
          ? { version_id: 'v', asset_id: 'a' }
          : undefined,
      send: (_version, request, payload, settled) => {
        gateway.direct += 1;
        asked.push({ kind: 'solve', bytes: payload.length, request });
        gateway.worker('solve', payload).then(
          (answer) => settled(undefined, answer),
          (error: unknown) => settled(error as ServiceError, Buffer.alloc(0)), // workers of tests throw no others
        );
      },
    },
    cacheStatus: () => ({
      enabled: false,
      connected: false,
      channel: { enabled: false, ready: false, name: 'service:cache:invalidate' },
    }),
    requesterStatus: () => gateway.requesterStatus,
  });
  const gateway: GatewayUnderTest = {
    server,
    url: (await server.listen()).url,
    asked,
    alarms,
    worker: echo,
    requesterStatus: READY,
    beforeKey: atOnce,
    isKnown: true,
    direct: 0,
    reset: () => {
      gateway.requesterStatus = READY;
      asked.length = 0;
      alarms.length = 0;
      gateway.worker = echo;
      gateway.beforeKey = atOnce;
      gateway.isKnown = true;
      gateway.direct = 0;
    },
  };
  return gateway;
};

const counted = (direct: DirectSolve | undefined, onSent: () => void): DirectSolve | undefined =>
  direct && {
    find: (...asked) => direct.find(...asked),
    send: (...sent) => {
      onSent();
      direct.send(...sent);
    },
  };

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: unknown;
  readonly headers: Headers;
}

/** A body as it is sent, or none. */
interface Asking {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** One call, whose key is among its headers. */
export const ask = async (url: string, { method, headers = {}, body }: Asking): Promise<Answer> => {
  const { origin } = new URL(url);
  // All HTTP methods have the same signature.
  const asking = supertest(origin)[method.toLowerCase() as 'post'](url.slice(origin.length));
  void asking.set(headers).buffer(true);
  const answer = await (body === undefined ? asking : asking.send(body));
  return {
    status: answer.status,
    ...readAnswer(method === 'HEAD' ? '' : answer.text, new Headers(answer.headers)),
  };
};

/**
 * A body of any bytes, sent with a key that may solve; an object or list is sent as JSON. Not by supertest, which serialises bytes, and fails where
 * an answer comes before the body was read.
 */
export const send = async (
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-api-key': 'solver', 'content-type': 'application/json', ...headers },
    body: isRaw ? (body as string) : JSON.stringify(body), // text or bytes, and fetch accepts both
  });
  return { status: response.status, ...readAnswer(await response.text(), response.headers) };
};

const readAnswer = (text: string, headers: Headers): Omit<Answer, 'status'> => {
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json') === true;
  return { text, body: isJson ? (JSON.parse(text) as unknown) : undefined, headers };
};
