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

export const repositoryRoot = resolve(__dirname, '../..');

/** A running fleet, with examples in it. */
export interface FleetUnderTest {
  readonly fleet: Fleet;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  /** Put in front of the names of its topics. */
  readonly topicPrefix: string;
  /** Everything that the services printed, for messages of failing tests. */
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

/** What solves, and what publishes the rules for it. */
export const SOLVING: readonly ServiceName[] = ['hps-gateway', 'solve-worker', 'objects-api'];

/** Sends JSON to a path of the ingress, with the admin key; `body` undefined sends none. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

interface FleetUnderTestOptions {
  /** Slugs of the examples that it holds, of those that are plain files; default: all examples. */
  readonly examples?: readonly string[];
  readonly environment?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** The services that it has: a process takes seconds of a processor to start, so a file names those that it asks. Default: all. */
  readonly services?: readonly ServiceName[];
  /** Processes of each service; default: one. */
  readonly replicas?: Partial<Record<ServiceName, number>>;
  /** Addresses other than the shared servers', for fault tests. */
  readonly addresses?: Partial<ServerAddresses>;
  /** Environment of every service. */
  readonly common?: Readonly<Record<string, string>>;
  /** Environment of the program that makes the topics, as an operator runs it. Default: topics for one machine are made without it. */
  readonly topics?: Readonly<Record<string, string>>;
}

/** What a program printed, and its exit code. */
interface Printed {
  readonly code: number;
  readonly text: string;
}

/** Runs a built program with this environment alone. */
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

/** Makes the topics of a prefix as an operator does. */
export const prepareTopics = (mqBrokers: string, prefix: string, environment: Readonly<Record<string, string>>) =>
  runProgram('packages/infrastructure/dist/cli/prepare-topics.js', {
    ...{ MQ_BROKERS: mqBrokers, MQ_TOPIC_PREFIX: prefix, ...environment },
  });

const READY_DEADLINE_MS = 180_000;

export const startFleetUnderTest = async (options: FleetUnderTestOptions = {}): Promise<FleetUnderTest> => {
  const stack = testStack();
  const name = stack.uniqueName('e2e');
  const servers: ServerAddresses = { ...stack, ...options.addresses };
  // On servers of its own a file is the only one that would use a template.
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
    // Tests kill processes many times and wait for those that start again.
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

/** No process of those that are not among the services. */
const leavingOut = (services: readonly ServiceName[] = serviceNames): Partial<Record<ServiceName, number>> =>
  Object.fromEntries(serviceNames.filter((name) => !services.includes(name)).map((name) => [name, 0]));

const seed = async (baseUrl: string, apiKey: string, examples: readonly string[] | undefined): Promise<void> => {
  if (examples === undefined) await seedExamples(repositoryRoot, baseUrl, apiKey);
  else for (const slug of examples) await publishExample(callWith({ baseUrl, apiKey }), slug);
};

/** Publishes one of the example rules, as a rule of its own: ids are unique across workspaces. */
export const publishExample = async (send: Call, slug: string): Promise<void> => {
  const file = join(repositoryRoot, 'examples/starter/rules', `${slug}.json`);
  const { rule } = JSON.parse(readFileSync(file, 'utf8')) as { rule: object }; // our own file; the import checks it
  const own = { ...rule, id: randomUUID(), _publish: true };
  const answer = await send('POST', '/api/v1/admin/rules/import', { rule: own });
  if (answer.status !== 200) throw new Error(`${file} was refused: ${JSON.stringify(answer.body)}`);
};

/** Calls with the key of a workspace. */
export const callWith =
  ({ baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string }): Call =>
  (method, path, body, headers) =>
    call(`${baseUrl}${path}`, method, body, { 'x-api-key': apiKey, ...headers });

/** One HTTP call; a text body is sent as it is, anything else as JSON. */
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
