import { Kafka, logLevel } from 'kafkajs';
import { type TopicKey, topicName } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import type { Broker } from '../src';

/** A message as the broker stores it. */
export interface StoredMessage {
  readonly partition: number;
  readonly offset: number;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A plain client of the library that bypasses the code under test. */
export const plainClient = ({ settings }: Broker): Kafka =>
  new Kafka({ brokers: [...settings.brokers], clientId: 'onlooker', logLevel: logLevel.NOTHING });

const asText = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const PATIENCE_MS = 20_000;

/** End offset of each partition. A restarted broker does not lead its partitions at once, so the query is repeated. */
const endsOf = async (kafka: Kafka, topic: string): Promise<ReadonlyMap<number, number>> => {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const admin = kafka.admin();
    try {
      await admin.connect();
      return new Map((await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => [partition, Number(high)]));
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    } finally {
      await admin.disconnect();
    }
  }
};

/** All messages of a topic at the moment of the call, by partition and offset. */
export const storedMessages = async (broker: Broker, topic: TopicKey): Promise<StoredMessage[]> => {
  const name = topicName(broker.settings.topicPrefix, topic);
  const kafka = plainClient(broker);
  const ends = await endsOf(kafka, name);
  const stored: StoredMessage[] = [];
  const reached = new Map<number, number>();
  const consumer = kafka.consumer({ groupId: `${name}.onlooker.${Date.now()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic: name, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ partition, message }) => {
      const offset = Number(message.offset);
      reached.set(partition, offset + 1);
      if (offset < (ends.get(partition) ?? 0))
        stored.push({ partition, offset, value: String(message.value), headers: asText(message.headers ?? {}) });
      return Promise.resolve();
    },
  });
  await waitUntil(
    () => [...ends].every(([partition, end]) => (reached.get(partition) ?? 0) >= end),
    'all stored messages are read',
  );
  await consumer.disconnect();
  return stored.sort((a, b) => a.partition - b.partition || a.offset - b.offset);
};
