import { setTimeout as pause } from 'node:timers/promises';
import { runClient } from './client';
import { type Fault, inflict, type FaultyServers } from './faults';
import { Recorder, type WatchedHistory } from './recorder';
import { seededRandom, type SeededRandom } from './seeded-random';
import { LEASE_MS, type WatchedFleet } from './watched-fleet';

export interface WatchOptions {
  readonly fleet: Pick<WatchedFleet, 'apiKey' | 'contexts' | 'worker' | 'proxy' | 'ready'>;
  /** Prefix of the ids of instances, which do not exist yet. */
  readonly instancePrefix: string;
  readonly seed: number;
  readonly clients: number;
  readonly instances: number;
  /** How long clients run, ms. */
  readonly durationMs: number;
  /** Inflicted one at a time, in turns, with a short rest between; the processes of contexts-api take turns too, the first one first. Empty: none. */
  readonly faults: readonly Fault[];
  /** Servers for faults; they must not serve anybody else. */
  readonly servers?: FaultyServers;
}

export interface WatchReport {
  readonly histories: readonly WatchedHistory[];
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
}

/** Rest between two faults, ms: from half of it to one and a half. */
const REST_MS = 800;
/** Time for leases to expire and processes to restart after the last client has ended, ms. */
const HEALING_MS = 2 * LEASE_MS;

/**
 * Lets clients submit and read at random while the fleet suffers faults, records every answer, and explains the history of each instance. The
 * choices are seeded; which requests overlap depends on the machine. Throws `HistoryError` if the fleet does not recover.
 */
export const watchHistories = async (options: WatchOptions): Promise<WatchReport> => {
  const { fleet, seed, clients, durationMs } = options;
  const recorder = new Recorder(options);
  const end = Date.now() + durationMs;
  const isOver = (): boolean => Date.now() >= end;
  const clientRuns = Array.from({ length: clients }, (_, index) =>
    runClient(recorder.context, { name: `${index}`, random: seededRandom(seed + 1 + index), isOver }),
  );
  const faults = await inflictAll(options, seededRandom(seed), isOver);
  await Promise.all(clientRuns);
  await fleet.ready();
  await pause(HEALING_MS);
  const histories = await Promise.all(recorder.context.instanceIds.map((instanceId) => recorder.conclude(instanceId)));
  return { histories, faults };
};

const inflictAll = async (
  { fleet, servers = {}, faults }: WatchOptions,
  random: SeededRandom,
  isOver: () => boolean,
): Promise<WatchReport['faults']> => {
  const done: Partial<Record<Fault, number>> = {};
  for (let turn = 0; faults.length > 0; turn += 1) {
    await pause(REST_MS * (0.5 + random.next()));
    const fault = faults[turn % faults.length];
    if (isOver() || fault === undefined) break;
    const victim = fleet.contexts[Math.floor(turn / faults.length) % 2 === 0 ? 0 : 1];
    await inflict(fault, { fleet, servers, victim });
    done[fault] = (done[fault] ?? 0) + 1;
  }
  return done;
};
