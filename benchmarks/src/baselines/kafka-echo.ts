import { type Consumer, Kafka, logLevel, type Producer } from 'kafkajs';
import { startChild } from '../child';
import { type Measurement, summarise } from '../measurement';
import { createSingleFlightSender } from './single-flight-sender';

/** A bare Kafka echo: this process sends requests, another answers, with batched sends on both sides, and nothing else. */
interface KafkaEcho {
  /** Keeps `inFlight` requests in flight for so many seconds, or fewer if `perSecond` limits them. */
  measure(inFlight: number, seconds: number, value: Buffer, perSecond?: number): Promise<Measurement>;
  stop(): Promise<void>;
}

const PARTITIONS = 16;
const SETTLE_MS = 3_000;

export const startKafkaEcho = async (brokers: string, prefix: string): Promise<KafkaEcho> => {
  const [requests, replies] = [`${prefix}echo-requests`, `${prefix}echo-replies`];
  const kafka = new Kafka({ clientId: 'echo', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  await createTopics(kafka, [requests, replies]);
  const worker = await startChild('src/baselines/kafka-echo-worker.ts', [brokers, requests, replies]);
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
  await producer.connect();
  const waiting = new Map<string, () => void>();
  const consumer = await consumeReplies(kafka, replies, waiting);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return {
    measure: (inFlight, seconds, value, perSecond = Infinity) =>
      measure(producer, requests, waiting, { inFlight, seconds, value, perSecond }),
    stop: async () => {
      await Promise.all([consumer.disconnect(), producer.disconnect(), worker.stop()]);
    },
  };
};

const createTopics = async (kafka: Kafka, topics: readonly string[]): Promise<void> => {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({
    topics: topics.map((topic) => ({ topic, numPartitions: PARTITIONS })),
    waitForLeaders: true,
  });
  await admin.disconnect();
};

const consumeReplies = async (kafka: Kafka, topic: string, waiting: Map<string, () => void>): Promise<Consumer> => {
  const consumer = kafka.consumer({ groupId: `${topic}.echo`, allowAutoTopicCreation: false, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: false });
  await consumer.run({
    autoCommit: false,
    eachBatch: ({ batch }) => {
      for (const { headers } of batch.messages) {
        const id = String(headers?.['id']);
        waiting.get(id)?.();
        waiting.delete(id);
      }
      return Promise.resolve();
    },
  });
  return consumer;
};

interface Load {
  readonly inFlight: number;
  readonly seconds: number;
  readonly value: Buffer;
  readonly perSecond: number;
}

const measure = async (
  producer: Producer,
  topic: string,
  waiting: Map<string, () => void>,
  load: Load,
): Promise<Measurement> => {
  const send = createSingleFlightSender(producer, topic);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endAt = startedAt + load.seconds * 1000;
  let sequence = 0;
  let turn = 0;
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      const id = `${sequence}`;
      const partition = sequence % PARTITIONS;
      sequence += 1;
      waiting.set(id, resolve);
      send({ value: load.value, partition, headers: { id, 'reply-partition': String(partition) } });
    });
  const loop = async (): Promise<void> => {
    while (performance.now() < endAt) {
      // The time of each request follows from its number, so that all loops together keep the pace.
      const due = startedAt + (turn / load.perSecond) * 1000;
      turn += 1;
      if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
      const askedAt = performance.now();
      await ask();
      latencies.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: load.inFlight }, loop));
  return summarise(latencies, (performance.now() - startedAt) / 1000);
};
