import { randomUUID } from 'node:crypto';
import { decodeSettleRequest } from '@decision/contracts';
import { deleteValue, findValues, saveValues, type Transaction, updateValue } from '@decision/persistence';
import {
  type ContextsApiUnderTest,
  type FlowParts,
  type RuleTableParts,
  startContextsApi,
} from '../contexts-api-under-test';

let api: ContextsApiUnderTest;
let slug: string;
let made = 0;
/** Collections of each message to a worker. */
let sent: Readonly<Record<string, unknown[]>>[] = [];

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: 2 });
  api.workers.before = (bytes) => {
    sent.push(decodeSettleRequest(bytes).collections);
    return Promise.resolve();
  };
});
afterAll(() => api.stop());

const limited = (values_collection: string) => ({ values_only: true, values_collection });

beforeEach(async () => {
  made += 1;
  const base = [
    { key: 'id', type: 'string' },
    { key: 'total', type: 'number' },
    { key: 'colour', type: 'string', ...limited(`colours${made}`) },
    { key: 'sizes', type: 'list', ...limited(`sizes${made}`) },
    { key: 'grade', type: 'string', output_only: true, ...limited(`grades${made}`) },
  ];
  const context = { name: `Goods ${made}`, identity_fact: 'id', schema: { base }, on_schema_mismatch: 'reject' };
  const { body } = await api.call('POST', '/admin/contexts', context);
  slug = String(body['slug']);
  sent = [];
  await save({ [`colours${made}.a`]: 'red', [`sizes${made}`]: ['S', 1], [`grades${made}.a`]: 'A' });
});

const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  api.database.inWorkspace(api.access, work);

const save = (values: Readonly<Record<string, unknown>>, refersTo: readonly string[] = []): Promise<unknown> =>
  inside((t) =>
    saveValues(
      t,
      Object.entries(values).map(([name, content]) => ({
        ...{ name, content, refersTo },
        type: Array.isArray(content) ? ('list' as const) : (typeof content as 'string' | 'number' | 'boolean'),
      })),
      { newUserGroups: [] },
    ),
  );
const idOf = async (name: string): Promise<string> =>
  inside(async (t) => (await findValues(t, { names: [name] }))[0]?.id ?? '');

const submit = async (facts: object, id = 'g-1') => (await api.call('POST', `/contexts/${slug}/${id}`, facts)).status;

describe('C21: a submission to facts limited to a collection', () => {
  it('may hold members of a collection, and nothing else', async () => {
    expect(await submit({ colour: 'red', sizes: ['S', 1] })).toBe(200);
    expect(await submit({ colour: null, sizes: [] })).toBe(200);
    for (const facts of [{ colour: 'blue' }, { colour: 'Red' }, { sizes: ['1'] }, { sizes: ['S', { from: 1 }] }])
      expect(await submit(facts)).toBe(422);
  });

  it('is checked by the values of its moment', async () => {
    expect(await submit({ colour: 'blue' })).toBe(422);
    await save({ [`colours${made}.b`]: 'blue' });
    expect(await submit({ colour: 'blue' })).toBe(200);
    const id = await idOf(`colours${made}.b`);
    await inside((t) => updateValue(t, id, { archived: true }));
    expect(await submit({ colour: 'blue' })).toBe(422);
    await inside((t) => updateValue(t, id, { archived: false }));
    expect(await submit({ colour: 'blue' })).toBe(200);
    await inside((t) => deleteValue(t, id));
    expect(await submit({ colour: 'blue' })).toBe(422);
    expect(await submit({ colour: 'red' })).toBe(200);
  });

  it('may hold what the references of a list stand for, and no reference', async () => {
    await save({ 'shared.large': 'L' });
    const id = await idOf('shared.large');
    const reference = { $rb: 'globalValue', id, name: 'shared.large' };
    await save({ [`sizes${made}`]: ['S', reference] }, [id]);
    expect(await submit({ sizes: ['L', 'S'] })).toBe(200);
    expect(await submit({ sizes: [reference] })).toBe(422);
    expect(await submit({ sizes: ['M'] })).toBe(422);
  });

  it('is checked record by record in a batch, and chunk by chunk in lines', async () => {
    const records = ['red', 'blue', 'red', 'green', 'red'].map((colour, n) => ({ id: `b-${n}`, colour }));
    const positions = ({ body }: { body: Record<string, unknown> }) =>
      (body['rejections'] as { position: number }[]).map(({ position }) => position);
    const batch = await api.call('POST', `/contexts/batch/${slug}`, records);
    expect(batch.body).toMatchObject({ accepted: 3, rejected: 2 });
    expect(positions(batch)).toEqual([1, 3]);
    const response = await fetch(`${api.url}/api/v1/contexts/batch/${slug}`, {
      method: 'POST',
      headers: { 'x-api-key': api.adminKey, 'content-type': 'application/x-ndjson' },
      body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    });
    const lines = (await response.json()) as Record<string, unknown>;
    expect(lines).toMatchObject({ accepted: 3, rejected: 2 });
    expect(positions({ body: lines })).toEqual([1, 3]);
  });

  it('of a node of a flow is checked too', async () => {
    const run = { ...{ workspaceId: api.access.workspaceId, versionId: 'v', idempotencyRoot: randomUUID(), round: 0 }, requestId: 'r', deadline: Date.now() + 30_000 }; // prettier-ignore
    const fields = { entitySlug: slug, operation: 'update' };
    const node = { ref: 'e', type: 'entity', fields, onError: 'fail' as const, defaultOutputs: {} };
    const update = (inputs: Record<string, unknown>) =>
      api.workers.entities({ ...run, keyId: undefined })({ node, path: ['e'], indexes: [], inputs, signal: new AbortController().signal }); // prettier-ignore
    expect(await update({ id: 'n-1', colour: 'red' })).toMatchObject({ colour: 'red' });
    await expect(update({ id: 'n-1', colour: 'blue' })).rejects.toMatchObject({ code: 'evaluation_failed' });
  });
});

