import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type ServiceName } from '@decision/contracts';
import { doublingMs } from '@decision/waiting';

interface ServiceProcessOptions {
  readonly name: ServiceName;
  /** Script to run with this Node. */
  readonly script: string;
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Called with every line that the process prints. */
  readonly onLine: (service: ServiceName, line: string) => void;
  /** Called with a sentence for each unexpected end and the restart after it. */
  readonly onNotice: (sentence: string) => void;
  /** Called after each start, including the first, with the new process id. */
  readonly onStart?: () => void;
  /** The longest pause before a repeatedly dying process is restarted, ms. Default: 10,000. */
  readonly restartAfterAtMostMs?: number | undefined;
}

/** One service as a child process that is restarted when it dies. */
export interface ServiceProcess {
  readonly name: ServiceName;
  readonly url: string;
  pid(): number | undefined;
  /** SIGTERM, then SIGKILL when the deadline has passed. Idempotent; no restart follows. */
  stop(deadlineMs: number): Promise<void>;
  /** SIGKILL. Idempotent; no restart follows. */
  kill(): Promise<void>;
}

const RESTART = { initialMs: 250, maxMs: 10_000 };
/** A process that lived this long was stable; the next death starts from the shortest pause. */
const HEALTHY_AFTER_MS = 30_000;
/** Exit code of a service that refuses its configuration: a restart cannot help, so the launcher reports it once. */
const CONFIGURATION_REFUSED = 78;

export const startServiceProcess = (options: ServiceProcessOptions): ServiceProcess => {
  let child: ChildProcess | undefined;
  let stopping = false;
  let deaths = 0;
  let retry: NodeJS.Timeout | undefined;

  const spawnChild = (): void => {
    const startedAt = Date.now();
    child = spawnService(options);
    options.onStart?.();
    child.once('exit', (code, signal) => {
      child = undefined;
      if (stopping) return;
      if (Date.now() - startedAt > HEALTHY_AFTER_MS) deaths = 0;
      scheduleRestart(signal ?? `exit code ${code ?? 0}`, code);
    });
  };

  const scheduleRestart = (how: string, code: number | null): void => {
    if (code === CONFIGURATION_REFUSED) {
      options.onNotice(`${options.name} refuses its configuration and is not started again; its log says why.`);
      return;
    }
    deaths += 1;
    const pauseMs = doublingMs(deaths, { ...RESTART, maxMs: options.restartAfterAtMostMs ?? RESTART.maxMs });
    options.onNotice(`${options.name} died (${how}); starting it again in ${pauseMs} ms.`);
    retry = setTimeout(spawnChild, pauseMs);
  };

  const end = async (deadlineMs: number): Promise<void> => {
    stopping = true;
    clearTimeout(retry);
    if (child) await endChild(child, deadlineMs);
  };

  spawnChild();
  return {
    name: options.name,
    url: `http://127.0.0.1:${options.port}`,
    pid: () => child?.pid,
    stop: end,
    kill: () => end(0),
  };
};

/**
 * Arguments of every service's Node: a larger young generation (semi-space in MiB; three times of it at most), because under load the
 * default of 16 is collected so often that objects in flight are copied many times.
 */
const NODE_ARGUMENTS = ['--max-semi-space-size=32'];

const spawnService = ({ name, script, port, environment, onLine }: ServiceProcessOptions): ChildProcess => {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, script], {
    // A process group of its own: Ctrl-C then reaches only the launcher, which stops everything in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment, PORT: String(port), HOST: '127.0.0.1' },
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => onLine(name, line));
  }
  return child;
};

/** With no time left there is no SIGTERM first. */
const endChild = (child: ChildProcess, deadlineMs: number): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    const kill = deadlineMs > 0 ? setTimeout(() => child.kill('SIGKILL'), deadlineMs) : undefined;
    child.once('exit', () => {
      clearTimeout(kill);
      resolve();
    });
    child.kill(deadlineMs > 0 ? 'SIGTERM' : 'SIGKILL');
  });
