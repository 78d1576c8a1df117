import { request } from 'node:http';
import { LaunchError } from '../launch-error';
import { type ServiceProcess } from './service-process';

/** The processes of one service, to which the ingress sends requests in turn. */
export interface Replicas {
  readonly processes: readonly ServiceProcess[];
  /**
   * Address of the process for the next request: the ready ones in turn; if none is ready, the running ones, which answer with what they
   * lack. Undefined if none runs.
   */
  nextUrl(): string | undefined;
  /** Stops the readiness probes. */
  close(): void;
}

/** Much shorter than the grace period after which a stopping process accepts no connection (SHUTDOWN_GRACE_MS), ms. */
const POLL_MS = 200;
const PROBE_TIMEOUT_MS = 1_000;

/** Probes the readiness of each process. A single process gets every request as long as it runs, and is not probed. */
export const watchReplicas = (processes: readonly ServiceProcess[]): Replicas => {
  const ready = new Set<ServiceProcess>();
  const asking = new Set<ServiceProcess>();
  let turn = 0;
  const ask = async (process: ServiceProcess): Promise<void> => {
    if (asking.has(process)) return;
    asking.add(process);
    const answer = await probe(`${process.url}/ready`, PROBE_TIMEOUT_MS);
    if (answer?.status === 200) ready.add(process);
    else ready.delete(process);
    asking.delete(process);
  };
  const poll =
    processes.length > 1 ? setInterval(() => processes.forEach((process) => void ask(process)), POLL_MS) : undefined;
  return {
    processes,
    nextUrl: () => {
      const alive = processes.filter((process) => process.pid() !== undefined);
      const able = alive.filter((process) => ready.has(process));
      const candidates = able.length > 0 ? able : alive;
      turn = (turn + 1) % Math.max(candidates.length, 1);
      return candidates[turn]?.url;
    },
    close: () => clearInterval(poll),
  };
};

/** Status and body of one GET, or undefined if nobody answers within the time. */
const probe = (url: string, timeoutMs = 1_000): Promise<{ status: number; body: string } | undefined> =>
  new Promise((resolve) => {
    const call = request(url, { timeout: timeoutMs, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
      answer.once('error', () => resolve(undefined));
    });
    call.once('timeout', () => call.destroy());
    call.once('error', () => resolve(undefined));
    call.end();
  });

const READY_POLL_MS = 100;

/** Waits until `url` answers 200. Throws {@link LaunchError} with the last answer after the deadline. */
export const waitUntilReady = async (name: string, url: string, deadlineMs: number): Promise<void> => {
  const until = Date.now() + deadlineMs;
  let last: Awaited<ReturnType<typeof probe>>;
  while (Date.now() < until) {
    last = await probe(url);
    if (last?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  const seen = last === undefined ? 'it does not answer' : `it answers ${last.status} ${last.body.slice(0, 500)}`;
  throw new LaunchError(`${name} is not ready after ${Math.round(deadlineMs / 1000)} s: ${seen}. Its log says more.`);
};
