import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type RunningStack, startStack } from '@decision/local-stack';
import { type Fleet, startFleet } from '../fleet/fleet';
import { type PreparedWorkspace, prepareServers } from '../fleet/prepare';
import { createRouteOverrides } from '../fleet/route-overrides';
import { LaunchError } from '../launch-error';
import { type LaunchPeople, openLaunchPeople } from '../people/launch-people';
import { type SigningProxy, startSigningProxy } from '../people/signing-proxy';
import { type LaunchSettings, readLaunchSettings } from '../launch-settings';
import {
  type Connection,
  localPaths,
  type LocalPaths,
  readConnection,
  readPrivateJson,
  removeFile,
  takeLaunchLock,
  writePrivateJson,
} from '../local-files';
import { onParentEnd } from '../parent';
import { explainRefusal, requireExternalServers, requireFreePort } from '../preconditions';
import { openServiceLogs } from '../service-logs';
import { createTerminal, describePeople, type Terminal, welcome } from '../terminal';
import { readExamples, seedExamples } from '../workspace/import-workspace';

/** Parts started so far, newest last; they are stopped in reverse order. */
interface Opened {
  readonly what: string;
  readonly close: () => Promise<void> | void;
}

const READY_DEADLINE_MS = 60_000;
const CACHE_PREFIX = 'decision:';
const SERVICE_LOGIN = 'decision_services';

/** Options of `npm start --`. */
const PASSTHROUGH = '--passthrough';

/**
 * `npm start` after installing and building: starts everything and prints the welcome; a signal ends it. See
 * docs/adr/0003-launcher-package.md.
 */
export const start = async (root: string, words: readonly string[] = []): Promise<void> => {
  const terminal = createTerminal(
    (text) => process.stdout.write(text),
    () => performance.now(),
  );
  const opened: Opened[] = [];
  const stopped = stopOnSignal(terminal, opened);
  try {
    await launch({ root, withProxy: readWords(words) }, terminal, opened);
  } catch (error) {
    if (stopped.requested) return;
    await closeAll(opened);
    process.stderr.write(
      `${error instanceof LaunchError || isStackError(error) ? error.message : describeFault(error)}\n`,
    );
    process.exit(1);
  }
};

/** Whether to start a signing proxy in front. Throws {@link LaunchError} for unknown options. */
const readWords = (words: readonly string[]): boolean => {
  const unknown = words.filter((word) => word !== PASSTHROUGH);
  if (unknown.length > 0)
    throw new LaunchError(`npm start does not know ${unknown.join(' ')}; it knows ${PASSTHROUGH}.`);
  return words.includes(PASSTHROUGH);
};

interface Launching {
  readonly root: string;
  readonly withProxy: boolean;
}

const launch = async ({ root, withProxy }: Launching, terminal: Terminal, opened: Opened[]): Promise<void> => {
  const paths = localPaths(root);
  const settings = readLaunchSettings(process.env);
  const release = takeLaunchLock(paths.lock, () => whereItRuns(paths));
  opened.push({ what: 'lock', close: release });
  await requireFreePort(settings.ingressPort, 'INGRESS_PORT');
  await requireExternalServers(settings.external);

  const people = openLaunchPeople({
    ...{ file: paths.people, environment: process.env, withProxy },
    baseUrl: `http://127.0.0.1:${settings.ingressPort}`,
  });

  const stack = await startServers(paths, settings, terminal);
  opened.push({ what: 'servers', close: () => stack.stop() });
  const workspace = await prepare({ paths, settings, stack, admin: people.admin }, terminal).catch((error: unknown) => {
    throw explainRefusal(error, settings.external);
  });

  const logs = openServiceLogs(paths.logs, (line) => terminal.say(line));
  opened.push({ what: 'logs', close: () => logs.close() });
  rmSync(paths.overrides, { recursive: true, force: true });
  const overrides = createRouteOverrides(paths.overrides, Date.now);
  let publish = (): void => undefined;
  const fleet = await startFleet({
    root,
    addresses: { ...stack, databaseUrl: workspace.databaseUrl },
    names: { topicPrefix: settings.topicPrefix, cachePrefix: CACHE_PREFIX },
    ingressPort: settings.ingressPort,
    common: people.environment,
    environment: {
      ...{ 'solve-worker': flowEnvironment(process.env), 'contexts-api': flowEnvironment(process.env) },
      'log-collector': {
        ARCHIVE_URL: process.env['ARCHIVE_URL'] ?? pathToFileURL(join(paths.data, 'archive')).href,
      },
    },
    overrideOf: (service) => overrides.urlOf(service),
    onLine: (service, line) => logs.write(service, line),
    onNotice: (sentence) => terminal.say(sentence),
    onStart: () => publish(),
  });
  opened.push({ what: 'services', close: () => fleet.stop() });
  terminal.say('services are starting');
  await fleet.ready(READY_DEADLINE_MS);
  terminal.say('services are ready');
  await seedOnce({ root, paths, fleet, workspace, terminal });
  const proxy = withProxy ? await startProxy(fleet, people) : undefined;
  if (proxy) opened.push({ what: 'proxy', close: () => proxy.stop() });
  const { admin } = people;
  publish = () =>
    writePrivateJson(paths.connection, describeConnection({ fleet, stack, workspace, admin, proxyUrl: proxy?.url }));
  publish();
  opened.push({ what: 'connection', close: () => removeFile(paths.connection) });
  terminal.plain(welcome(fleet.baseUrl, workspace.apiKey, readExamples(root)));
  terminal.plain(describePeople({ baseUrl: fleet.baseUrl, admin, proxyUrl: proxy?.url }));
};

