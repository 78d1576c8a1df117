import { type RequestEnvelope, type Requester } from '@decision/broker';
import { ServiceError } from '@decision/contracts';
import { createMetrics, type Metrics } from '@decision/service-kit';
import { createCacheObserver, exportConnections } from './store-observers';
import {
  createCompileObserver,
  createDecisionLogObserver,
  createRequesterObserver,
  createResponderObserver,
  exportQueue,
  exportResponder,
  measureRequester,
} from './observers';

let metrics: Metrics;
beforeEach(() => {
  metrics = createMetrics('test');
});

/** The value of the series with these labels and the label of the service, in any order. */
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
    exportResponder(metrics, { status, lag: () => Promise.resolve(0) });
    expect(await valueOf('decision_responder_ready')).toBe(1);
    expect(await valueOf('decision_responder_queued_requests')).toBe(7);
    expect(await valueOf('decision_responder_last_heartbeat_timestamp_seconds')).toBe(5);
    expect(await valueOf('decision_responder_owned_partitions')).toBe(3);
    partitions = 0;
    expect(await valueOf('decision_responder_owned_partitions')).toBe(0);
  });

  it('exports its lag at the time of the scrape, and none while the broker does not answer', async () => {
    const status = () => ({ ready: true, partitions: 1, queued: 0, lastHeartbeatAt: 0, reason: undefined });
    let lag = () => Promise.resolve(9);
    exportResponder(metrics, { status, lag: () => lag() });
    expect(await valueOf('decision_responder_lag_messages')).toBe(9);
    lag = () => Promise.reject(new Error('The broker is away.'));
    expect(await valueOf('decision_responder_lag_messages')).toBeUndefined();
    lag = () => Promise.resolve(4);
    expect(await valueOf('decision_responder_lag_messages')).toBe(4);
    lag = () => new Promise(() => undefined);
    expect(await valueOf('decision_responder_lag_messages')).toBeUndefined();
    expect(await valueOf('decision_responder_ready')).toBe(1);
  });
});