const grading = (grade: string, key = 'grade'): RuleTableParts => ({
  inputs: [{ key: 'total', name: 'Total', type: 'number' }],
  outputs: [{ key, name: 'Output', type: 'string' }],
  rows: [{ request: {}, response: { [key]: { value: grade } } }],
});

describe('messages to workers', () => {
  const read = async () => (await api.call('GET', `/contexts/${slug}/g-1`)).body;

  it('hold no collection if no bound rule may write a fact that is limited to one', async () => {
    await api.bindRule(slug, `${slug}-other`, {
      inputs: [{ key: 'colour', name: 'Colour', type: 'string' }],
      outputs: [{ key: 'total', name: 'Total', type: 'number' }],
      rows: [{ request: {}, response: { total: { value: 1 } } }],
    });
    expect(await submit({ colour: 'red', sizes: ['S'] })).toBe(200);
    expect(sent).toEqual([{}]);
  });

  it('hold the collection by which a result is checked', async () => {
    const rule = await api.bindRule(slug, `${slug}-grade`, grading('A'));
    expect(await submit({ total: 1 })).toBe(200);
    expect(sent).toEqual([{ [`grades${made}`]: ['A'] }]);
    expect(await read()).toMatchObject({ state: { grade: 'A' } });
    await api.publish(rule, grading('B'));
    expect(await submit({ total: 1 })).toBe(200);
    const error = expect.stringContaining('must hold values of the collection') as string;
    const executions = { [`rule:${slug}-grade`]: { status: 'evaluation_error', error } };
    expect(await read()).toMatchObject({ state: { grade: 'A' }, executions });
  });

  it('hold all collections if a flow is bound, which may write any fact', async () => {
    const id = await api.bindRule('nowhere', `${slug}-origin`, grading('A', 'total_text'));
    const versionId = await api.publish(id, grading('A', 'total_text'));
    const flow: FlowParts = {
      graph: {
        nodes: [
          { ref: 'in', type: 'origin', rule: `${slug}-origin`, version: 'latest' },
          { ref: 'out', type: 'result' },
        ],
        connections: [{ from: 'in', output: 'total_text', to: 'out', input: 'grade' }],
      },
      inputs: grading('A').inputs,
      outputs: [{ key: 'grade', type: 'string' }],
      uses: [{ kind: 'rule', slug: `${slug}-origin`, selector: 'latest', asset_id: id, version_id: versionId }],
    };
    await api.bindFlow(slug, `${slug}-flow`, flow);
    expect(await submit({ total: 1 })).toBe(200);
    expect(sent.map((collections) => Object.keys(collections))).toEqual([
      [`colours${made}`, `sizes${made}`, `grades${made}`],
    ]);
    expect(await read()).toMatchObject({ state: { grade: 'A' } });
  });
});
