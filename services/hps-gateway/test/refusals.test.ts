import { checkDecisionLogV2, type DecisionLogV2, ServiceError } from '@decision/contracts';
import { createDecisionLog } from '@decision/execution';
import { createRefusals } from '../src/refusals';
import { type GatewayUnderTest, send, startGateway } from './gateway-under-test';

const MOST_KINDS = 1_000;

const opened: ReturnType<typeof createDecisionLog>[] = [];
afterAll(() => opened.forEach((log) => log.close()));

/** Refusals whose records are collected as they would be on the topic. */
const recording = () => {
  const records: DecisionLogV2[] = [];
  const outcomes: string[] = [];
  const decisions = createDecisionLog({
    name: 'gateway-1',
    producer: {
      submit: ({ headers, value }) => {
        if (headers['form'] === 'report') return; // the number of messages so far
        const checked = checkDecisionLogV2(JSON.parse(value.toString()));
        if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
        records.push(checked.value);
      },
    },
    log: { warn: () => undefined },
    onSettled: () => undefined,
    now: Date.now,
  });
  opened.push(decisions);
  const refusals = createRefusals({ decisions, onNoted: (outcome) => outcomes.push(outcome) });
  const recorded = (): readonly DecisionLogV2[] => {
    refusals.flush();
    decisions.flush();
    return records;
  };
  return { refusals, outcomes, recorded };
};

const request = {
  ...{ asset: 'rule' as const, slug: 'price', selector: 'latest', receivedAt: 1_000, requestId: 'r-1' },
  ...{ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, viewer: { workspaceId: 'w', actor: 'k' } },
};
const overloaded = (): ServiceError => new ServiceError('overloaded', 'Too much work is in flight.');

describe('refusals', () => {
  it('of one second are one record for each key, rule and code, which says how many they are', () => {
    const { refusals, recorded } = recording();
    for (let n = 0; n < 5; n += 1) refusals.ofRequest().note({ ...request, requestId: `r-${n}` }, overloaded());
    refusals.ofRequest().note(request, new ServiceError('deadline_exceeded', 'No worker answered.'));
    refusals.ofRequest().note({ ...request, viewer: { workspaceId: 'w', actor: 'other' } }, overloaded());
    expect(recorded().map(({ key_id, request_id, items: [item] }) => [key_id, request_id, item])).toMatchObject([
      ['k', 'r-0', { status: 429, code: 'overloaded', stands_for: 5, request: null, response: { code: 'overloaded' } }],
      ['k', 'r-1', { status: 504, code: 'deadline_exceeded' }],
      ['other', 'r-1', { status: 429 }],
    ]);
    expect(recorded()[0]).toMatchObject({ slug: 'price', selector: 'latest', version_id: '', asset_id: null });
    expect(recorded()[0]).toMatchObject({ trace_id: 'a'.repeat(32), received_at: '1970-01-01T00:00:01.000Z' });
  });

  it('are noted once, however often they are thrown on, and other failures never', () => {
    const { refusals, recorded } = recording();
    const error = overloaded();
    const one = refusals.ofRequest();
    for (let n = 0; n < 3; n += 1) one.note(request, error);
    for (const code of ['rule_not_found', 'evaluation_failed', 'invalid_json', 'result_too_large'] as const)
      refusals.ofRequest().note(request, new ServiceError(code, 'No.'));
    refusals.ofRequest().note(request, new TypeError('No.'));
    expect(recorded().map(({ items }) => items[0]?.stands_for)).toEqual([undefined]);
  });

  it('of several requests that fail with one failure count each', () => {
    const { refusals, recorded } = recording();
    const error = new ServiceError('database_unavailable', 'All of them waited for the same answer.');
    for (let n = 0; n < 3; n += 1) refusals.ofRequest().note(request, error);
    expect(recorded().map(({ items }) => items[0]?.stands_for)).toEqual([3]);
  });

  it('of a list are one, whatever number of its chunks is given up', async () => {
    const { refusals, recorded } = recording();
    const late = (): ServiceError => new ServiceError('deadline_exceeded', 'No worker answered.');
    const one = refusals.ofRequest();
    const open = one.watched(() => Promise.resolve({ reachesOut: false, evaluate: () => Promise.reject(late()) }));
    const evaluation = await open({
      ...request,
      explain: 'none',
      viewer: { ...request.viewer, userGroups: undefined },
    });
    for (let chunk = 0; chunk < 3; chunk += 1)
      await expect(evaluation.evaluate('solve-list', Buffer.alloc(0))).rejects.toThrow('No worker');
    one.note(request, late());
    expect(recorded().map(({ items }) => items[0]?.stands_for)).toEqual([undefined]);
  });

  it(`of more than ${MOST_KINDS} kinds in a second are counted alone`, () => {
    const { refusals, outcomes, recorded } = recording();
    for (let n = 0; n < MOST_KINDS + 3; n += 1)
      refusals.ofRequest().note({ ...request, slug: `rule-${n}` }, overloaded());
    refusals.ofRequest().note({ ...request, slug: 'rule-0' }, overloaded());
    expect(outcomes.filter((outcome) => outcome === 'not_logged')).toHaveLength(3);
    expect(recorded()).toHaveLength(MOST_KINDS);
  });
});

describe('a gateway', () => {
  let gateway: GatewayUnderTest;
  const { refusals, recorded } = recording();
  beforeAll(async () => {
    gateway = await startGateway({ refusals, bodyLimitBytes: 2_000, itemMaxBytes: 1_000 });
  });
  afterAll(() => gateway.server.stop(1_000));

  const codes = (): readonly string[] =>
    recorded().map(({ slug, items }) => `${slug} ${items[0]?.code} ${items[0]?.stands_for ?? 1}`);

  it('puts on record what it refuses or gives up, by whatever call', async () => {
    const large = { text: 'x'.repeat(1_500) };
    await send(`${gateway.url}/api/v1/solve/large`, large);
    await send(`${gateway.url}/api/v1/bulk-solve/large-item`, [large]);
    gateway.worker = () => Promise.reject(new ServiceError('deadline_exceeded', 'No worker answered.'));
    await send(`${gateway.url}/api/v1/flows/late`, {});
    await send(`${gateway.url}/api/v1/bulk-solve/late-list`, [{}, {}]);
    await send(`${gateway.url}/api/v1/parallel-solve`, {
      one: { $rule: 'late-entry' },
      two: { $rule: 'big', ...large },
    });
    gateway.worker = () => Promise.reject(new ServiceError('evaluation_failed', 'It is logged by the worker.'));
    await send(`${gateway.url}/api/v1/solve/failing`, {});
    expect([...codes()].sort()).toEqual([
      ' payload_too_large 1',
      'large payload_too_large 1',
      'large-item payload_too_large 1',
      'late deadline_exceeded 1',
      'late-entry deadline_exceeded 1',
      'late-list deadline_exceeded 1',
    ]);
  });
});
