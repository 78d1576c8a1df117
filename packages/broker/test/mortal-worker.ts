import { createBroker, createResponder } from '../src';

/**
 * A worker in a process of its own, that the test kills. It prints `ready` when it owns partitions and `handling` when it has
 * a request. Arguments: address, topic prefix, and when it dies: `before` it has answered, `after`, or by itself `of poison`.
 */
const main = async ([address = '', topicPrefix = '', when = '']: readonly string[]): Promise<void> => {
  const say = (word: string): void => void process.stdout.write(`${word}\n`);
  const ignore = (): void => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const broker = createBroker({ brokers: [address], clientId: 'mortal', topicPrefix }, log);
  const responder = createResponder(broker, {
    group: 'workers',
    workerId: 'mortal',
    sessionTimeoutMs: 6_000,
    heartbeatIntervalMs: 500,
    handle: (_envelope, payload) => {
      say('handling');
      if (when === 'of poison' && payload.toString() === 'poison') process.kill(process.pid, 'SIGKILL');
      return when === 'before' ? new Promise(ignore) : payload;
    },
    onEvent: ({ type }) => {
      if (type === 'sent') say('answered');
    },
  });
  await responder.start();
  const timer = setInterval(() => {
    if (responder.status().partitions === 0) return;
    clearInterval(timer);
    say('ready');
  }, 20);
};

void main(process.argv.slice(2));
