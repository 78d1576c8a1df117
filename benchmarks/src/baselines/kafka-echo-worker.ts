import { Kafka, logLevel } from 'kafkajs';
import { createSingleFlightSender } from './single-flight-sender';

/** The far side of the bare Kafka echo: answers each message with its own value. Arguments: brokers, request topic, reply topic. */
const [brokers = '', requests = '', replies = ''] = process.argv.slice(2);
const kafka = new Kafka({ clientId: 'echo-worker', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
const consumer = kafka.consumer({ groupId: `${requests}.echo`, allowAutoTopicCreation: false, maxWaitTimeInMs: 100 });

const run = async (): Promise<void> => {
  await producer.connect();
  const send = createSingleFlightSender(producer, replies);
  await consumer.connect();
  await consumer.subscribe({ topics: [requests], fromBeginning: false });
  consumer.on(consumer.events.GROUP_JOIN, () => process.stdout.write('joined\n'));
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: true,
    eachBatch: ({ batch }) => {
      for (const message of batch.messages) {
        send({
          value: message.value,
          headers: message.headers ?? {},
          partition: Number(String(message.headers?.['reply-partition'])),
        });
      }
      return Promise.resolve();
    },
  });
};

run().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
process.once('SIGTERM', () => process.exit(0));
