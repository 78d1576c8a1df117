import { randomUUID } from 'node:crypto';
import { enterOwnWorkspace, type SharedFleet } from '../fleet/shared-fleet';

let fleet: SharedFleet;

beforeAll(async () => {
  fleet = await enterOwnWorkspace();
}, 360_000);

const field = (key: string, type: string) => ({ key, name: key, type });
const call = (method: string, path: string, body?: unknown) => fleet.call(method, `/api/v1${path}`, body);

/** Imports and publishes a rule that is bound to a context. */
const bindRule = async (context: string, slug: string, rule: object): Promise<void> => {
  const imported = {
    id: randomUUID(),
    slug,
    name: slug,
    context: { slug: context, version: 'latest' },
    _publish: true,
    ...rule,
  };
  expect(await call('POST', '/admin/rules/import', { rule: imported })).toMatchObject({ status: 200 });
};

it('facts are submitted twice: what is needed shrinks, and the decision appears', async () => {
  const schema = {
    base: [
      { key: 'parcel_id', type: 'string' },
      { key: 'weight', type: 'number', required: true },
      { key: 'country', type: 'string', required: true },
      { key: 'price', type: 'number', output_only: true },
    ],
    derived: [{ key: 'price_with_tax', expression: 'price * 1.2' }],
  };
  const made = await call('POST', '/admin/contexts', { name: 'Parcels', schema, identity_fact: 'parcel_id' });
  expect(made).toMatchObject({ status: 200, body: { slug: 'parcels' } });
  await bindRule('parcels', 'parcel-price', {
    requestSchema: [field('weight', 'number'), field('country', 'string')],
    responseSchema: [field('price', 'function')],
    conditions: [
      { request: { country: { op: 'equals', args: ['NL'] } }, response: { price: { value: 'weight * 2' } } },
    ],
  });
  const submit = (facts: unknown) => call('POST', '/contexts/parcels/p-1', facts);
  expect(await submit({ weight: 5 })).toMatchObject({
    status: 200,
    body: { status: 'pending', need: ['country'], is_new: true },
  });
  expect(await submit({ country: 'NL' })).toMatchObject({
    status: 200,
    body: {
      status: 'complete',
      need: [],
      state: { parcel_id: 'p-1', weight: 5, country: 'NL', price: 10, price_with_tax: 12 },
      cascaded: [{ rule: 'parcel-price', status: 'solved', result: { price: 10 }, written_to_context: ['price'] }],
    },
  });
  expect(await submit({ country: 'NL' })).toMatchObject({ body: { triggered: false, reason: 'inputs_unchanged' } });
  expect(await call('GET', '/contexts/parcels/p-1')).toMatchObject({ status: 200, body: { state: { price: 10 } } });
});

it('a batch merges, runs and answers every instance, over messages to workers', async () => {
  const records = Array.from({ length: 1_200 }, (_, index) => ({
    parcel_id: `b-${index % 600}`,
    weight: index,
    country: 'NL',
  }));
  const { status, body } = await call('POST', '/contexts/batch/parcels?include=state,positions', records);
  expect(status).toBe(200);
  const { accepted, executed, results } = body as {
    accepted: number;
    executed: number;
    results: { instance_id: string; positions: number[]; state: { price: number } }[];
  };
  expect({ accepted, executed, instances: results.length }).toEqual({ accepted: 1_200, executed: 600, instances: 600 });
  expect(results[7]).toMatchObject({ instance_id: 'b-7', positions: [7, 607], state: { weight: 607, price: 1_214 } });
});

it('a flow that is bound runs with a submission and with a batch, and is shown with the rule of its origin', async () => {
  const schema = {
    base: [
      { key: 'letter_id', type: 'string' },
      { key: 'grams', type: 'number', required: true },
      { key: 'stamp', type: 'number', output_only: true },
    ],
  };
  const made = await call('POST', '/admin/contexts', { name: 'Letters', schema, identity_fact: 'letter_id' });
  const rule = {
    ...{ id: randomUUID(), slug: 'postage', name: 'Postage', _publish: true },
    requestSchema: [field('grams', 'number')],
    responseSchema: [field('cents', 'function')],
    conditions: [{ request: {}, response: { cents: { value: 'grams * 3' } } }],
  };
  expect(await call('POST', '/admin/rules/import', { rule })).toMatchObject({ status: 200 });
  const flow = {
    ...{ name: 'Stamps', slug: 'stamps', context: { slug: 'letters' } },
    nodes: [
      { ref: 'in', type: 'origin', rule: 'postage' },
      { ref: 'out', type: 'result' },
    ],
    connections: [{ from: 'in', output: 'cents', to: 'out', input: 'stamp' }],
  };
  expect(await call('POST', '/admin/flows/import', { flow })).toMatchObject({ status: 200 });
  expect(await call('GET', `/admin/contexts/${(made.body as { id: string }).id}`)).toMatchObject({
    body: { bound_flows: [{ slug: 'stamps', published: true, origin_rule: { slug: 'postage' } }] },
  });
  expect(await call('POST', '/contexts/letters/l-1', { grams: 10 })).toMatchObject({
    status: 200,
    body: { state: { stamp: 30 }, cascaded: [{ flow: 'stamps', status: 'solved', result: { stamp: 30 } }] },
  });
  const records = Array.from({ length: 50 }, (_, index) => ({ letter_id: `b-${index}`, grams: index }));
  const { body } = await call('POST', '/contexts/batch/letters?include=state,executed', records);
  expect(body).toMatchObject({ accepted: 50, executed: 50 });
  expect((body as { results: unknown[] }).results[7]).toMatchObject({
    state: { stamp: 21 },
    executed: [{ type: 'flow', slug: 'stamps', status: 'success' }],
  });
  expect(await call('POST', '/contexts/letters/l-2/flows/stamps', { grams: 1 })).toMatchObject({
    status: 200,
    body: { status: 'solved', flow: 'stamps', result: { stamp: 3 } },
  });
});
