import { type Subscriber, type SubscriberStatus } from '@decision/broker';
import { type Metrics } from '@decision/service-kit';

interface Consumer {
  /** Prefix of the names of the gauges. */
  readonly prefix: string;
  /** What happens to messages, such as `stored`. */
  readonly done: string;
  readonly subscriber: Pick<Subscriber, 'lag'>;
  readonly waiting: () => Pick<SubscriberStatus, 'queued' | 'queuedBytes' | 'oldestAt'>;
  readonly now: () => number;
}

/** Exports the pending messages of a consumer of `logs`, and those not yet fetched, as gauges. */
export const exportConsumer = (metrics: Metrics, { prefix, done, subscriber, waiting, now }: Consumer): void => {
  metrics.gauge({
    name: `${prefix}_queued_messages`,
    help: `Messages that were fetched and are not ${done}.`,
    collect() {
      this.set(waiting().queued);
    },
  });
  metrics.gauge({
    name: `${prefix}_queued_bytes`,
    help: 'Bytes of these messages.',
    collect() {
      this.set(waiting().queuedBytes);
    },
  });
  metrics.gauge({
    name: `${prefix}_oldest_seconds`,
    help: 'Age of the oldest of these messages; 0 if there is none.',
    collect() {
      const { oldestAt } = waiting();
      this.set(oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt) / 1_000);
    },
  });
  metrics.gauge({
    name: `${prefix}_lag_messages`,
    help: `Messages of each partition that were written and are not ${done}; absent while the broker does not answer.`,
    labelNames: ['partition'],
    async collect() {
      this.reset();
      const lag = await subscriber.lag().catch(() => new Map<number, number>());
      for (const [partition, messages] of lag) this.set({ partition: String(partition) }, messages);
    },
  });
};
