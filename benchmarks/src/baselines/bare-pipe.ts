import { randomUUID } from 'node:crypto';
import { type Broker, createBroker, createRequester, createResponder } from '@decision/broker';
import { waitUntil } from '@decision/local-stack';
import { serveBodies } from './serve-bodies';

/*
 * The least that a request costs which goes to a worker and back: HTTP, and Kafka twice by the same requester and responder as the services. Nobody
 * asks for a key, and nothing is parsed, resolved, decided, counted or recorded: the worker answers the body. Arguments: `gateway` or `worker`,
 * brokers, prefix of topics. Prints the address of the gateway, or that the worker reads.
 */

const PARTITIONS = 16;
const DEADLINE_MS = 60_000;
const silent = (): void => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };

const startGateway = async (broker: Broker): Promise<string> => {
  const requester = createRequester(broker, { group: 'gatewayReplies', expectedPartitions: PARTITIONS });
  const envelope = {
    ...{ kind: 'solve' as const, workspaceId: randomUUID(), versionId: randomUUID(), explain: 'none' as const },
    ...{ requestId: 'bare', traceparent: undefined },
  };
  await requester.start();
  await waitUntil(() => requester.status().ready);
  return serveBodies((body, reply) => {
    const receivedAt = Date.now();
    const asked = { ...envelope, receivedAt, deadline: receivedAt + DEADLINE_MS };
    requester.submit(asked, body, (error, answer) => reply(error === undefined ? 200 : 503, answer));
  });
};

const startWorker = async (broker: Broker): Promise<string> => {
  const responder = createResponder(broker, {
    ...{ group: 'workers', workerId: 'bare', sessionTimeoutMs: 60_000, heartbeatIntervalMs: 15_000 },
    handle: (_, payload) => payload,
  });
  await responder.start();
  await waitUntil(() => responder.status().ready);
  return 'reads';
};

const [role = '', brokers = '', topicPrefix = ''] = process.argv.slice(2);
const broker = createBroker({ brokers: brokers.split(','), clientId: `bare-${role}`, topicPrefix }, log);
broker
  .ensureTopics('local')
  .then(() => (role === 'gateway' ? startGateway(broker) : startWorker(broker)))
  .then((line) => process.stdout.write(`${line}\n`))
  .catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
process.once('SIGTERM', () => process.exit(0));
