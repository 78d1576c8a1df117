import { KafkaJSConnectionError, KafkaJSProtocolError } from 'kafkajs';
import { findBrokerProblems } from './plan-topics';

const refusing = (error: Error) => ({ describeConfigs: () => Promise.reject(error) });

it('says what to look after if the brokers do not show their settings', async () => {
  const refusal = { name: 'E', message: 'Not authorized', type: 'CLUSTER_AUTHORIZATION_FAILED' };
  const found = await findBrokerProblems(refusing(new KafkaJSProtocolError(refusal)), [1], 100);
  expect(found).toEqual([
    {
      isWarning: true,
      problem:
        'The settings of the brokers could not be read (Not authorized (CLUSTER_AUTHORIZATION_FAILED)): see that message.max.bytes is at least 100, ' +
        'and replica.fetch.max.bytes and replica.fetch.response.max.bytes at least 200, or allow DescribeConfigs on the cluster.',
    },
  ]);
});

it('fails if no broker answers', async () => {
  const lost = new KafkaJSConnectionError('Connection lost');
  await expect(findBrokerProblems(refusing(lost), [1], 100)).rejects.toBe(lost);
});
