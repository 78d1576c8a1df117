import { type Broker, createRequester, type Requester } from '@decision/broker';
import { type ConsumerGroupKey } from '@decision/contracts';
import { createRequesterObserver, measureRequester } from './measure/measured-requester';
import { type Opening } from './opening';

interface RequesterConfig {
  /** Partitions that the topic of answers must have. */
  readonly maxWorkers: number;
}

/**
 * Makes what asks workers and awaits their answers, as a member of a group; its topics are watched. It is not started: a service joins once it
 * listens on its own address.
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
