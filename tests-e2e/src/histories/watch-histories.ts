import { setTimeout as pause } from 'node:timers/promises';
import { type ClientContext, readFrom, runClient, submitTo } from './client';
import { explainHistory, type Verdict } from './explain-history';
import { type Fault, inflict, type PausableServer } from './faults';
import { type History, type Operation } from './history';
import { HistoryError } from './history-error';
import { ordersIn } from './read-answer';
import { seededRandom, type SeededRandom } from './seeded-random';
import { callJson } from './service-call';
import { CONTEXT_SLUG, decidePair, FACTS } from './watched-context';
import { LEASE_MS, type WatchedFleet } from './watched-fleet';

export interface WatchOptions {
  readonly fleet: Pick<WatchedFleet, 'apiKey' | 'contexts' | 'worker' | 'ready'>;
  /** What ids of instances begin with; they do not exist yet. */
  readonly instancePrefix: string;
  readonly seed: number;
  readonly clients: number;
  readonly instances: number;
  /** How long clients are at work, ms. */
  readonly durationMs: number;
  /** One is done at a time, in turns, with a short rest between; the processes of contexts-api take turns too, the first one first. Empty: none. */
  readonly faults: readonly Fault[];
  /** For the fault of the broker. */
  readonly broker?: PausableServer | undefined;
}

/** What was seen of one instance, and what there is to say of it. */
export interface WatchedHistory {
  readonly instanceId: string;
  readonly history: History;
  readonly verdict: Verdict;
}

export interface WatchReport {
  readonly histories: readonly WatchedHistory[];
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
}

/** Rest between two faults, ms: from half of it to one and a half. */
const REST_MS = 800;
/** After the last client has ended, leases run out and processes start again, ms. */
const HEALING_MS = 2 * LEASE_MS;

/**
 * Lets clients submit and read at random while faults are done to the fleet, records every answer, and explains the history of each instance. Chance
 * is seeded; which requests overlap is up to the machine. Throws {@link HistoryError} where the fleet does not recover.
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
  { fleet, broker, faults }: WatchOptions,
  random: SeededRandom,
  isOver: () => boolean,
): Promise<WatchReport['faults']> => {
  const done: Partial<Record<Fault, number>> = {};
  for (let turn = 0; faults.length > 0; turn += 1) {
    await pause(REST_MS * (0.5 + random.next()));
    const fault = faults[turn % faults.length];
    if (isOver() || fault === undefined) break;
    const victim = fleet.contexts[Math.floor(turn / faults.length) % 2 === 0 ? 0 : 1];
    await inflict(fault, { fleet, broker, victim });
    done[fault] = (done[fault] ?? 0) + 1;
  }
  return done;
};

/** Keeps what clients were answered. */
class Recorder {
  readonly context: ClientContext;
  private readonly operations = new Map<string, Operation[]>();
  private values = 0;

  constructor({ fleet, instancePrefix, instances }: WatchOptions) {
    const [first, second] = fleet.contexts;
    this.context = {
      apiKey: fleet.apiKey,
      urls: [first.url, second.url],
      instanceIds: [
        `${instancePrefix}-0`,
        ...Array.from({ length: instances - 1 }, (_, index) => `${instancePrefix}-${index + 1}`),
      ],
      nextValue: () => (this.values += 1),
      now: () => performance.now(),
      record: (instanceId, operation) => void this.of(instanceId).push(operation),
    };
  }

  /**
   * The last operations on an instance, once nothing is done to the fleet any more: a read, and a submission that must succeed, since nobody holds the
   * instance; then the orders that the service kept.
   */
  async conclude(instanceId: string): Promise<WatchedHistory> {
    const [url] = this.context.urls;
    await readFrom(this.context, url, { instanceId, name: 'last' });
    const writes = Object.fromEntries(FACTS.map((fact) => [fact, this.context.nextValue()]));
    const answer = await submitTo(this.context, url, { instanceId, name: 'last', writes });
    if (answer?.status !== 200)
      throw new HistoryError(`${instanceId} did not recover: ${answer?.status} ${JSON.stringify(answer?.body)}`);
    await readFrom(this.context, url, { instanceId, name: 'very last' });
    const path = `${url}/api/v1/contexts/${CONTEXT_SLUG}/${instanceId}/history`;
    const orders = ordersIn(await callJson(path, { method: 'GET', apiKey: this.context.apiKey }));
    if (orders === undefined) throw new HistoryError(`The history of ${instanceId} cannot be read.`);
    const history = { operations: this.of(instanceId), orders };
    return { instanceId, history, verdict: explainHistory(history, decidePair) };
  }

  private of(instanceId: string): Operation[] {
    const known = this.operations.get(instanceId) ?? [];
    this.operations.set(instanceId, known);
    return known;
  }
}
