import { randomUUID } from 'node:crypto';
import { ServiceError, type TopicKey } from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import {
  type Broker,
  type BrokerLog,
  createBroker,
  createRequester,
  createResponder,
  type RequestEnvelope,
  type Requester,
  type RequesterEvent,
  type RequesterOptions,
  type Responder,
  type ResponderEvent,
  type ResponderOptions,
} from '../src';

/** How long a test waits for an event that takes milliseconds on an idle machine. */
export const PATIENCE_MS = 100_000;

export const silentLog: BrokerLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A broker with a topic prefix of its own, on the shared test servers unless an address is given. */
export const testBroker = (label: string, address = testStack().mqBrokers, log = silentLog): Broker =>
  createBroker({ brokers: [address], clientId: label, topicPrefix: `${label}-${randomUUID().slice(0, 8)}.` }, log);

interface TestBrokerOptions {
  /** Called before each test. Default: the shared test servers. */
  readonly address?: () => string;
  readonly log?: BrokerLog;
  /** Topics to create. Default: those of requests and answers. */
  readonly topics?: readonly TopicKey[];
}

/**
 * Gives each test of this block a broker of {@link testBroker} with the topics of requests and answers, and closes it after the test.
 */
export const withBroker = (
  label: string,
  give: (broker: Broker) => void,
  { address, log, topics = ['solution', 'solutionResponse'] }: TestBrokerOptions = {},
): void => {
  let broker: Broker | undefined;
  beforeEach(async () => {
    broker = testBroker(label, address?.(), log);
    give(broker);
    if (topics.length > 0) await createTestTopics(broker, topics);
  });
  afterEach(() => broker?.close());
};

/** Another client of the same topics, like another process. It is closed with the first. */
export const anotherClient = (broker: Broker, log = silentLog): Broker => {
  const other = createBroker(broker.settings, log);
  broker.adopt({ stop: () => other.close() });
  return other;
};

/** An envelope whose deadline is the given time ahead. */
export const envelope = (deadlineInMs = PATIENCE_MS): RequestEnvelope => ({
  deadline: Date.now() + deadlineInMs,
  kind: 'solve',
  workspaceId: 'workspace',
  versionId: 'version',
  receivedAt: 1_763_000_000_000,
  explain: 'none',
  requestId: randomUUID(),
  traceparent: undefined,
});

/** The code of the service error that a promise is rejected with; fails if it is not. */
export const errorCodeOf = async (work: Promise<unknown>): Promise<string> => (await serviceErrorOf(work)).code;

export const serviceErrorOf = async (work: Promise<unknown>): Promise<ServiceError> => {
  const outcome = await work.then(
    () => 'fulfilled',
    (error: unknown) => error,
  );
  if (outcome instanceof ServiceError) return outcome;
  throw new Error('It was not rejected with a service error.', { cause: outcome });
};

/** A requester and its recorded events. */
export interface TestRequester extends Requester {
  readonly events: RequesterEvent[];
  count(type: RequesterEvent['type']): number;
}

/** A started requester, ready unless `untilReady` is false. */
export const startRequester = async (
  broker: Broker,
  options: Partial<RequesterOptions> = {},
  untilReady = true,
): Promise<TestRequester> => {
  const events: RequesterEvent[] = [];
  const requester = createRequester(broker, {
    group: 'gatewayReplies',
    expectedPartitions: 1,
    sessionTimeoutMs: 10_000,
    heartbeatIntervalMs: 1_000,
    onEvent: (event) => events.push(event),
    ...options,
  });
  await requester.start();
  if (untilReady) await waitUntil(() => requester.status().ready, 'the requester is ready');
  return {
    events,
    count: (type) => events.filter((event) => event.type === type).length,
    start: () => requester.start(),
    status: () => requester.status(),
    queued: () => requester.queued(),
    request: (head, payload) => requester.request(head, payload),
    submit: (head, payload, settled) => requester.submit(head, payload, settled),
    stop: (how) => requester.stop(how),
  };
};

/** The answer to a payload; a slow machine may fail to answer at first, so the request is sent again while there is no broker, ten times. */
export const answerTo = async (requester: Requester, payload: Buffer): Promise<Buffer> => {
  for (let attempt = 1; ; attempt += 1) {
    await waitUntil(() => requester.status().ready, 'the requester is ready');
    try {
      return await requester.request(envelope(), payload);
    } catch (error) {
      const isAway = error instanceof ServiceError && error.code === 'broker_unavailable';
      if (!isAway || attempt === 10) throw error;
    }
  }
};

/** A responder and its recorded events. */
export interface TestResponder extends Responder {
  readonly events: ResponderEvent[];
  count(type: ResponderEvent['type']): number;
}

/** A started responder that echoes by default, and owns partitions unless `untilReady` is false. */
export const startResponder = async (
  broker: Broker,
  options: Partial<ResponderOptions> = {},
  untilReady = true,
): Promise<TestResponder> => {
  const events: ResponderEvent[] = [];
  const responder = createResponder(broker, {
    group: 'workers',
    workerId: `worker-${randomUUID().slice(0, 8)}`,
    sessionTimeoutMs: 10_000,
    heartbeatIntervalMs: 500,
    handle: (_envelope, payload) => payload,
    onEvent: (event) => events.push(event),
    ...options,
  });
  await responder.start();
  if (untilReady)
    await waitUntil(
      () => responder.status().ready && responder.status().partitions > 0,
      'the responder owns partitions',
    );
  return {
    events,
    count: (type) => events.filter((event) => event.type === type).length,
    start: () => responder.start(),
    status: () => responder.status(),
    lag: () => responder.lag(),
    stop: (how) => responder.stop(how),
  };
};

/** Creates the two topics of requests and answers, with few partitions, and waits until they are writable. A slow broker gets several attempts. */
export const createTestTopics = (
  broker: Broker,
  topics: readonly TopicKey[] = ['solution', 'solutionResponse'],
): Promise<void> =>
  waitUntil(
    () =>
      broker.ensureTopics('local', { topics }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ServiceError && error.code === 'broker_unavailable') return false;
          throw error;
        },
      ),
    'the topics are there',
  );
