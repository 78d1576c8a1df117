import { createLogger, createMetrics, createServiceServer, sendBytes } from '@decision/service-kit';

/** The server of our services with a route that answers at once without reading anything. Prints its address. */
const server = createServiceServer({
  ...{ name: 'bare-echo', version: '0.1.0', host: '127.0.0.1', port: 0 },
  ...{ bodyLimitBytes: 1_000_000, requestTimeoutMs: 60_000, keepAliveMs: 75_000, logRequests: false },
  logger: createLogger({ service: 'bare-echo', level: 'silent' }),
  metrics: createMetrics('bare-echo'),
  operations: [],
  hot: {
    operations: [],
    route: (_request, response, context) => {
      context.route = '/';
      sendBytes(response, 200, '{}');
      return true;
    },
  },
  health: () => ({}),
  ready: () => ({ ready: true }),
});

server.listen().then(
  ({ url }) => process.stdout.write(`${url}\n`),
  () => process.exit(1),
);
process.once('SIGTERM', () => void server.stop(0).then(() => process.exit(0)));
