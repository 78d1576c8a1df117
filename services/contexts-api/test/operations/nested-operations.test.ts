import { type FlowUse } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { findAsset } from '@decision/persistence';
import {
  type ContextsApiUnderTest,
  type FlowParts,
  type RuleTableParts,
  startContextsApi,
} from '../contexts-api-under-test';

let api: ContextsApiUnderTest;
let accounts: string;
let orders: string;
let ordersId: string;
let accountsId: string;
let made = 0;

beforeAll(async () => {
  api = await startContextsApi({ timeoutMs: 20_000 });
});
afterAll(() => api.stop());

const makeContext = async (context: object): Promise<{ readonly slug: string; readonly id: string }> => {
  const name = `Context ${(made += 1)}`; // a repeated request would answer the same context (C156)
  const { body } = await api.call('POST', '/admin/contexts', { ...context, name });
  return { slug: String(body['slug']), id: String(body['id']) };
};

const ORDERS = {
  identity_fact: 'order_id',
  schema: {
    base: [
      { key: 'order_id', type: 'string' },
      { key: 'account_id', type: 'string' },
      { key: 'amount', type: 'number', track_history: true },
      { key: 'noted', type: 'number' },
      { key: 'booked', type: 'number' },
    ],
    derived: [{ key: 'double', expression: 'amount * 2' }],
  },
};
const ACCOUNTS = {
  identity_fact: 'account_id',
  schema: {
    base: [
      { key: 'account_id', type: 'string' },
      { key: 'order_id', type: 'string' },
      { key: 'balance', type: 'number', track_history: true },
      { key: 'noted', type: 'number' },
      { key: 'booked', type: 'number' },
    ],
  },
};

beforeEach(async () => {
  ({ slug: orders, id: ordersId } = await makeContext(ORDERS));
  ({ slug: accounts, id: accountsId } = await makeContext(ACCOUNTS));
  api.workers.answer = () => Promise.reject(new Error('Nobody answers.'));
  api.workers.givenWay = 0;
  api.workers.faults.length = 0;
});

const submit = async (of: string, id: string, facts: object) =>
  (await api.call('POST', `/contexts/${of}/${id}`, facts)).body;
const get = async (of: string, id: string) => (await api.call('GET', `/contexts/${of}/${id}`)).body;
const history = async (of: string, id: string) =>
  (await api.call('GET', `/contexts/${of}/${id}/history`)).body['history'];

/** A rule that passes fields on; answers how a flow uses it. */
const passing = async (...keys: string[]): Promise<FlowUse> => {
  const table: RuleTableParts = {
    inputs: keys.map((key) => ({ key, name: key, type: key.endsWith('id') ? 'string' : 'number' })),
    outputs: [{ key: 'passed', name: 'Passed', type: 'boolean' }],
    rows: [{ request: {}, response: { passed: { value: true } } }],
  };
  const slug = `passing-${(made += 1)}`;
  const id = await api.bindRule('nowhere', slug, table);
  return { kind: 'rule', slug, selector: 'latest', asset_id: id, version_id: await api.publish(id, table) };
};

type Node = { readonly ref: string; readonly type: string } & Readonly<Record<string, unknown>>;
type Connection = readonly [from: string, output: string, to: string, input: string];

/** A flow between an origin with these input fields and a result. */
const flowOf = async (
  fields: readonly string[],
  nodes: readonly Node[],
  connections: readonly Connection[],
  outputs: FlowParts['outputs'] = [{ key: 'booked', type: 'number' }],
): Promise<FlowParts> => {
  const use = await passing(...fields);
  return {
    graph: {
      nodes: [
        { ref: 'in', type: 'origin', rule: use.slug, version: 'latest' },
        ...nodes,
        { ref: 'out', type: 'result' },
      ] as FlowParts['graph']['nodes'], // the node types are those of the document
      connections: connections.map(([from, output, to, input]) => ({ from, output, to, input })),
    },
    inputs: fields.map((key) => ({ key, name: key, type: key.endsWith('id') ? 'string' : 'number' })),
    outputs: [...outputs],
    uses: [use],
    reachesOut: true,
  };
};

/** Books the amount of an order to its account, and answers the resulting balance. */
const booking = (node: Partial<Node> = {}) =>
  flowOf(
    ['account_id', 'amount'],
    [{ ref: 'book', type: 'entity', entitySlug: accounts, operation: 'update', outputs: [{ key: 'balance', type: 'number' }], ...node }], // prettier-ignore
    [
      ['in', 'request_account_id', 'book', 'account_id'],
      ['in', 'request_amount', 'book', 'balance'],
      ['book', 'balance', 'out', 'booked'],
    ],
  );