describe('a producer', () => {
  it('measures acknowledgements and counts what was sent, repeated and given up', async () => {
    const observe = createDecisionLogObserver(metrics);
    observe({ type: 'sent', messages: 5, bytes: 1_000, durationMs: 40 });
    observe({ type: 'sent', messages: 400, bytes: 1_000, durationMs: 0 });
    observe({ type: 'messages_repeated', messages: 2 });
    observe({ type: 'message_expired', topic: 'logs' });
    observe({ type: 'message_refused', topic: 'logs', reason: 'the topic does not exist' });
    expect(await valueOf('decision_decision_log_produce_seconds_sum')).toBeCloseTo(0.04);
    expect(await valueOf('decision_decision_log_produced_messages_total')).toBe(405);
    expect(await valueOf('decision_decision_log_batch_messages_count')).toBe(2);
    expect(await valueOf('decision_decision_log_batch_messages_bucket', 'le="5"')).toBe(1);
    expect(await valueOf('decision_decision_log_batch_messages_bucket', 'le="200"')).toBe(1);
    expect(await valueOf('decision_decision_log_batch_messages_bucket', 'le="500"')).toBe(2);
    expect(await valueOf('decision_decision_log_produced_bytes_total')).toBe(2_000);
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

describe('a requester', () => {
  const requesterThat = (request: Requester['request']): Requester => ({
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    queued: () => ({ messages: 0, bytes: 0 }),
    status: () => ({
      ...{ ready: true, partitions: 1, expectedPartitions: 1, pending: 0, reason: undefined, code: undefined },
    }),
    request,
    submit: (asked, payload, settled) => {
      let workedMs: number | undefined;
      request(asked, payload, { onWorked: (ms) => (workedMs = ms) }).then(
        (answer) => settled(undefined, answer, workedMs),
        (error: unknown) => settled(error as ServiceError, Buffer.alloc(0)), // these throw no others
      );
    },
  });
  const envelope: RequestEnvelope = {
    ...{ deadline: 1, kind: 'solve', workspaceId: 'w', versionId: 'v', receivedAt: 1 },
    ...{ explain: 'none', requestId: 'r', traceparent: undefined },
  };

  it('measures the broker as what is left of a request without the work of the worker, never below 0', async () => {
    const answers = [10_000, 20];
    const requester = measureRequester(
      metrics,
      requesterThat(async (_envelope, payload, options) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        options?.onWorked?.(answers.pop() ?? 0);
        return payload;
      }),
    );
    await requester.request(envelope, Buffer.alloc(0));
    const left = (await valueOf('decision_requester_broker_seconds_sum')) ?? 0;
    expect(left).toBeGreaterThan(0.075);
    const whole = (await valueOf('decision_requester_request_seconds_sum')) ?? 0;
    expect(whole - left).toBeCloseTo(0.02, 6);
    await requester.request(envelope, Buffer.alloc(0));
    expect(await valueOf('decision_requester_broker_seconds_count')).toBe(2);
    expect(await valueOf('decision_requester_broker_seconds_sum')).toBe(left);
  });

  it('measures requests without promises as those with', async () => {
    const requester = measureRequester(
      metrics,
      requesterThat((_envelope, payload, options) => {
        options?.onWorked?.(0);
        return payload.length > 0 ? Promise.resolve(payload) : Promise.reject(new ServiceError('overloaded', 'Full.'));
      }),
    );
    const submit = (payload: Buffer): Promise<string> =>
      new Promise((resolve) => {
        requester.submit(envelope, payload, (error, answer) => resolve(error?.code ?? answer.toString()));
      });
    expect([await submit(Buffer.from('1')), await submit(Buffer.alloc(0))]).toEqual(['1', 'overloaded']);
    expect(await valueOf('decision_requester_request_seconds_count')).toBe(2);
    expect(await valueOf('decision_requester_broker_seconds_count')).toBe(1);
    for (const outcome of ['answered', 'overloaded'])
      expect(await valueOf('decision_requester_requests_total', `outcome="${outcome}"`)).toBe(1);
    expect(await valueOf('decision_requester_requests_total', 'outcome="answered"')).toBe(1);
  });

  it('measures no broker if no worker answered, or one that measures nothing', async () => {
    const requester = measureRequester(
      metrics,
      requesterThat((_envelope, payload) =>
        payload.length > 0 ? Promise.resolve(payload) : Promise.reject(new ServiceError('deadline_exceeded', 'Late.')),
      ),
    );
    await requester.request(envelope, Buffer.from('1'));
    await expect(requester.request(envelope, Buffer.alloc(0))).rejects.toThrow('Late.');
    expect(await valueOf('decision_requester_request_seconds_count')).toBe(2);
    expect(await valueOf('decision_requester_broker_seconds_count')).toBe(0);
  });
});

it('counts and times what was compiled, by kind', async () => {
  const observe = createCompileObserver(metrics);
  observe({ asset: 'rule', tookMs: 20 });
  observe({ asset: 'rule', tookMs: 5 });
  observe({ asset: 'flow', tookMs: 1 });
  expect(await valueOf('decision_compiled_total', 'asset="rule"')).toBe(2);
  expect(await valueOf('decision_compiled_total', 'asset="flow"')).toBe(1);
  expect(await valueOf('decision_compile_seconds_sum', 'asset="rule"')).toBeCloseTo(0.025);
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

  it('counts the connections that were made again, apart from the first and from those that were lost', async () => {
    const observe = createCacheObserver(metrics);
    const reconnects = () =>
      Promise.all(
        ['commands', 'subscriber'].map((name) => valueOf('decision_cache_reconnects_total', `connection="${name}"`)),
      );
    for (const connection of ['commands', 'subscriber'] as const)
      observe({ type: 'connection', connection, state: 'connected' });
    observe({ type: 'connection', connection: 'commands', state: 'disconnected' });
    expect(await reconnects()).toEqual([0, 0]);
    observe({ type: 'connection', connection: 'commands', state: 'connected' });
    expect(await reconnects()).toEqual([1, 0]);
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
