import { replyTiming } from '../requester/reply-timing';
import { consumerConfig } from './consumer-session';

it('asks the library for what the specification says of the consumer of answers', () => {
  const config = consumerConfig({ groupId: 'hps-response-consumer', rebalanceTimeoutMs: 21_000, ...replyTiming({}) });
  expect(config).toMatchObject({
    groupId: 'hps-response-consumer',
    sessionTimeout: 60_000,
    heartbeatInterval: 15_000,
    metadataMaxAge: 30_000,
    allowAutoTopicCreation: false,
  });
});

it('passes the timing of workers on', () => {
  const timing = { sessionTimeoutMs: 30_000, heartbeatIntervalMs: 3_000, metadataRefreshMs: 5_000 };
  expect(replyTiming(timing)).toEqual(timing);
  expect(consumerConfig({ groupId: 'generic-workers', rebalanceTimeoutMs: 9_000, ...timing })).toMatchObject({
    sessionTimeout: 30_000,
    heartbeatInterval: 3_000,
    rebalanceTimeout: 9_000,
    metadataMaxAge: 5_000,
  });
});