const runOf = (answer: Record<string, unknown>, flow: string) =>
  (answer['cascaded'] as { flow?: string }[]).find((run) => run.flow === flow);

describe('a flow of an operation that writes an instance of another context', () => {
  it('CN-111: has it settled within, and what is due there run; what it wrote stands where the flow fails later', async () => {
    const failing = await booking();
    const nodes = [
      ...failing.graph.nodes,
      { ref: 'ask', type: 'api', url: 'https://example.com' },
    ] as typeof failing.graph.nodes;
    const connections = [...failing.graph.connections, { from: 'book', output: 'balance', to: 'ask', input: 'b' }];
    await api.bindFlow(orders, `${orders}-failing`, { ...failing, graph: { nodes, connections } });
    const answer = await submit(orders, 'o-1', { account_id: 'a-1', amount: 5 });
    expect(runOf(answer, `${orders}-failing`)).toMatchObject({ status: 'infrastructure_error' });
    expect(await get(accounts, 'a-1')).toMatchObject({ state: { balance: 5 } });
  });

  it('answers what its rules and flows, and those of the other instance, decided', async () => {
    await api.bindFlow(orders, `${orders}-booking`, await booking());
    await api.bindRule(accounts, `${accounts}-noting`, {
      inputs: [{ key: 'balance', name: 'Balance', type: 'number' }],
      outputs: [{ key: 'noted', name: 'Noted', type: 'function' }],
      rows: [{ request: {}, response: { noted: { value: 'balance + 1' } } }],
    });
    expect(await submit(orders, 'o-1', { account_id: 'a-1', amount: 5 })).toMatchObject({
      state: { booked: 5, double: 10 },
    });
    expect(await get(accounts, 'a-1')).toMatchObject({ state: { balance: 5, noted: 6 } });
    expect(await history(accounts, 'a-1')).toMatchObject({ balance: [{ value: 5 }] });
  });

  it('writes again in its next run, and nothing twice in one', async () => {
    const flow = await api.bindFlow(orders, `${orders}-booking`, await booking());
    expect(await api.database.inWorkspace(api.access, (t) => findAsset(t, 'flow', { id: flow }))).toBeDefined();
    await submit(orders, 'o-1', { account_id: 'a-1', amount: 5 });
    await submit(orders, 'o-1', { amount: 6 });
    await submit(orders, 'o-1', { amount: 5 });
    expect(await history(accounts, 'a-1')).toMatchObject({ balance: [{ value: 5 }, { value: 6 }, { value: 5 }] });
  });
});

describe('a flow of an operation that writes its own instance', () => {
  it('CN-112: joins the operation: it waits for nobody, and what it wrote has history and lets others run', async () => {
    const own = await flowOf(
      ['order_id', 'amount'],
      [
        { ref: 'note', type: 'entity', entitySlug: orders, operation: 'update', selectedUpdateFields: { noted: true }, outputs: [{ key: 'double', type: 'number' }] }, // prettier-ignore
        { ref: 'read', type: 'entity', entitySlug: orders, outputs: [{ key: 'noted', type: 'number' }] },
      ],
      [
        ['in', 'request_order_id', 'note', 'order_id'],
        ['in', 'request_amount', 'note', 'noted'],
        ['in', 'request_order_id', 'read', 'order_id'],
        ['note', 'double', 'read', 'double'],
        ['read', 'noted', 'out', 'booked'],
      ],
    );
    await api.bindFlow(orders, `${orders}-own`, own);
    const beganAt = Date.now();
    const answer = await submit(orders, 'o-1', { amount: 5 });
    expect(answer).toMatchObject({ state: { noted: 5, double: 10, booked: 5 } });
    expect(runOf(answer, `${orders}-own`)).toMatchObject({ status: 'solved' });
    expect(await get(orders, 'o-1')).toMatchObject({ state: { noted: 5, booked: 5 } });
    expect(Date.now() - beganAt).toBeLessThan(10_000);
  });

  it('CN-106: cannot delete it', async () => {
    const own = await flowOf(
      ['order_id'],
      [{ ref: 'gone', type: 'entity', entitySlug: orders, operation: 'delete' }],
      [
        ['in', 'request_order_id', 'gone', 'order_id'],
        ['gone', 'state', 'out', 'booked'],
      ],
    );
    await api.bindFlow(orders, `${orders}-own`, own);
    const answer = await submit(orders, 'o-1', { amount: 5 });
    expect(runOf(answer, `${orders}-own`)).toMatchObject({
      ...{ status: 'evaluation_error', error: expect.stringContaining('cannot be deleted by it') as string },
    });
    expect(await get(orders, 'o-1')).toMatchObject({ state: { amount: 5 } });
  });
});

