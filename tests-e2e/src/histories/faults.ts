import { setTimeout as pause } from 'node:timers/promises';
import { type ServiceProcess } from '@decision/launcher';
import { LEASE_MS, type WatchedFleet } from './watched-fleet';

/** Freezes a server and wakes it again. */
export interface PausableServer {
  pause(): void;
  resume(): void;
}

export type Fault = 'kill contexts-api' | 'kill worker' | 'pause contexts-api' | 'pause worker' | 'pause broker';

export const SERVICE_FAULTS: readonly [Fault, ...Fault[]] = [
  'pause contexts-api',
  'kill contexts-api',
  'kill worker',
  'pause worker',
];

export interface FaultOptions {
  readonly fleet: Pick<WatchedFleet, 'contexts' | 'worker'>;
  readonly broker: PausableServer | undefined;
  /** Which process of contexts-api is meant. */
  readonly victim: ServiceProcess;
}

/** Long enough that others take over what a process had admitted. */
const PAUSE_MS = 2.5 * LEASE_MS;

/** Does one fault; resolves once it is over. A process that was killed is started again by its launcher. */
export const inflict = async (fault: Fault, { fleet, broker, victim }: FaultOptions): Promise<void> => {
  switch (fault) {
    case 'kill contexts-api':
      return signal(victim, 'SIGKILL');
    case 'kill worker':
      return signal(fleet.worker, 'SIGKILL');
    case 'pause contexts-api':
      return freeze(victim);
    case 'pause worker':
      return freeze(fleet.worker);
    case 'pause broker':
      broker?.pause();
      await pause(PAUSE_MS);
      broker?.resume();
  }
};

const freeze = async (service: ServiceProcess): Promise<void> => {
  const pid = service.pid();
  signal(service, 'SIGSTOP');
  await pause(PAUSE_MS);
  if (service.pid() === pid) signal(service, 'SIGCONT');
};

/** A process that is just being started again is left alone. */
export const signal = (service: ServiceProcess, name: NodeJS.Signals): void => {
  const pid = service.pid();
  if (pid !== undefined) process.kill(pid, name);
};
