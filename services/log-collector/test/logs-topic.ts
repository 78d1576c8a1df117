import { type Broker, createBroker, type Producer } from '@decision/broker';
import { testStack } from '@decision/local-stack';
import { type Logger } from '@decision/service-kit';

/** A topic of decision logs that no other test uses. */
export interface LogsTopic {
  /** Prefix of the names of its topic and consumer groups. */
  readonly prefix: string;
  readonly producer: Producer;
  /** Opens a client of the topic. */
  openBroker(): Broker;
  /** Writes one message per value, JSON unless it is a buffer; resolves once the broker has them. */
  write(...values: readonly unknown[]): Promise<void>;
}

interface TopicOptions {
  /** Part of the topic's name, and the name of its clients. */
  readonly label: string;
  /** Version of the messages, which their header states. */
  readonly version: '1' | '2';
  readonly logger: Logger;
  /** Receives what closes each client. */
  readonly closing: (() => Promise<unknown>)[];
}

/** Creates a topic of decision logs, and a producer that writes to it. */
export const openLogsTopic = async ({ label, version, logger, closing }: TopicOptions): Promise<LogsTopic> => {
  const prefix = `${testStack().uniqueName(label)}.`;
  const openBroker = (): Broker => {
    const broker = createBroker(
      { brokers: testStack().mqBrokers.split(','), clientId: label, topicPrefix: prefix },
      logger,
    );
    closing.push(() => broker.close());
    return broker;
  };
  const broker = openBroker();
  await broker.ensureTopics('local', { topics: ['logs'] });
  const producer = broker.createProducer();
  await producer.connect();
  const write = (value: unknown): Promise<void> =>
    producer.send({
      ...{ topic: 'logs', partition: undefined, headers: { v: version }, deadline: Date.now() + 30_000 },
      value: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
    });
  return { prefix, producer, openBroker, write: async (...values) => void (await Promise.all(values.map(write))) };
};