describe('a flow of an operation that writes other instances of its context', () => {
  it('C68: is not run again for them; a submission of theirs runs it', async () => {
    const spread = await flowOf(
      ['account_id', 'amount'],
      [
        { ref: 'write', type: 'entity', entitySlug: orders, operation: 'update', identityFieldKey: 'other', selectedUpdateFields: { amount: true, account_id: true }, outputs: [{ key: 'double', type: 'number' }] }, // prettier-ignore
      ],
      [
        ['in', 'request_account_id', 'write', 'other'],
        ['in', 'request_account_id', 'write', 'account_id'],
        ['in', 'request_amount', 'write', 'amount'],
        ['write', 'double', 'out', 'booked'],
      ],
    );
    const flow = `${orders}-spread`;
    await api.bindFlow(orders, flow, spread);
    await api.bindRule(orders, `${orders}-noting`, {
      inputs: [{ key: 'amount', name: 'Amount', type: 'number' }],
      outputs: [{ key: 'noted', name: 'Noted', type: 'function' }],
      rows: [{ request: {}, response: { noted: { value: 'amount + 1' } } }],
    });
    expect(await submit(orders, 'o-1', { account_id: 'o-2', amount: 5 })).toMatchObject({
      state: { booked: 10, noted: 6 },
    });
    const written = await get(orders, 'o-2');
    expect(written).toMatchObject({ state: { account_id: 'o-2', amount: 5, noted: 6 } });
    expect(Object.keys(written['executions'] as object)).toEqual([`rule:${orders}-noting`]);
    expect(runOf(await submit(orders, 'o-2', {}), flow)).toMatchObject({ status: 'solved', result: { booked: 10 } });
    expect(await history(orders, 'o-2')).toMatchObject({ amount: [{ value: 5 }] });
  });
});

/** Binds a flow of orders that writes `noted` to the account, and one of accounts that writes it to the order. */
const crossing = async () => {
  const write = (entitySlug: string, key: string, other: string) =>
    flowOf(
      [key, 'noted'],
      [{ ref: 'wait', type: 'api', url: 'https://example.com', outputs: [{ key: 'go', type: 'number' }] }, { ref: 'write', type: 'entity', entitySlug, operation: 'update', selectedUpdateFields: { booked: true }, outputs: [{ key: 'booked', type: 'number' }] }], // prettier-ignore
      [
        ['in', 'request_noted', 'wait', 'noted'],
        ['wait', 'go', 'write', 'booked'],
        ['in', `request_${key}`, 'write', key],
        ['write', other, 'out', other],
      ],
      [{ key: other, type: 'number' }],
    );
  await api.bindFlow(orders, `${orders}-crossing`, await write(accounts, 'account_id', 'booked'));
  await api.bindFlow(accounts, `${accounts}-crossing`, await write(orders, 'order_id', 'booked'));
};

describe('operations that wait for each other', () => {
  it('CN-113: the younger gives way with a sentence that names the instance, long before the deadline; the older ends', async () => {
    await submit(orders, 'o-1', { account_id: 'a-1' });
    await submit(accounts, 'a-1', { order_id: 'o-1' });
    await crossing();
    let waiting = 0;
    let go = (): void => undefined;
    const both = new Promise<void>((resolve) => (go = resolve));
    api.workers.answer = async () => {
      if ((waiting += 1) === 2) go();
      await both;
      return { go: 7 };
    };
    const beganAt = Date.now();
    const older = submit(orders, 'o-1', { noted: 1 });
    await waitUntil(() => waiting > 0);
    const younger = await submit(accounts, 'a-1', { noted: 1 });
    const first = await older;
    expect(Date.now() - beganAt).toBeLessThan(8_000);
    expect(runOf(younger, `${accounts}-crossing`)).toMatchObject({
      status: 'infrastructure_error',
      error: expect.stringMatching(new RegExp(`"${orders}:o-1" is held by an operation that waits`)) as string,
    });
    expect(runOf(first, `${orders}-crossing`)).toMatchObject({ status: 'solved', result: { booked: 7 } });
    expect(await get(accounts, 'a-1')).toMatchObject({ state: { booked: 7, noted: 1 } });
    expect(api.workers.givenWay).toBe(1);
  });

  it('CN-113: an operation that waits for another instance of its own batch gives way to itself', async () => {
    const node = { ref: 'write', type: 'entity', entitySlug: orders, operation: 'update', selectedUpdateFields: { booked: true } }; // prettier-ignore
    const neighbour = await flowOf(
      ['account_id', 'amount'],
      [{ ...node, identityFieldKey: 'other', outputs: [{ key: 'booked', type: 'number' }] }],
      [
        ['in', 'request_account_id', 'write', 'other'],
        ['in', 'request_amount', 'write', 'booked'],
        ['write', 'booked', 'out', 'noted'],
      ],
      [{ key: 'noted', type: 'number' }],
    );
    await api.bindFlow(orders, `${orders}-neighbour`, neighbour);
    const records = [
      { order_id: 'o-1', account_id: 'o-2', amount: 1 },
      { order_id: 'o-2', amount: 2 },
    ];
    const beganAt = Date.now();
    // The second has no account and waits for facts; it is merged in the first one's transaction, and held only if something is due for it.
    await api.bindRule(orders, `${orders}-due`, {
      inputs: [{ key: 'amount', name: 'Amount', type: 'number' }],
      outputs: [{ key: 'discount', name: 'Discount', type: 'boolean' }],
      rows: [{ request: {}, response: { discount: { value: true } } }],
    });
    const { body } = await api.call('POST', `/contexts/batch/${orders}`, records);
    expect(Date.now() - beganAt).toBeLessThan(8_000);
    const [first] = body['results'] as { executed: { slug: string; status: string; error?: string }[] }[];
    expect(first?.executed.find(({ slug }) => slug === `${orders}-neighbour`)).toMatchObject({
      status: 'infrastructure_error',
      error: expect.stringContaining(`"${orders}:o-2" is held`) as string,
    });
    expect(api.workers.givenWay).toBe(1);
  });
});

