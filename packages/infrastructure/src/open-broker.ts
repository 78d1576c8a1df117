import {
  type Broker,
  brokerSecurity,
  createBroker,
  createRequester,
  createResponder,
  instanceIdOf,
  type Requester,
  type Responder,
  type ResponderOptions,
} from '@decision/broker';
import { type ConsumerGroupKey, ServiceError, type TopicKey } from '@decision/contracts';
import { type brokerSettings, type Config, FailureLog, type Logger, StartRefusal } from '@decision/service-kit';
import { createRequesterObserver, createResponderObserver, exportResponder, measureRequester } from './observers';
import { type Opening } from './opening';

type BrokerConfig = Config<typeof brokerSettings> & { readonly host: string | undefined; readonly port: number };

/**
 * Opens the message broker; undefined if the configuration names none. Nothing connects yet. Throws `StartRefusal` if the settings of TLS
 * or SASL cannot be used.
 */
export const openBroker = ({
  name,
  config,
  logger,
  stopper,
}: Omit<Opening<BrokerConfig>, 'metrics'>): Broker | undefined => {
  if (config.mqBrokers.length === 0) return undefined;
  const security = brokerSecurity(config);
  if (!security.ok) throw new StartRefusal(security.faults.join(' '));
  const broker = createBroker(
    {
      brokers: config.mqBrokers,
      clientId: name,
      ...instanceIdOf(config),
      topicPrefix: config.mqTopicPrefix,
      messageBytes: configuredMessageBytes(config),
      ...security.settings,
    },
    logger,
  );
  stopper.add('broker', () => broker.close());
  return broker;
};

/** Largest message by topic, from the configuration. */
export const configuredMessageBytes = ({
  executionMessageBytes,
  logMessageBytes,
}: Pick<BrokerConfig, 'executionMessageBytes' | 'logMessageBytes'>): Readonly<Record<TopicKey, number>> => ({
  solution: executionMessageBytes,
  solutionResponse: executionMessageBytes,
  logs: logMessageBytes,
});

interface RequesterConfig {
  /** Number of partitions that the reply topic must have. */
  readonly maxWorkers: number;
}

/**
 * Creates the requester, which sends requests to workers and awaits their answers as a member of a consumer group, and watches its topics.
 * The service starts it once it listens on its own address.
 */
export const openRequester = (
  broker: Broker,
  group: ConsumerGroupKey,
  { config, metrics, stopper }: Pick<Opening<RequesterConfig>, 'config' | 'metrics' | 'stopper'>,
): Requester => {
  broker.watchTopics([{ topic: 'solution' }, { topic: 'solutionResponse', partitions: config.maxWorkers }]);
  const requester = createRequester(broker, {
    group,
    expectedPartitions: config.maxWorkers,
    onEvent: createRequesterObserver(metrics),
  });
  stopper.add('requester', (drainMs) => requester.stop({ drainMs }));
  return measureRequester(metrics, requester);
};

type Handle = ResponderOptions['handle'];

/**
 * Creates the responder, which answers requests as a member of a consumer group, with its metrics, and watches its topics. The caller starts and
 * stops it.
 */
export const openResponder = (
  broker: Broker,
  { logger, metrics }: Pick<Opening<unknown>, 'logger' | 'metrics'>,
  options: Omit<ResponderOptions, 'onEvent'>,
): Responder => {
  broker.watchTopics([{ topic: 'solution' }, { topic: 'solutionResponse' }]);
  const handle = loggingCauses(options.handle, logger);
  const responder = createResponder(broker, { ...options, handle, onEvent: createResponderObserver(metrics) });
  exportResponder(metrics, responder);
  return responder;
};

/** Logs the cause of a failure, since the answer has only its message. The responder itself logs errors that are not service errors. */
const loggingCauses = (handle: Handle, logger: Logger): Handle => {
  const failures = new FailureLog();
  const fail = ({ requestId, versionId }: Parameters<Handle>[0], error: unknown): never => {
    if (error instanceof ServiceError && error.cause !== undefined)
      failures.report(() => logger.child({ request_id: requestId, version_id: versionId }), error);
    throw error;
  };
  return (envelope, payload, letNextBegin) => {
    try {
      const answer = handle(envelope, payload, letNextBegin);
      return Buffer.isBuffer(answer) ? answer : answer.catch((error: unknown) => fail(envelope, error));
    } catch (error) {
      return fail(envelope, error);
    }
  };
};
