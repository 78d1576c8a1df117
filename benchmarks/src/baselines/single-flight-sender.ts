import { type Message, type Producer } from 'kafkajs';

/** Sends at once if idle, otherwise the whole queue as one batch when the acknowledgement arrives: the minimum for a fair baseline. */
export const createSingleFlightSender = (producer: Producer, topic: string): ((message: Message) => void) => {
  let queue: Message[] = [];
  let sending = false;
  const flush = async (): Promise<void> => {
    sending = true;
    while (queue.length > 0) {
      const messages = queue;
      queue = [];
      await producer.send({ topic, acks: -1, messages });
    }
    sending = false;
  };
  return (message) => {
    queue.push(message);
    if (!sending) {
      flush().catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      });
    }
  };
};
