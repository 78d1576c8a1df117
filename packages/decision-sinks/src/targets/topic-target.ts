import { type Broker } from '@decision/broker';
import { ServiceError } from '@decision/contracts';
import { jsonOf, type SinkRecord } from '../reading/sink-record';
import { type TargetSettings } from '../reading/sink-settings';
import { type Target } from './target';

type TopicSettings = Extract<TargetSettings, { kind: 'kafka' }>;

/** Maximum messages and bytes of one sink that wait for the broker. */
const QUEUE = { maxQueuedMessages: 20_000, maxQueuedBytes: 268_435_456 } as const;
/** How long a connection may take before the sink counts as away, ms. */
const DRAIN_MS = 1_000;

/** Writes records to a topic of the same brokers, one message each; decisions of one list go to the same partition. */
export const createTopicTarget = ({ topic }: TopicSettings, timeoutMs: number, broker: Broker): Target => {
  const producer = broker.createProducer({ ...QUEUE, writesTo: topic });
  // It keeps connecting in the background.
  const connecting = producer.connect().catch(() => undefined);
  const sendOne = ({ id, decisionId, ...record }: SinkRecord) =>
    producer.send({
      // Its bounds suffice: they are those of the topic that the decision came from.
      topic: 'logs',
      partition: undefined,
      key: decisionId,
      headers: { id, 'content-type': 'application/json' },
      value: Buffer.from(jsonOf({ id, decisionId, ...record })),
      deadline: Date.now() + timeoutMs,
    });
  return {
    send: async (records) => {
      const results = await Promise.allSettled(records.map(sendOne));
      const failed = results.flatMap((result, at) =>
        result.status === 'rejected' ? [{ at, error: result.reason as unknown }] : [],
      );
      if (failed.length === 0) return { kind: 'accepted' };
      const refused = failed.filter(({ error }) => error instanceof ServiceError && error.code === 'payload_too_large');
      const again = failed.filter((one) => !refused.includes(one));
      const [first] = again;
      return {
        kind: 'partly',
        refused: refused.map(({ at }) => ({ at, reason: `It is larger than the topic "${topic}" accepts` })),
        again: again.map(({ at }) => at),
        isFinal: true,
        reason: `The topic "${topic}" accepted ${records.length - failed.length} of ${records.length} records: ${
          producer.reason() ?? (first?.error instanceof ServiceError ? first.error.message : 'others are too large')
        }`,
      };
    },
    stop: async () => {
      await producer.stop({ drainMs: DRAIN_MS });
      await connecting;
    },
  };
};
