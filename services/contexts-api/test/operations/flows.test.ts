import { limits, type FlowUse } from '@decision/contracts';
import { findAsset, unpublishAsset } from '@decision/persistence';
import {
  type ContextsApiUnderTest,
  type FlowParts,
  type RuleTableParts,
  startContextsApi,
} from '../contexts-api-under-test';
import { DISCOUNT, ORDERS, TIER } from './order-contexts';

let api: ContextsApiUnderTest;
let slug: string;
let contextId: string;
let contexts = 0;

const FACTS = [
  ...ORDERS.schema.base,
  { key: 'price', type: 'number', output_only: true },
  { key: 'score', type: 'number' },
  { key: 'flag', type: 'boolean' },
];

beforeAll(async () => {
  api = await startContextsApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  const schema = { ...ORDERS.schema, base: FACTS };
  const name = `Orders ${(contexts += 1)}`; // a repeated request would answer the same context (C156)
  const { body } = await api.call('POST', '/admin/contexts', { ...ORDERS, name, schema, on_schema_mismatch: 'store' });
  slug = String(body['slug']);
  contextId = String(body['id']);
  api.workers.ran.length = 0;
  api.workers.asked.length = 0;
  api.workers.ranHere.length = 0;
  api.workers.faults.length = 0;
});

const submit = (id: string, facts: unknown) => api.call('POST', `/contexts/${slug}/${id}`, facts);
const ORDER = { country: 'NL', total: 200 };

/** A rule without a context; answers how a flow uses it. */
const makeRule = async (name: string, table: RuleTableParts): Promise<FlowUse> => {
  const id = await api.bindRule('nowhere', name, table);
  return { kind: 'rule', slug: name, selector: 'latest', asset_id: id, version_id: await api.publish(id, table) };
};

/** Answers the discount that its origin decides, as a fact with another name. */
const pricing = (use: FlowUse): FlowParts => ({
  graph: {
    nodes: [
      { ref: 'in', type: 'origin', rule: use.slug, version: use.selector },
      { ref: 'out', type: 'result' },
    ],
    connections: [{ from: 'in', output: 'discount', to: 'out', input: 'price' }],
  },
  inputs: DISCOUNT.inputs,
  outputs: [{ key: 'price', type: 'number' }],
  uses: [use],
});

/** Calls the outside for a score before it answers. */
const asking = (use: FlowUse): FlowParts => ({
  graph: {
    nodes: [
      { ref: 'in', type: 'origin', rule: use.slug, version: use.selector },
      { ref: 'ask', type: 'api', url: 'https://example.com', outputs: [{ key: 'score', type: 'number' }] },
      { ref: 'out', type: 'result' },
    ],
    connections: [
      { from: 'in', output: 'discount', to: 'ask' },
      { from: 'ask', output: 'score', to: 'out' },
    ],
  },
  inputs: DISCOUNT.inputs,
  outputs: [{ key: 'score', type: 'number' }],
  uses: [use],
  reachesOut: true,
});

const PERCENT: RuleTableParts = {
  ...DISCOUNT,
  rows: [{ request: {}, response: { discount: { value: 'total / 100' } } }],
};
const HEX = expect.stringMatching(/^[0-9a-f]{32}$/) as string;

