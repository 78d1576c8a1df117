import { probe } from './readiness';
import { type ServiceProcess } from './service-process';

/** The processes of one service, of which the ingress asks one after the other. */
export interface Replicas {
  readonly processes: readonly ServiceProcess[];
  /**
   * Address of the process for the next request: the ready ones in turn; where none is ready, those that live, which say themselves what
   * they lack. Undefined where none lives.
   */
  nextUrl(): string | undefined;
  /** Stops asking whether they are ready. */
  close(): void;
}

/** Much shorter than the grace period after which a stopping process accepts no connection (SHUTDOWN_GRACE_MS), ms. */
const POLL_MS = 200;
const PROBE_TIMEOUT_MS = 1_000;

/** Asks each process all the time whether it is ready. One alone gets every request as long as it lives, and is not asked. */
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
