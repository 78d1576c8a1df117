import { type Static, Type } from '@sinclair/typebox';
import { type Operation } from './operation';

export const ObjectsApiHealth = Type.Object(
  {
    status: Type.Unsafe<'ok' | 'degraded'>({
      type: 'string',
      enum: ['ok', 'degraded'],
      description: '`degraded`: the process is alive, but the database cannot be used as it is.',
    }),
    database: Type.Boolean({ description: 'Whether the database answered just now.' }),
    redis: Type.Boolean({ description: 'Whether the cache is connected; false where none is configured.' }),
    cacheInvalidation: Type.Object(
      {
        enabled: Type.Boolean({ description: 'Whether a cache is configured.' }),
        ready: Type.Boolean({ description: 'Whether messages are being received now.' }),
        channel: Type.String({ description: 'Name of the channel.' }),
      },
      { description: 'The channel on which changes are announced.' },
    ),
    broker: Type.Object(
      {
        enabled: Type.Boolean({ description: 'Whether this service has a broker configured.' }),
        ready: Type.Boolean({ description: 'Whether one of the brokers accepted a connection just now.' }),
      },
      { description: 'The message broker.' },
    ),
    migrations: Type.Object(
      {
        state: Type.Unsafe<'applied' | 'pending' | 'unknown'>({
          type: 'string',
          enum: ['applied', 'pending', 'unknown'],
          description: '`applied`, `pending` where some are missing, `unknown` where the database did not answer.',
        }),
        pending: Type.Array(Type.String(), {
          description: 'Names of migrations that this release needs and the database lacks.',
        }),
      },
      { description: 'Whether the database has what this release needs.' },
    ),
  },
  { $id: 'ObjectsApiHealth', description: 'What the process can reach.' },
);
export type ObjectsApiHealth = Static<typeof ObjectsApiHealth>;

const shared = { service: 'objects-api', tag: 'System', method: 'get', pathParameters: [], errors: [] } as const;

export const getHealth = {
  ...shared,
  id: 'getHealth',
  path: '/api/health',
  summary: 'Whether the process is alive, and what it can reach',
  description: 'Always 200 while the process is alive. Asks for no key.',
  success: {
    status: 200,
    description: 'The state of the service.',
    schema: ObjectsApiHealth,
    example: {
      status: 'ok',
      database: true,
      redis: true,
      cacheInvalidation: { enabled: true, ready: true, channel: 'service:cache:invalidate' },
      broker: { enabled: true, ready: true },
      migrations: { state: 'applied', pending: [] },
    },
  },
} as const satisfies Operation;

const MetricsText = Type.String({ $id: 'MetricsText', description: 'The exposition format of Prometheus.' });

export const getMetrics = {
  ...shared,
  id: 'getMetrics',
  path: '/api/metrics',
  summary: 'Metrics of the process',
  description: 'Asks for no key.',
  success: {
    status: 200,
    description: 'The metrics.',
    mediaType: 'text/plain',
    schema: MetricsText,
    example: '# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n',
  },
} as const satisfies Operation;

/** Calls that the routes of every service answer. */
export const systemOperations = [getHealth, getMetrics];