describe('a bound flow', () => {
  it('runs once its inputs are there; what it answers becomes facts', async () => {
    const flow = `${slug}-pricing`;
    await api.bindFlow(slug, flow, pricing(await makeRule(`${slug}-base`, DISCOUNT)));
    const first = await submit('o-1', { country: 'NL' });
    expect(first.body).toMatchObject({ triggered: false, reason: 'not_ready', cascaded: [] });
    const second = await submit('o-1', { total: 200 });
    expect(second.body).toMatchObject({
      ...{ triggered: true, status: 'complete', state: { price: 20 } },
      cascaded: [
        {
          ...{ context: `${slug}:o-1`, flow, status: 'solved', result: { price: 20 }, execution_id: HEX },
          ...{ auto_executed: true, written_to_context: ['price'] },
        },
      ],
    });
    const again = await submit('o-1', { total: 200 });
    expect(again.body).toMatchObject({ triggered: false, cascaded: [{ flow, status: 'skipped_already_run' }] });
    const { body } = await api.call('GET', `/contexts/${slug}/o-1`);
    expect(body).toMatchObject({
      executions: { [`flow:${flow}`]: { type: 'flow', slug: flow, status: 'success', run_count: 1 } },
    });
  });

  it('and rules run in rounds, and what one writes the other reads', async () => {
    const use = await makeRule(`${slug}-base`, DISCOUNT);
    const flow = { ...pricing(use), outputs: [{ key: 'discount', type: 'number' as const }] };
    const connections = [{ from: 'in', output: 'discount', to: 'out' }];
    await api.bindFlow(slug, `${slug}-pricing`, { ...flow, graph: { ...flow.graph, connections } });
    await api.bindRule(slug, `${slug}-tier`, TIER);
    const { body } = await submit('o-1', ORDER);
    expect(body).toMatchObject({ state: { discount: 20, tier: 'gold' } });
    expect(api.workers.ran).toEqual([`${slug}-pricing`, `${slug}-tier`]);
  });

  it('C67: that changes what it reads ends when a state comes again, and is named', async () => {
    const use = await makeRule(`${slug}-turn`, {
      inputs: [{ key: 'flag', type: 'boolean' }],
      outputs: [{ key: 'turned', type: 'boolean' }],
      rows: [
        { request: { flag: { op: 'is true', args: [] } }, response: { turned: { value: false } } },
        { request: {}, response: { turned: { value: true } } },
      ],
    });
    const flow = `${slug}-turning`;
    await api.bindFlow(slug, flow, {
      graph: {
        nodes: [
          { ref: 'in', type: 'origin', rule: use.slug, version: 'latest' },
          { ref: 'out', type: 'result' },
        ],
        connections: [{ from: 'in', output: 'turned', to: 'out', input: 'flag' }],
      },
      inputs: [{ key: 'flag', type: 'boolean' }],
      outputs: [{ key: 'flag', type: 'boolean' }],
      uses: [use],
    });
    const { body } = await submit('o-1', { ...ORDER, flag: true });
    expect(body).toMatchObject({ stopped_by: 'repeated_state', unfinished: [`flow:${flow}`] });
  });

  it('C56: is due again when a rule that it follows is published, and not when it names the rule by number', async () => {
    const use = await makeRule(`${slug}-base`, DISCOUNT);
    await api.bindFlow(slug, `${slug}-follows`, pricing(use));
    const fixed = pricing({ ...use, selector: '2' });
    await api.bindFlow(slug, `${slug}-stays`, {
      ...fixed,
      outputs: [{ key: 'score', type: 'number' }],
      graph: { ...fixed.graph, connections: [{ from: 'in', output: 'discount', to: 'out', input: 'score' }] },
    });
    expect((await submit('o-1', ORDER)).body).toMatchObject({ state: { price: 20, score: 20 } });
    await api.publish(use.asset_id, PERCENT);
    const { body } = await submit('o-1', {});
    expect(body).toMatchObject({
      state: { price: 2, score: 20 },
      cascaded: [
        { flow: `${slug}-follows`, status: 'solved', result: { price: 2 } },
        { flow: `${slug}-stays`, status: 'skipped_already_run' },
      ],
    });
  });

  it('C56: goes on with the version of its publication if nothing of a rule is in service any more', async () => {
    const use = await makeRule(`${slug}-base`, DISCOUNT);
    await api.bindFlow(slug, `${slug}-pricing`, pricing(use));
    await api.publish(use.asset_id, PERCENT);
    expect((await submit('o-1', ORDER)).body).toMatchObject({ state: { price: 2 } });
    await api.database.inWorkspace(api.access, (transaction) => unpublishAsset(transaction, 'rule', use.asset_id));
    expect((await submit('o-1', {})).body).toMatchObject({ state: { price: 20 }, triggered: true });
  });

  it('is due again in another version of its own', async () => {
    const use = await makeRule(`${slug}-base`, DISCOUNT);
    const id = await api.bindFlow(slug, `${slug}-pricing`, pricing(use));
    await submit('o-1', ORDER);
    const other = pricing(use);
    await api.publishFlow(id, {
      ...other,
      outputs: [{ key: 'score', type: 'number' }],
      graph: { ...other.graph, connections: [{ from: 'in', output: 'discount', to: 'out', input: 'score' }] },
    });
    const { body } = await submit('o-1', {});
    expect(body['state']).toMatchObject({ score: 20 });
    expect(body['state']).not.toHaveProperty('price'); // the flow owned the fact, and no longer answers it
    expect(body['cascaded']).toMatchObject([{ status: 'solved', cleared: ['price'] }]);
  });

  it('is one entry of a batch among others, and each run counts', async () => {
    const use = await makeRule(`${slug}-base`, DISCOUNT);
    await api.bindFlow(slug, `${slug}-pricing`, pricing(use));
    await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
    const path = `/contexts/batch/${slug}?include=executed,execution_results`;
    const { body } = await api.call('POST', path, [
      { order_id: 'a', ...ORDER },
      { order_id: 'b', ...ORDER, total: 300 },
    ]);
    const entry = (price: number) => ({
      ...{ type: 'flow', slug: `${slug}-pricing`, status: 'success', execution_id: HEX },
      ...{ written_to_context: ['price'], result: { price } },
    });
    expect(body).toMatchObject({
      executed: 4,
      results: [
        { instance_id: 'a', executed: [entry(20), { type: 'rule' }] },
        { instance_id: 'b', executed: [entry(30), { type: 'rule' }] },
      ],
    });
  });

  it('C98: runs in the service itself if no message carries its instance', async () => {
    const use = await makeRule(`${slug}-base`, DISCOUNT);
    await api.bindFlow(slug, `${slug}-pricing`, pricing(use));
    const text = 'x'.repeat(limits.executionMessageBytes.defaultValue + 1);
    const { body } = await api.call('POST', `/contexts/batch/${slug}?include=state,executed`, [
      { order_id: 'large', ...ORDER, text },
    ]);
    expect(body).toMatchObject({
      results: [{ state: { price: 20 }, executed: [{ type: 'flow', status: 'success' }] }],
    });
    expect(api.workers.ran).toEqual([]);
    expect(api.workers.ranHere.map((told) => told.slug)).toEqual([`${slug}-pricing`]);
  });
});

