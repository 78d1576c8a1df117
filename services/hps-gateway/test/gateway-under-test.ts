import { type RequesterStatus } from '@decision/broker';
import { chunkInputs, failedResult, joinResults, limits, ServiceError, type SolutionKind } from '@decision/contracts';
import { type Authenticator, createLogger, createMetrics, type ServiceServer } from '@decision/service-kit';
import { createGateway } from '../src/app';
import { type GatewayConfig } from '../src/config';
import { openAdmission } from '../src/open-admission';
import { type SolveRequest } from '../src/solve';

/** The HTTP side of the gateway before workers that live in this process. */
export interface GatewayUnderTest {
  readonly server: ServiceServer;
  readonly url: string;
  /** What was asked of workers, in order. */
  readonly asked: { readonly kind: SolutionKind; readonly bytes: number; readonly request: SolveRequest }[];
  /** Takes the place of the workers: answers a payload, or throws. */
  worker: (kind: SolutionKind, payload: Buffer) => Promise<Buffer>;
  requesterStatus: RequesterStatus | undefined;
  /** Lines that were logged for somebody who must act. */
  readonly alarms: string[];
  /** Forgets what was asked, and lets workers echo again. */
  reset(): void;
}

export const READY: RequesterStatus = {
  ready: true,
  partitions: 4,
  expectedPartitions: 4,
  reason: undefined,
  pending: 0,
};

/** Answers every object as it is, and everything else with an error. */
export const echo = (kind: SolutionKind, payload: Buffer): Promise<Buffer> => {
  if (kind === 'solve' || kind === 'settle') return Promise.resolve(payload);
  const results = [...chunkInputs(payload)].map((input) => {
    const text = input.toString().trim();
    return text.startsWith('{') ? text : failedResult({ message: 'No object.', code: 'input_not_object' });
  });
  return Promise.resolve(joinResults(kind, results));
};

const authenticator: Authenticator = {
  authenticate: (key) => {
    if (key === undefined)
      return Promise.reject(new ServiceError('missing_api_key', 'The header x-api-key is absent.'));
    const entitlements = new Set(key === 'viewer' ? [] : ['solve']);
    return Promise.resolve({ keyId: 'k', workspaceId: 'w', role: key, entitlements, userGroups: undefined });
  },
};

export const startGateway = async (
  changes: Partial<GatewayConfig> & { readonly openFails?: ServiceError } = {},
): Promise<GatewayUnderTest> => {
  const config = {
    host: '127.0.0.1',
    port: 0,
    bodyLimitBytes: limits.httpBodyBytes.defaultValue,
    requestTimeoutMs: 60_000,
    keepAliveMs: 75_000,
    logRequests: false,
    itemMaxBytes: limits.itemMaxBytes.defaultValue,
    bulkMaxItems: undefined,
    largeBodyThresholdBytes: limits.largeBodyThresholdBytes.defaultValue,
    largeBodyMaxConcurrent: limits.largeBodyMaxConcurrent.defaultValue,
    rpcTimeoutMs: 60_000,
    admissionTargetMs: limits.admissionTargetMs.defaultValue,
    maxInFlightRequests: limits.maxInFlightRequests.defaultValue,
    maxInFlightBytes: limits.maxInFlightBytes.defaultValue,
    ...changes,
  } as unknown as GatewayConfig; // the addresses of servers are not looked at here
  const asked: GatewayUnderTest['asked'] = [];
  const alarms: string[] = [];
  const metrics = createMetrics('hps-gateway');
  const server = createGateway({
    config,
    logger: createLogger({
      service: 'hps-gateway',
      level: 'error',
      destination: { write: (line: string) => void alarms.push(line) },
    }),
    metrics,
    admission: openAdmission(config, metrics),
    authenticator,
    openSolve: (request) => {
      if (changes.openFails !== undefined) return Promise.reject(changes.openFails);
      return Promise.resolve((kind, payload) => {
        asked.push({ kind, bytes: payload.length, request });
        return gateway.worker(kind, payload);
      });
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
    reset: () => {
      gateway.requesterStatus = READY;
      asked.length = 0;
      alarms.length = 0;
      gateway.worker = echo;
    },
  };
  return gateway;
};

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: unknown;
  readonly headers: Headers;
}

/** One call with a key that may solve; an object or list is sent as JSON. */
export const send = async (
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-api-key': 'solver', 'content-type': 'application/json', ...headers },
    body: isRaw ? (body as string) : JSON.stringify(body), // text or bytes, which fetch takes both
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    text,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
    headers: response.headers,
  };
};
