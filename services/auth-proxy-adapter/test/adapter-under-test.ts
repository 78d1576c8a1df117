import { randomBytes } from 'node:crypto';
import { createLogger, createMetrics, readConfig } from '@decision/service-kit';
import { createAdapter } from '../src/app';
import { settings } from '../src/config';

/** Variables of passthrough, complete. */
export const passthroughEnvironment = {
  EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true',
  JWT_SECRET: randomBytes(32).toString('hex'),
  ADMIN_EMAIL: 'Admin@example.com',
  BACKEND_URL: 'http://127.0.0.1:9999',
  BACKEND_ANON_KEY: 'anon',
  BACKEND_SERVICE_KEY: 'service',
} as const;

/** An adapter without a database, for what needs none. */
export const startBareAdapter = async (
  environment: Readonly<Record<string, string>>,
): Promise<{ url: string; stop(): Promise<void> }> => {
  const config = readConfig(settings, {
    ...{ HOST: '127.0.0.1', PORT: '0', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    ...environment,
  });
  const server = createAdapter({
    config,
    logger: createLogger({ service: 'auth-proxy-adapter', level: 'silent' }),
    metrics: createMetrics('auth-proxy-adapter'),
    pingDatabase: () => Promise.resolve(),
    cacheStatus: () => ({ enabled: false, connected: false, channel: { enabled: false, ready: false, name: 'none' } }),
  });
  const { url } = await server.listen();
  return { url, stop: () => server.stop(0) };
};
