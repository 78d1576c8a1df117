import { consumerGroupName, DEFAULT_TOPIC_PREFIX, TOPIC_PREFIX_PATTERN, topicName, topics } from './topics';

describe('topic and group names', () => {
  it('carry the prefix, and an empty one disables it', () => {
    expect(topicName('team.', 'solutionResponse')).toBe('team.solution-response');
    expect(topicName('', 'solution')).toBe('solution');
    expect(consumerGroupName('team.', 'workers')).toBe('team.generic-workers');
    expect(consumerGroupName('', 'gatewayReplies')).toBe('hps-response-consumer');
    expect(consumerGroupName('team.', 'collectors', 'audit')).toBe('team.collector-consumers-audit');
  });

  it('have a default prefix that ends in a dot and is legal', () => {
    expect(DEFAULT_TOPIC_PREFIX).toMatch(/\.$/);
    expect(DEFAULT_TOPIC_PREFIX).toMatch(TOPIC_PREFIX_PATTERN);
  });

  it('keep the sizes that the specification gives', () => {
    expect(topics.solution.maxMessageBytes).toBe(33_554_432);
    expect(topics.solutionResponse.maxMessageBytes).toBe(33_554_432);
    expect(topics.logs.maxMessageBytes).toBe(67_108_864);
    expect(topics.solution.retentionMs).toBe(300_000);
  });
});