describe('operations within operations', () => {
  it('CN-114: stand at most 8 deep', async () => {
    const chained = await flowOf(
      ['amount'],
      [
        { ref: 'next', type: 'code', code: 'see below' },
        { ref: 'write', type: 'entity', entitySlug: orders, operation: 'update', outputs: [{ key: 'booked', type: 'number' }] }, // prettier-ignore
      ],
      [
        ['in', 'request_amount', 'next', 'amount'],
        ['next', 'id', 'write', 'order_id'],
        ['next', 'amount', 'write', 'amount'],
        ['write', 'booked', 'out', 'booked'],
      ],
    );
    const nodes = chained.graph.nodes.map(
      (node) =>
      node.ref === 'next' ? { ...node, outputs: [{ key: 'id', type: 'string' }, { key: 'amount', type: 'number' }] } : node, // prettier-ignore
    ) as typeof chained.graph.nodes;
    // A flow of the same context does not run again within itself (C68), nor would two contexts that alternate. So each level has a context.
    const levels = await Promise.all(Array.from({ length: 10 }, () => makeContext(ORDERS)));
    for (const [index, level] of levels.entries()) {
      const entitySlug = levels[index + 1]?.slug ?? level.slug;
      const own = nodes.map((node) => (node.ref === 'write' ? { ...node, entitySlug } : node)) as typeof nodes;
      await api.bindFlow(level.slug, `${level.slug}-chain`, { ...chained, graph: { ...chained.graph, nodes: own } });
    }
    api.workers.answer = ({ inputs }) => Promise.resolve({ id: `o-${String(inputs['amount'])}`, amount: Number(inputs['amount']) + 1 }); // prettier-ignore
    await submit(String(levels[0]?.slug), 'o-0', { amount: 0 });
    const states = await Promise.all(levels.map(({ slug }, index) => get(slug, `o-${Math.max(0, index - 1)}`)));
    expect(states.map(({ state }) => state !== undefined)).toEqual([...Array<boolean>(8).fill(true), false, false]);
    const deepest = states[7]?.['executions'] as Record<string, { error?: string }>;
    expect(Object.values(deepest)[0]?.error).toContain('stand 8 deep within one another');
  });

  it('CN-115: a reader that is held by the operation around is evaluated by upkeep afterwards', async () => {
    const related = { to_context_id: accountsId, relation_type: 'belongs_to', foreign_key_fact: 'account_id', name: 'account' }; // prettier-ignore
    await api.call('POST', `/admin/contexts/${ordersId}/relationships`, related);
    const schema = { ...ORDERS.schema, derived: [{ key: 'held', expression: '$account.balance' }] };
    expect(await api.call('PUT', `/admin/contexts/${ordersId}`, { schema })).toMatchObject({ status: 200 });
    await api.bindFlow(orders, `${orders}-booking`, await booking());
    const beganAt = Date.now();
    await submit(orders, 'o-1', { account_id: 'a-1', amount: 5 });
    expect(Date.now() - beganAt).toBeLessThan(8_000);
    expect(await get(orders, 'o-1')).not.toMatchObject({ state: { held: 5 } });
    await api.upkeep.round();
    expect(await get(orders, 'o-1')).toMatchObject({ state: { booked: 5, held: 5 } });
  });
});
