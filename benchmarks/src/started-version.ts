import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '@decision/local-stack';
import { BenchmarkError } from './benchmark-error';
import { type Send, senderWithKey } from './context-workload';
import { familyOf, processorSeconds } from './processes';
import { ROOT } from './service-under-test';

/** One commit in a folder of its own. */
export interface Checkout {
  /** Abbreviated. */
  readonly commit: string;
  readonly folder: string;
}

/** One commit, started by its own launcher on servers of its own. It is reached by HTTP alone, so that any version can be started. */
export interface StartedVersion {
  readonly contexts: Send;
  readonly gateway: Send;
  readonly objects: Send;
  /** Seconds of processor time that all its services and servers have used. */
  processorSeconds(): number;
  stop(): Promise<void>;
}

/** Installing, building and fetching servers included. */
const START_MS = 900_000;
const POLL_MS = 500;
const STOP_MS = 60_000;
const SHOWN_OF_LOG = 2_000;

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

/** The abbreviated commit of a name such as `HEAD~3`. */
const commitOf = (name: string): string => {
  try {
    return git('rev-parse', '--short', '--verify', '--end-of-options', `${name}^{commit}`);
  } catch {
    throw new BenchmarkError(`"${name}" is not a commit of this repository.`);
  }
};

/** Whether there are changes that belong to no commit, and therefore are not measured. */
export const hasChanges = (): boolean => git('status', '--porcelain') !== '';

/** Clones a commit into a new folder. Throws a {@link BenchmarkError} if there is no commit of this name. */
export const checkOut = (name: string, folder: string): Checkout => {
  const commit = commitOf(name);
  git('clone', '--quiet', '--no-checkout', ROOT, folder);
  git('-C', folder, 'checkout', '--quiet', '--detach', commit);
  shareDownloads(folder);
  return { commit, folder };
};

/** Starts a checkout. Throws a {@link BenchmarkError} with the end of its output if it does not start. */
export const startVersion = async ({ commit, folder }: Checkout): Promise<StartedVersion> => {
  const log = join(folder, 'start.log');
  const output = openSync(log, 'w');
  // Not `npm start` itself: npm would end at a signal without the launcher, which stops services and servers.
  const child = spawn('sh', ['-c', `exec ${startScriptOf(folder)}`], {
    cwd: folder,
    env: { ...process.env, INGRESS_PORT: String(await freePort()) },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  let ended: string | undefined;
  child.once('error', (error) => (ended ??= error.message));
  child.once('exit', (code, signal) => (ended ??= `exit with ${String(code ?? signal)}`));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    for (let waited = 0; ended === undefined && waited < STOP_MS; waited += POLL_MS) await wait(POLL_MS);
    if (ended === undefined) child.kill('SIGKILL');
  };
  const pid = child.pid ?? 0; // the process either has one, or has ended with an error
  for (let waited = 0; !isReady(folder); waited += POLL_MS) {
    if (ended !== undefined || waited > START_MS) {
      await stop();
      const why = ended ?? `not ready after ${START_MS / 1_000} s`;
      throw new BenchmarkError(
        `${commit} did not start (${why}). Its last output:\n${readFileSync(log, 'utf8').slice(-SHOWN_OF_LOG)}`,
      );
    }
    await wait(POLL_MS);
  }
  const { api_key: apiKey, services } = readConnection(folder);
  const to = (service: string): Send => senderWithKey(services[service]?.url ?? '', apiKey);
  return {
    ...{ contexts: to('contexts-api'), gateway: to('hps-gateway'), objects: to('objects-api') },
    processorSeconds: () => familyOf(pid).reduce((sum, member) => sum + processorSeconds(member), 0),
    stop,
  };
};

/** The command behind `npm start`. */
const startScriptOf = (folder: string): string => {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string }; // every version has one
  };
  return scripts.start;
};

/** Servers that this checkout has fetched need not be fetched again. */
const shareDownloads = (folder: string): void => {
  const fetched = join(ROOT, '.local/downloads');
  if (!existsSync(fetched)) return;
  mkdirSync(join(folder, '.local'), { recursive: true });
  symlinkSync(fetched, join(folder, '.local/downloads'));
};

const connectionOf = (folder: string): string => join(folder, '.local/connection.json');

/** The launcher writes the connection when everything is ready. */
const isReady = (folder: string): boolean => existsSync(connectionOf(folder));

const readConnection = (folder: string) =>
  JSON.parse(readFileSync(connectionOf(folder), 'utf8')) as {
    readonly api_key: string;
    readonly services: Readonly<Record<string, { readonly url: string } | undefined>>;
  }; // what the launcher writes
