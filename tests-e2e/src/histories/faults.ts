import { setTimeout as pause } from 'node:timers/promises';
import { type ServiceProcess } from '@decision/launcher';
import { freezeTree, type ServerControl, thawTree } from '@decision/local-stack';
import { LEASE_MS, type WatchedFleet } from './watched-fleet';

/** Servers that may be subjected to faults. Absent servers are left alone. */
export type FaultyServers = Readonly<Partial<Record<'database' | 'broker', ServerControl>>>;

export type Fault =
  | ('kill contexts-api' | 'kill worker' | 'pause contexts-api' | 'pause worker' | 'delay write-backs')
  | ('kill database' | 'kill broker' | 'pause broker');

export const SERVICE_FAULTS: readonly [Fault, ...Fault[]] = [
  'pause contexts-api',
  'kill contexts-api',
  'kill worker',
  'pause worker',
];

/** Requires a fleet whose database connection is watched; listed first, so that the shortest run includes it. */
export const DATABASE_FAULTS: readonly Fault[] = ['delay write-backs'];

export const SERVER_FAULTS: readonly Fault[] = ['kill database', 'pause broker', 'kill broker'];

/** The statement of contexts-api that stores decisions, recognised by its unique beginning. */
export const WRITE_BACK = /^\s*with written as \(\s*update context_instances /;

interface FaultOptions {
  readonly fleet: Pick<WatchedFleet, 'contexts' | 'worker' | 'proxy'>;
  readonly servers: FaultyServers;
  /** The affected process of contexts-api. */
  readonly victim: ServiceProcess;
}

/** Long enough for others to take over the operations of a process. */
const PAUSE_MS = 2.5 * LEASE_MS;

/** Inflicts one fault; resolves once it is over. A killed process is restarted by its launcher, a server is restarted before this resolves. */
export const inflict = async (fault: Fault, { fleet, servers, victim }: FaultOptions): Promise<void> => {
  switch (fault) {
    case 'kill contexts-api':
      return signal(victim, 'SIGKILL');
    case 'kill worker':
      return signal(fleet.worker, 'SIGKILL');
    case 'pause contexts-api':
      return freezeAWhile(victim);
    case 'pause worker':
      return freezeAWhile(fleet.worker);
    case 'delay write-backs':
      return delayWriteBacks(fleet);
    case 'kill database':
      return restart(servers.database);
    case 'kill broker':
      return restart(servers.broker);
    case 'pause broker':
      await servers.broker?.pause();
      await pause(PAUSE_MS);
      servers.broker?.resume();
  }
};

/** Kills a server as if its machine had failed, and starts it again with the same data. */
export const restart = async (server: ServerControl | undefined): Promise<void> => {
  await server?.kill('SIGKILL');
  await server?.start();
};

const freezeAWhile = async (service: ServiceProcess): Promise<void> => {
  const pid = service.pid();
  await freeze(service);
  await pause(PAUSE_MS);
  if (service.pid() === pid) thaw(service);
};

/** Number of write-backs delayed together; a process has more connections than this. */
const DELAYED_AT_ONCE = 6;
/** How long to wait for further ones after the first, ms. */
const GATHERING_MS = 200;

/**
 * Write-backs reach the database only after their operations have been taken over: they are held while their process, which would renew its
 * leases, is paused. Random pauses seldom hit a process between these two moments.
 */
const delayWriteBacks = async ({ contexts: [, service], proxy }: FaultOptions['fleet']): Promise<void> => {
  if (proxy === undefined) return;
  const traps = Array.from({ length: DELAYED_AT_ONCE }, () => proxy.hold({ statement: WRITE_BACK }));
  await Promise.race([...traps, pause(PAUSE_MS)]);
  await pause(GATHERING_MS);
  await freezeAWhile(service);
  // Traps that have not caught anything yet must not hold a later statement.
  for (const trap of traps) void trap.then((held) => held.letGo());
};

/** Resolves when the process does nothing any more. Does nothing to a process that is just being restarted. */
export const freeze = async (service: ServiceProcess): Promise<void> => {
  const pid = service.pid();
  if (pid !== undefined) await freezeTree(pid).frozen;
};

/** Wakes a frozen process. Does nothing to one that is just being restarted. */
export const thaw = (service: ServiceProcess): void => {
  const pid = service.pid();
  if (pid !== undefined) thawTree(pid);
};

/** Does nothing to a process that is just being restarted. */
export const signal = (service: ServiceProcess, name: NodeJS.Signals): void => {
  const pid = service.pid();
  if (pid !== undefined) process.kill(pid, name);
};