const startServers = (paths: LocalPaths, settings: LaunchSettings, terminal: Terminal): Promise<RunningStack> =>
  startStack({
    directory: paths.data,
    downloads: paths.downloads,
    external: settings.external,
    ports: settings.ports,
    isBrokerLocked: true,
    restarts: true,
    onProgress: ({ server, message, elapsedMs }) =>
      terminal.say(`${server}: ${message}${elapsedMs > 0 ? ` (${(elapsedMs / 1000).toFixed(1)} s)` : ''}`),
  });

/** The proxy that authenticates people, one port above the ingress if that is free. */
const startProxy = async (fleet: Fleet, { environment }: LaunchPeople): Promise<SigningProxy> => {
  const options = { target: fleet.baseUrl, email: environment['ADMIN_EMAIL'] ?? '' };
  const port = Number(new URL(fleet.baseUrl).port) + 1;
  return startSigningProxy({ ...options, port }).catch(() => startSigningProxy({ ...options, port: 0 }));
};

interface Preparing {
  readonly paths: LocalPaths;
  readonly settings: LaunchSettings;
  readonly stack: RunningStack;
  readonly admin: LaunchPeople['admin'];
}

const prepare = async (
  { paths, settings, stack, admin }: Preparing,
  terminal: Terminal,
): Promise<PreparedWorkspace> => {
  const known = readPrivateJson(paths.apiKey) as { api_key?: string } | undefined; // our own file; the key in it is checked
  const workspace = await prepareServers({
    addresses: stack,
    names: { topicPrefix: settings.topicPrefix, cachePrefix: CACHE_PREFIX },
    knownApiKey: known?.api_key,
    admin,
    // The user of the embedded database is a superuser.
    ...(stack.controls.database === undefined ? {} : { serviceLogin: SERVICE_LOGIN }),
    onProgress: (what) => terminal.say(what),
  });
  if (workspace.apiKey !== known?.api_key)
    writePrivateJson(paths.apiKey, { workspace_id: workspace.workspaceId, api_key: workspace.apiKey });
  return workspace;
};

interface Seeding {
  readonly root: string;
  readonly paths: LocalPaths;
  readonly fleet: Fleet;
  readonly workspace: PreparedWorkspace;
  readonly terminal: Terminal;
}

/**
 * Flows may ask the credit bureau of the examples, which runs on this machine: examples/credit-bureau.mjs. Nodes of type vault read
 * variables that begin with FLOW_SECRET_, unless the environment sets the prefix.
 */
const flowEnvironment = ({ FLOW_VAULT_GRANTS: grants }: NodeJS.ProcessEnv): Readonly<Record<string, string>> => ({
  FLOW_API_ALLOWED_HOSTS: '127.0.0.1:8099',
  FLOW_VAULT_GRANTS: grants ?? '* environment:FLOW_SECRET_',
});

/** The examples are imported once per workspace, so later changes and deletions are kept. */
const seedOnce = async ({ root, paths, fleet, workspace, terminal }: Seeding): Promise<void> => {
  const known = readPrivateJson(paths.apiKey) as { seeded?: boolean } | undefined; // our own file
  if (known?.seeded === true) return;
  const slugs = await seedExamples(root, fleet.baseUrl, workspace.apiKey);
  writePrivateJson(paths.apiKey, { workspace_id: workspace.workspaceId, api_key: workspace.apiKey, seeded: true });
  terminal.say(`imported the examples ${slugs.join(', ')}`);
};

interface Running {
  readonly fleet: Fleet;
  readonly stack: RunningStack;
  readonly workspace: PreparedWorkspace;
  readonly admin: LaunchPeople['admin'];
  readonly proxyUrl: string | undefined;
}

const describeConnection = ({ fleet, stack, workspace, admin, proxyUrl }: Running): Connection => ({
  base_url: fleet.baseUrl,
  api_key: workspace.apiKey,
  ...(admin === undefined ? {} : { admin_email: admin.email, admin_password: admin.password }),
  ...(proxyUrl === undefined ? {} : { proxy_url: proxyUrl }),
  services: Object.fromEntries(
    [...fleet.services].map(([name, service]) => [name, { url: service.url, pid: service.pid() }]),
  ),
  database_url: stack.databaseUrl,
  cache_url: stack.cacheUrl,
  mq_brokers: stack.mqBrokers,
  service_environment: fleet.environment,
});

const whereItRuns = (paths: LocalPaths): string => {
  const connection = readConnection(paths.connection);
  return connection === undefined ? '' : ` at ${connection.base_url}`;
};

const isStackError = (error: unknown): error is Error => error instanceof Error && error.name === 'StackError';

const describeFault = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

const closeAll = async (opened: readonly Opened[]): Promise<void> => {
  for (const { close } of [...opened].reverse()) await close();
};

/**
 * The first signal stops everything in order and exits; a second one exits at once, leaving the servers to the next start. The end of npm counts
 * as a signal: it does not pass on those that end it.
 */
const stopOnSignal = (terminal: Terminal, opened: readonly Opened[]): { requested: boolean } => {
  const state = { requested: false };
  const onSignal = (signal: string): void => {
    if (state.requested) process.exit(1);
    state.requested = true;
    terminal.say(`${signal}: stopping`);
    closeAll(opened).then(
      () => {
        terminal.say('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        process.stderr.write(`Stopping failed: ${describeFault(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  if (process.env['npm_lifecycle_event'] === 'start') onParentEnd(() => state.requested || onSignal('npm has ended'));
  return state;
};
