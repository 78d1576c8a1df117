import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import {
  deleteRule,
  exportRule,
  importRule,
  listRules,
  revokeApiKey,
  ServiceError,
  solveOperations,
} from '@decision/contracts';
import {
  type Authenticator,
  bindOperation,
  createLogger,
  createMetrics,
  createServiceServer,
  type ServiceServer,
} from '../src/index';
import { type OperationRequest } from '../src/http/bind-operation';
import { type ServiceServerOptions } from '../src/http/service-server';

/** A service with a few real operations, whose handlers echo their input. */
export interface TestService {
  readonly server: ServiceServer;
  readonly url: string;
  readonly port: number;
  /** 0 if metrics have no separate port. */
  readonly metricsPort: number;
  /** Lines that were logged. */
  readonly lines: string[];
}

const authenticator: Authenticator = {
  authenticate: (key) => {
    if (key === undefined)
      return Promise.reject(new ServiceError('missing_api_key', 'The header x-api-key is absent.'));
    if (key === 'bad') return Promise.reject(new ServiceError('invalid_api_key', 'The key is not valid.'));
    const entitlements = new Set(key === 'viewer' ? ['rules.read'] : ['rules.read', 'rules.write', 'keys.manage']);
    return Promise.resolve({ actor: 'k', workspaceId: 'w', role: key, entitlements, userGroups: undefined });
  },
};

export const startTestService = async (
  change: Partial<ServiceServerOptions> = {},
  onImport: (request: OperationRequest<typeof importRule>) => Promise<unknown> = ({ body }) =>
    Promise.resolve(body.rule),
): Promise<TestService> => {
  const lines: string[] = [];
  const server = createServiceServer({
    name: 'objects-api',
    version: '1',
    logger: createLogger({
      service: 'test',
      level: 'info',
      destination: { write: (line: string) => void lines.push(line) },
    }),
    metrics: createMetrics('test'),
    host: '127.0.0.1',
    port: 0,
    bodyLimitBytes: 10_000,
    requestTimeoutMs: 2_000,
    keepAliveMs: 75_000,
    logRequests: false,
    authenticator,
    health: () => ({ status: 'ok' }),
    ready: () => ({ ready: true }),
    operations: [
      bindOperation(listRules, () => Promise.resolve([])),
      bindOperation(exportRule, () => Promise.reject(new TypeError('postgres://user:hunter2@inside'))),
      bindOperation(importRule, (request) => onImport(request) as never),
      bindOperation(deleteRule, ({ body }) => Promise.resolve({ message: body.id })),
      bindOperation(revokeApiKey, ({ params }) => Promise.resolve({ message: params['id'] ?? '' })),
    ],
    hot: { operations: solveOperations, route: () => false },
    ...change,
  });
  const { url, port, metricsPort = 0 } = await server.listen();
  return { server, url, port, metricsPort, lines };
};

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** Node does not announce the body of a DELETE by itself. */
const lengthOf = (body: string | Buffer | undefined, headers: Record<string, string>): Record<string, string> =>
  body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': String(Buffer.byteLength(body)) };

/** One call by `node:http`, which sends paths and headers as they are. */
export const send = (
  url: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const call = httpRequest(
      {
        hostname,
        port,
        method,
        path,
        headers: { 'x-api-key': 'admin', ...lengthOf(body, headers), ...headers },
        agent: false,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const isJson = /json/.test(answer.headers['content-type'] ?? '') && text !== '';
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text,
            body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
          });
        });
      },
    );
    call.once('error', reject);
    call.end(body);
  });