describe('a flow that asks the outside', () => {
  it('writes what it was answered; its question has another name each time that it runs', async () => {
    await api.bindFlow(slug, `${slug}-asking`, asking(await makeRule(`${slug}-base`, DISCOUNT)));
    api.workers.answer = ({ inputs }) => Promise.resolve({ score: Number(inputs['discount']) + 1 });
    expect((await submit('o-1', ORDER)).body).toMatchObject({ state: { score: 21 } });
    expect((await submit('o-1', { total: 300 })).body).toMatchObject({ state: { score: 31 } });
    expect(api.workers.asked.map(({ round }) => round)).toEqual([0, 1]);
    expect(new Set(api.workers.asked.map(({ idempotencyRoot }) => idempotencyRoot)).size).toBe(1);
    await api.call('DELETE', `/contexts/${slug}/o-1`);
    await submit('o-1', ORDER);
    expect(new Set(api.workers.asked.map(({ idempotencyRoot }) => idempotencyRoot)).size).toBe(2);
  });

  it('C61: is tried again with the next submission if nobody answered', async () => {
    await api.bindFlow(slug, `${slug}-asking`, asking(await makeRule(`${slug}-base`, DISCOUNT)));
    api.workers.answer = () => Promise.reject(new Error('refused'));
    const { body } = await submit('o-1', ORDER);
    expect(body).toMatchObject({ triggered: true, cascaded: [{ status: 'infrastructure_error' }] });
    expect(api.workers.faults).toMatchObject([{ flow: `${slug}-asking`, code: 'infrastructure_error' }]);
    api.workers.answer = () => Promise.resolve({ score: 5 });
    expect((await submit('o-1', {})).body).toMatchObject({ state: { score: 5 } });
  });
});

