import { createMetrics, type Metrics } from '@decision/service-kit';
import {
  createCacheObserver,
  createDecisionLogObserver,
  createRequesterObserver,
  createResponderObserver,
  exportConnections,
  exportQueue,
  exportResponder,
} from './observers';

let metrics: Metrics;
beforeEach(() => {
  metrics = createMetrics('test');
});

/** The value of the series that has these labels and that of the service, in whatever order. */
const valueOf = async (name: string, labels = ''): Promise<number | undefined> => {
  const wanted = [...labels.split(',').filter(Boolean), 'service="test"'].sort().join();
  for (const line of (await metrics.render()).text.split('\n')) {
    const [, found, of = '', value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (found === name && of.split(',').sort().join() === wanted) return Number(value);
  }
  return undefined;
};

describe('the responder', () => {
  it('measures waits and handling in seconds, and counts requests by outcome', async () => {
    const observe = createResponderObserver(metrics);
    observe({ type: 'answered', errorCode: undefined, waitedMs: 20, handledMs: 3_000 });
    observe({ type: 'answered', errorCode: 'evaluation_failed', waitedMs: 30, handledMs: 0.2 });
    observe({ type: 'request_expired' });
    observe({ type: 'request_malformed', answered: false });
    observe({ type: 'reply_lost', code: 'deadline_exceeded' });
    expect(await valueOf('decision_responder_wait_seconds_sum')).toBeCloseTo(0.05);
    expect(await valueOf('decision_responder_handling_seconds_sum')).toBeCloseTo(3.0002);
    expect(await valueOf('decision_responder_handling_seconds_bucket', 'le="0.00025"')).toBe(1);
    for (const outcome of ['answered', 'evaluation_failed', 'expired', 'malformed'])
      expect(await valueOf('decision_responder_requests_total', `outcome="${outcome}"`)).toBe(1);
    expect(await valueOf('decision_responder_lost_replies_total', 'code="deadline_exceeded"')).toBe(1);
    expect(await valueOf('decision_responder_events_total', 'type="answered"')).toBe(2);
  });

  it('exports its status at the time of the scrape', async () => {
    let partitions = 3;
    const status = () => ({ ready: true, partitions, queued: 7, lastHeartbeatAt: 5_000, reason: undefined });
    exportResponder(metrics, { status });
    expect(await valueOf('decision_responder_ready')).toBe(1);
    expect(await valueOf('decision_responder_queued_requests')).toBe(7);
    expect(await valueOf('decision_responder_last_heartbeat_timestamp_seconds')).toBe(5);
    expect(await valueOf('decision_responder_owned_partitions')).toBe(3);
    partitions = 0;
    expect(await valueOf('decision_responder_owned_partitions')).toBe(0);
  });
});

describe('a producer', () => {
  it('measures acknowledgements and counts what was sent, repeated and given up', async () => {
    const observe = createDecisionLogObserver(metrics);
    observe({ type: 'sent', messages: 5, bytes: 1_000, durationMs: 40 });
    observe({ type: 'messages_repeated', messages: 2 });
    observe({ type: 'message_expired', topic: 'logs' });
    observe({ type: 'message_refused', topic: 'logs', reason: 'the topic does not exist' });
    expect(await valueOf('decision_decision_log_produce_seconds_sum')).toBeCloseTo(0.04);
    expect(await valueOf('decision_decision_log_produced_messages_total')).toBe(5);
    expect(await valueOf('decision_decision_log_produced_bytes_total')).toBe(1_000);
    expect(await valueOf('decision_decision_log_repeated_messages_total')).toBe(2);
    for (const cause of ['expired', 'refused'])
      expect(await valueOf('decision_decision_log_failed_messages_total', `topic="logs",cause="${cause}"`)).toBe(1);
    expect((await metrics.render()).text).not.toContain('does not exist');
  });

  it('exports the size of its queue', async () => {
    exportQueue(metrics, 'decision_log', { queued: () => ({ messages: 4, bytes: 400 }) });
    expect(await valueOf('decision_decision_log_queued_messages')).toBe(4);
    expect(await valueOf('decision_decision_log_queued_bytes')).toBe(400);
  });
});

it('counts how many requests were sent again, and measures the producer of the requester', async () => {
  const observe = createRequesterObserver(metrics);
  observe({ type: 'requests_resent', count: 12 });
  observe({ type: 'sent', messages: 1, bytes: 10, durationMs: 7 });
  expect(await valueOf('decision_requester_resent_requests_total')).toBe(12);
  expect(await valueOf('decision_requester_produce_seconds_sum')).toBeCloseTo(0.007);
  expect(await valueOf('decision_requester_events_total', 'type="sent"')).toBe(1);
});

describe('the cache', () => {
  it('counts reads by where they were answered, and measures loads', async () => {
    const observe = createCacheObserver(metrics);
    observe({ type: 'hit', name: 'rules', layer: 'local' });
    observe({ type: 'hit', name: 'rules', layer: 'shared' });
    observe({ type: 'miss', name: 'rules' });
    observe({ type: 'load', name: 'rules', outcome: 'found', refresh: false, ms: 250 });
    for (const result of ['local', 'shared', 'miss'])
      expect(await valueOf('decision_cache_reads_total', `name="rules",result="${result}"`)).toBe(1);
    expect(await valueOf('decision_cache_load_seconds_sum', 'name="rules",outcome="found"')).toBeCloseTo(0.25);
  });

  it('counts faults and changes by reason, and shows its circuit and its connections', async () => {
    const observe = createCacheObserver(metrics);
    observe({ type: 'command_failed', command: 'get', reason: 'timeout' });
    observe({ type: 'not_shared', name: 'rules', reason: 'too_large' });
    observe({ type: 'invalidation', direction: 'received', kind: 'rule' });
    observe({ type: 'erasures_dropped', count: 9 });
    expect(await valueOf('decision_cache_failed_commands_total', 'command="get",reason="timeout"')).toBe(1);
    expect(await valueOf('decision_cache_not_shared_total', 'name="rules",reason="too_large"')).toBe(1);
    expect(await valueOf('decision_cache_invalidations_total', 'direction="received",kind="rule"')).toBe(1);
    expect(await valueOf('decision_cache_dropped_erasures_total')).toBe(9);
    expect(await valueOf('decision_cache_circuit_open')).toBe(0);
    observe({ type: 'circuit', state: 'open' });
    expect(await valueOf('decision_cache_circuit_open')).toBe(1);

    const channel = { enabled: true, ready: false, name: 'channel' };
    exportConnections(metrics, { status: () => ({ enabled: true, connected: true, channel }) });
    expect(await valueOf('decision_cache_connected', 'connection="commands"')).toBe(1);
    expect(await valueOf('decision_cache_connected', 'connection="subscriber"')).toBe(0);
  });
});
