import { type Message, type Producer } from 'kafkajs';

/** Sends now if idle, else everything that queued as one batch once the acknowledgement comes: the least that a fair baseline does. */
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
