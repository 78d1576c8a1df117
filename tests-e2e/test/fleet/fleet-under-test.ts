import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type ServiceName, serviceNames } from '@decision/contracts';
import { type Fleet, prepareServers, seedExamples, type ServerAddresses, startFleet } from '@decision/launcher';
import { testStack } from '@decision/local-stack';
import { createDatabase, dropDatabase } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';

export const repositoryRoot = resolve(__dirname, '../../..');

/** A running fleet that contains examples. */
export interface FleetUnderTest {
  readonly fleet: Fleet;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  /** Prefix of the names of its topics. */
  readonly topicPrefix: string;
  /** All output of the services, for messages of failing tests. */
  readonly lines: readonly string[];
  readonly call: Call;
  /** Kills its processes, and drops its database. */
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/** The services that solve, and the one that publishes rules for them. */
export const SOLVING: readonly ServiceName[] = ['hps-gateway', 'solve-worker', 'objects-api'];

/** Sends JSON to a path of the ingress, with the admin key; if `body` is undefined, without a body. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

interface FleetUnderTestOptions {
  /** Slugs of the examples to load, of those that are plain files; default: all examples. */
  readonly examples?: readonly string[];
  readonly environment?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** Services to start: each process takes seconds of processor time to start, so a file names those that it uses. Default: all. */
  readonly services?: readonly ServiceName[];
  /** Number of processes of each service; default: one. */
  readonly replicas?: Partial<Record<ServiceName, number>>;
  /** Addresses that replace the shared servers', for fault tests. */
  readonly addresses?: Partial<ServerAddresses>;
  /** Environment of every service. */
  readonly common?: Readonly<Record<string, string>>;
  /** Environment of the program that creates the topics, as an operator runs it. Default: topics for one machine are created without it. */
  readonly topics?: Readonly<Record<string, string>>;
}

/** A program's output, and its exit code. */
interface Printed {
  readonly code: number;
  readonly text: string;
}

/** Runs a built program with only this environment. */
export const runProgram = (file: string, environment: Readonly<Record<string, string>>): Promise<Printed> =>
  promisify(execFile)(process.execPath, [join(repositoryRoot, file)], {
    env: { PATH: process.env['PATH'], ...environment },
  }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stdout, stderr }: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
      code,
      text: stdout + stderr,
    }),
  );

/** Creates the topics of a prefix as an operator does. */
export const prepareTopics = (mqBrokers: string, prefix: string, environment: Readonly<Record<string, string>>) =>
  runProgram('packages/infrastructure/dist/cli/prepare-topics.js', {
    ...{ MQ_BROKERS: mqBrokers, MQ_TOPIC_PREFIX: prefix, ...environment },
  });

const READY_DEADLINE_MS = 180_000;

export const startFleetUnderTest = async (options: FleetUnderTestOptions = {}): Promise<FleetUnderTest> => {
  const stack = testStack();
  const name = stack.uniqueName('e2e');
  const servers: ServerAddresses = { ...stack, ...options.addresses };
  // On its own servers a file would be the only user of a template.
  const make = options.addresses?.databaseUrl === undefined ? createMigratedDatabase : createDatabase;
  const databaseUrl = await make(servers.databaseUrl, name);
  const { cacheUrl, mqBrokers, brokerLogin } = servers;
  const addresses = { databaseUrl, cacheUrl, mqBrokers, brokerLogin };
  const names = { topicPrefix: `${name}.`, cachePrefix: `${name}:` };
  const lines: string[] = [];
  if (options.topics !== undefined) {
    const { code, text } = await prepareTopics(mqBrokers, names.topicPrefix, options.topics);
    if (code !== 0) throw new Error(`The topics could not be made:\n${text}`);
  }
  const { apiKey, databaseUrl: serviceUrl } = await prepareServers({
    addresses,
    names,
    knownApiKey: undefined,
    serviceLogin: `${name}_services`,
    onProgress: (line) => lines.push(line),
  });
  const fleet = await startFleet({
    root: repositoryRoot,
    addresses: { ...addresses, databaseUrl: serviceUrl },
    names,
    ingressPort: 0,
    common: options.common ?? {},
    environment: options.environment ?? {},
    replicas: { ...leavingOut(options.services), ...options.replicas },
    // Tests kill processes many times and wait for their restart.
    restartAfterAtMostMs: 500,
    onLine: (service, line) => lines.push(`[${service}] ${line}`),
    onNotice: (sentence) => lines.push(sentence),
  });
  try {
    await fleet.ready(READY_DEADLINE_MS);
    await seed(fleet.baseUrl, apiKey, options.examples);
  } catch (error) {
    await fleet.kill();
    throw new Error(`The fleet did not start:\n${lines.slice(-40).join('\n')}`, { cause: error });
  }
  return {
    fleet,
    baseUrl: fleet.baseUrl,
    apiKey,
    databaseUrl,
    topicPrefix: names.topicPrefix,
    lines,
    call: callWith({ baseUrl: fleet.baseUrl, apiKey }),
    stop: async () => {
      await fleet.kill();
      await dropDatabase(servers.databaseUrl, name);
    },
  };
};

/** Zero processes of every service that is not listed. */
const leavingOut = (services: readonly ServiceName[] = serviceNames): Partial<Record<ServiceName, number>> =>
  Object.fromEntries(serviceNames.filter((name) => !services.includes(name)).map((name) => [name, 0]));

const seed = async (baseUrl: string, apiKey: string, examples: readonly string[] | undefined): Promise<void> => {
  if (examples === undefined) await seedExamples(repositoryRoot, baseUrl, apiKey);
  else for (const slug of examples) await publishExample(callWith({ baseUrl, apiKey }), slug);
};

/** Publishes one of the example rules as a new rule: ids are unique across workspaces. */
export const publishExample = async (send: Call, slug: string): Promise<void> => {
  const file = join(repositoryRoot, 'examples/starter/rules', `${slug}.json`);
  const { rule } = JSON.parse(readFileSync(file, 'utf8')) as { rule: object }; // our own file; the import checks it
  const own = { ...rule, id: randomUUID(), _publish: true };
  const answer = await send('POST', '/api/v1/admin/rules/import', { rule: own });
  if (answer.status !== 200) throw new Error(`${file} was refused: ${JSON.stringify(answer.body)}`);
};

/** Calls the service with the key of a workspace. */
export const callWith =
  ({ baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string }): Call =>
  (method, path, body, headers) =>
    call(`${baseUrl}${path}`, method, body, { 'x-api-key': apiKey, ...headers });

/** One HTTP call; a text body is sent unchanged, anything else as JSON. */
export const call = async (
  url: string,
  method: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(90_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    headers: response.headers,
  };
};