describe('a manual solve of a flow', () => {
  const solve = (id: string, facts: unknown = {}, flow = `${slug}-pricing`) =>
    api.call('POST', `/contexts/${slug}/${id}/flows/${flow}`, facts);

  it('merges the body, runs the flow even if nothing changed, and says what it took', async () => {
    await api.bindFlow(slug, `${slug}-pricing`, pricing(await makeRule(`${slug}-base`, DISCOUNT)));
    const answer = {
      ...{ status: 'solved', context: `${slug}:o-1`, flow: `${slug}-pricing`, execution_id: HEX },
      ...{ result: { price: 20 }, usage: { executions: 1 }, written_to_context: ['price'], cascaded: [] },
    };
    expect(await solve('o-1', ORDER)).toEqual({ status: 200, body: answer });
    expect(await solve('o-1')).toMatchObject({ status: 200, body: { status: 'solved' } });
    expect(api.workers.ran).toEqual([`${slug}-pricing`, `${slug}-pricing`]);
  });

  it('C126: is registered if the flow waits for facts, and is settled when they come', async () => {
    const id = await api.bindFlow(slug, `${slug}-pricing`, pricing(await makeRule(`${slug}-base`, DISCOUNT)));
    const waiting_on = [{ context: slug, instance: 'o-1', fields: ['total'] }];
    const pending = await solve('o-1', { country: 'NL' });
    expect(pending).toMatchObject({
      status: 202,
      body: { status: 'pending', flow: `${slug}-pricing`, need: ['total'], waiting_on },
    });
    expect(pending.body).not.toHaveProperty('usage');
    const listed = () => api.call('GET', `/contexts/${slug}/o-1/pending`);
    expect((await listed()).body).toMatchObject({
      pending: [{ type: 'flow', flow: `${slug}-pricing`, flow_id: id, waiting_on }],
    });
    await submit('o-1', { total: 200 });
    expect((await listed()).body).toEqual({ pending: [] });
  });

  it('C72: is what cascade evaluates if nothing runs by itself', async () => {
    await api.bindFlow(slug, `${slug}-pricing`, pricing(await makeRule(`${slug}-base`, DISCOUNT)));
    await solve('o-1', { country: 'NL' });
    await api.call('PUT', `/admin/contexts/${contextId}`, { auto_execute_decisions: false });
    const { body } = await api.call('POST', `/contexts/${slug}/o-1/cascade`, {});
    expect(body).toMatchObject({ cascaded: [] });
    expect((await submit('o-1', { total: 200 })).body).toMatchObject({ state: { price: 20 } });
  });

  it('names a flow: a rule of the slug, one that is bound elsewhere and none are the same', async () => {
    await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
    for (const name of [`${slug}-discount`, 'nothing'])
      expect(await solve('o-1', ORDER, name)).toMatchObject({ status: 404, body: { code: 'flow_not_found' } });
  });
});

describe('a context', () => {
  it('shows its flows with the rule of their origin and with what keeps them from running', async () => {
    const use = await makeRule(`${slug}-base`, DISCOUNT);
    const id = await api.bindFlow(slug, `${slug}-pricing`, pricing(use));
    await api.bindFlow(slug, `${slug}-wrong`, { ...pricing(use), outputs: [{ key: 'net', type: 'number' }] }, '1');
    const { body } = await api.call('GET', `/admin/contexts/${contextId}`);
    const origin_rule = { id: use.asset_id, name: use.slug, slug: use.slug };
    expect(body).toMatchObject({
      bound_rules: [],
      bound_flows: [
        {
          id,
          name: `${slug}-pricing`,
          slug: `${slug}-pricing`,
          published: true,
          context_version: 'latest',
          origin_rule,
        },
        { slug: `${slug}-wrong`, context_version: '1', problems: [expect.stringContaining('"net"')], origin_rule },
      ],
    });
    const listed = await api.call('GET', '/admin/contexts');
    const own = (listed.body as unknown as { id: string }[]).find((one) => one.id === contextId);
    expect(own).toMatchObject({ bound_rules_count: 0, bound_flows_count: 2 });
  });

  it('does not lose a fact that a flow names, and frees its flows when it is deleted', async () => {
    const id = await api.bindFlow(slug, `${slug}-pricing`, pricing(await makeRule(`${slug}-base`, DISCOUNT)));
    const base = FACTS.filter(({ key }) => key !== 'price');
    const { status, body } = await api.call('PUT', `/admin/contexts/${contextId}`, {
      schema: { ...ORDERS.schema, base },
    });
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { code: 'context_change_refused', refusals: [expect.objectContaining({})] },
    });
    expect(JSON.stringify(body)).toContain(`flow:${slug}-pricing`);
    const gone = await api.call('DELETE', `/admin/contexts/${contextId}`);
    expect(gone.body).toMatchObject({ unbound_rules: [], unbound_flows: [`${slug}-pricing`] });
    const flow = await api.database.inWorkspace(api.access, (transaction) => findAsset(transaction, 'flow', { id }));
    expect(flow?.context).toBeNull();
  });
});
