import { type ClientContext, readFrom, submitTo } from './client';
import { explainHistory, type Verdict } from './explain-history';
import { type History, type Operation } from './history';
import { HistoryError } from './history-error';
import { ordersIn } from './read-answer';
import { callJson } from './service-call';
import { CONTEXT_SLUG, decidePair, FACTS } from './watched-context';
import { type WatchedFleet } from './watched-fleet';

interface RecorderOptions {
  readonly fleet: Pick<WatchedFleet, 'apiKey' | 'contexts'>;
  /** Prefix of the ids of instances, which do not exist yet. */
  readonly instancePrefix: string;
  readonly instances: number;
}

/** History of one instance, and the findings about it. */
export interface WatchedHistory {
  readonly instanceId: string;
  readonly history: History;
  readonly verdict: Verdict;
}

/** Records the answers to clients. */
export class Recorder {
  readonly context: ClientContext;
  private readonly operations = new Map<string, Operation[]>();
  private values = 0;

  constructor({ fleet, instancePrefix, instances }: RecorderOptions) {
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
   * The last operations on an instance, after all faults have ended: a read, and a submission that must succeed, since nobody holds the instance;
   * then the orders that the service stored.
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
