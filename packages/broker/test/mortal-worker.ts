import { once } from 'node:events';
import { createBroker, createResponder } from '../src';

/**
 * A worker in its own process. It prints `loaded`, waits for a line on its standard input, and prints `ready` when it owns partitions and
 * `handling` when it has a request. Arguments: address, topic prefix, and when it dies. The test kills it `before` it has answered, or
 * `patiently`: then its group would notice only after minutes. It kills itself `after` its answer of so many bytes is stored, which is before it
 * commits, or `of poison`. All but the first have an instance id, with which another process can succeed them.
 */
const ANSWER_BYTES = 10_000;

const main = async ([address = '', topicPrefix = '', when = '']: readonly string[]): Promise<void> => {
  const say = (word: string): void => void process.stdout.write(`${word}\n`);
  const ignore = (): void => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const patient = when === 'patiently';
  const instance = when === 'before' ? {} : { instanceId: 'rack-1' };
  const broker = createBroker({ brokers: [address], clientId: 'mortal', topicPrefix, ...instance }, log);
  const responder = createResponder(broker, {
    group: 'workers',
    workerId: 'mortal',
    sessionTimeoutMs: patient ? 180_000 : 6_000,
    heartbeatIntervalMs: patient ? 120_000 : 500,
    handle: (_envelope, payload) => {
      say('handling');
      if (when === 'of poison' && payload.toString() === 'poison') process.kill(process.pid, 'SIGKILL');
      return when === 'before' ? new Promise(ignore) : payload;
    },
    onEvent: (event) => {
      // It also sends rejoin signals, which are small.
      const isStored = event.type === 'sent' && event.bytes >= ANSWER_BYTES;
      if (when === 'after' && isStored) process.kill(process.pid, 'SIGKILL');
    },
  });
  say('loaded');
  await once(process.stdin, 'data');
  process.stdin.on('end', () => process.exit()); // the test is gone
  await responder.start();
  const timer = setInterval(() => {
    if (responder.status().partitions === 0) return;
    clearInterval(timer);
    say('ready');
  }, 20);
};

void main(process.argv.slice(2));
