import { type Cluster, KafkaJSProtocolError } from 'kafkajs';
import { replyTiming } from '../requester/reply-partitions';
import { consumerConfig, leaveFor, leaveForPredecessors } from './consumer-session';

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

const errorOf = (type: string): Error =>
  new KafkaJSProtocolError({ name: 'E', message: type, type, retriable: true } as unknown as Error); // copied from any given object

/** A coordinator that first fails with these errors, and a record of its calls. */
const coordinating = (failures: Error[], members: readonly { memberId: string; clientId: string }[] = []) => {
  const left: string[] = [];
  const fail = (): void => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  };
  const coordinator = {
    leaveGroup: ({ memberId }: { readonly memberId: string }) =>
      Promise.resolve().then(() => {
        fail();
        left.push(memberId);
      }),
    describeGroups: () =>
      Promise.resolve().then(() => {
        fail();
        return { groups: [{ members }] };
      }),
  };
  // The part of a cluster that is called.
  const cluster = { findGroupCoordinator: () => Promise.resolve(coordinator) } as unknown as Cluster;
  return { cluster, left };
};

it.each(['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP'])(
  'asks again while the broker answers %s',
  async (type) => {
    const { cluster, left } = coordinating([errorOf(type), errorOf(type)]);
    await leaveFor(cluster, 'g', 'm-1');
    expect(left).toEqual(['m-1']);
  },
);

it('asks once if the member is not known any more', async () => {
  const { cluster, left } = coordinating([errorOf('UNKNOWN_MEMBER_ID')]);
  await expect(leaveFor(cluster, 'g', 'm-1')).rejects.toThrow('UNKNOWN_MEMBER_ID');
  expect(left).toEqual([]);
});

it('removes the members of one name only', async () => {
  const members = [
    { memberId: 'm-1', clientId: 'worker@a' },
    { memberId: 'm-2', clientId: 'worker@b' },
    { memberId: 'm-3', clientId: 'worker@a' },
  ];
  const { cluster, left } = coordinating([errorOf('GROUP_LOAD_IN_PROGRESS')], members);
  await leaveForPredecessors(cluster, 'g', 'worker@a');
  expect(left).toEqual(['m-1', 'm-3']);
});
