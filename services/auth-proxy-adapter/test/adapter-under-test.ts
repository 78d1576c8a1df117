import { randomBytes } from 'node:crypto';
import { openCache } from '@decision/cache';
import { startTcpProxy, testStack } from '@decision/local-stack';
import { ensureWorkspace, openDatabase } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createLogger, createMetrics, readConfig, type Stopper } from '@decision/service-kit';
import { Client } from 'pg';
import supertest from 'supertest';
import { createAdapter } from '../src/app';
import { settings } from '../src/config';
import { type ApplySavedMapping } from '../src/passthrough/begin-session';
import { openMail } from '../src/open-mail';
import { openPeople } from '../src/open-people';
import { type Fault, faultyDatabase } from './faulty-database';
import { applySavedMapping } from '../src/passthrough/saved-mapping';

/** Variables of passthrough, complete. */
export const passthroughEnvironment = {
  EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true',
  JWT_SECRET: randomBytes(32).toString('hex'),
  ADMIN_EMAIL: 'Admin@example.com',
  BACKEND_URL: 'http://127.0.0.1:9999',
  BACKEND_ANON_KEY: 'anon',
  BACKEND_SERVICE_KEY: 'service',
} as const;

type Environment = Readonly<Record<string, string>>;

const parts = (environment: Environment) => ({
  config: readConfig(settings, {
    ...{ HOST: '127.0.0.1', PORT: '0', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    ...environment,
  }),
  logger: createLogger({ service: 'auth-proxy-adapter', level: 'silent' }),
  metrics: createMetrics('auth-proxy-adapter'),
  cacheStatus: () => ({ enabled: false, connected: false, channel: { enabled: false, ready: false, name: 'none' } }),
});

/** An adapter without a database, for routes that need none. */
export const startBareAdapter = async (
  environment: Environment,
): Promise<{ readonly url: string; stop(): Promise<void> }> => {
  const server = createAdapter({ ...parts(environment), people: undefined, pingDatabase: () => Promise.resolve() });
  const { url } = await server.listen();
  return { url, stop: () => server.stop(0) };
};

export interface AdapterUnderTest {
  readonly url: string;
  readonly workspaceId: string;
  /** Address of the database for its owner. */
  readonly databaseUrl: string;
  /** The mapping in effect: the saved one, until a test replaces it. */
  mapping: ApplySavedMapping;
  /** Cuts the database off before its n-th request. */
  readonly fault: Fault;
  /** Another process on the same database. */
  beside(): Promise<{ readonly url: string; stop(): Promise<void> }>;
  /** Runs a statement as the owner of the database. */
  sql(statement: string): Promise<readonly Record<string, unknown>[]>;
  stop(): Promise<void>;
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** An adapter on its own database. */
export const startAdapter = async (environment: Environment = passthroughEnvironment): Promise<AdapterUnderTest> => {
  const stack = testStack();
  const url = await createMigratedDatabase(stack.databaseUrl, stack.uniqueName('adapter'));
  const { id: workspaceId } = await ensureWorkspace(url, { slug: 'main', name: 'Main' });
  const proxy = await startTcpProxy(url);
  const reliable = openDatabase({ url: proxy.url, applicationName: 'adapter-test', acquireTimeoutMs: 30_000 });
  const cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  const owner = new Client({ connectionString: url });
  await owner.connect();
  const { database, fault } = faultyDatabase(reliable, proxy);
  const begin = async () => {
    const stops: Parameters<Stopper['add']>[1][] = [];
    const stopper: Pick<Stopper, 'add'> = { add: (_name, stop) => void stops.push(stop) };
    const context = parts(environment);
    const people = openPeople({
      ...{ config: context.config, database, cache, metrics: context.metrics, logger: context.logger },
      applyMapping: (...given) => adapter.mapping(...given),
      mail: openMail({ ...context, stopper }),
    });
    const server = createAdapter({ ...context, people, pingDatabase: () => database.ping() });
    const stop = async (): Promise<void> => {
      await server.stop(0);
      for (const end of stops) await end(0);
    };
    return { url: (await server.listen()).url, stop };
  };
  const adapter: AdapterUnderTest = {
    url: '',
    workspaceId,
    databaseUrl: url,
    mapping: applySavedMapping,
    fault,
    beside: begin,
    sql: async (statement) => (await owner.query<Record<string, unknown>>(statement)).rows,
    stop: async () => {
      await first.stop();
      await owner.end();
      await cache.close();
      await database.close();
      await proxy.close();
    },
  };
  const first = await begin();
  return Object.assign(adapter, { url: first.url });
};

/** An unsigned token as a proxy attaches it. */
export const tokenOf = (claims: object): string =>
  [{ alg: 'RS256' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('nobody')
    .join('.');

/** The name and value of the session cookie that an answer sets; undefined if it sets none. */
export const cookieOf = (answer: Response): string | undefined => answer.headers.getSetCookie()[0]?.split(';', 1)[0];

interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One call, as a program sends it: redirects are not followed. Tests of pages use `fetch`, which follows them as a browser does. */
export const call = async (url: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Response> => {
  const { origin } = new URL(url);
  // All HTTP methods have the same signature.
  const asking = supertest(origin)[method.toLowerCase() as 'get'](url.slice(origin.length));
  void asking.set(headers).buffer(true);
  const answer = await (body === undefined ? asking : asking.send(body));
  const shown = new Headers();
  for (const [name, value] of Object.entries(answer.headers as Record<string, string | string[]>))
    for (const one of [value].flat()) shown.append(name, one);
  return new Response(answer.text === '' ? null : answer.text, { status: answer.status, headers: shown });
};
