import { updateAsset } from '@decision/persistence';
import { type ContextsApiUnderTest, type RuleTableParts, startContextsApi } from '../contexts-api-under-test';

/** A note for totals above 100, and none for others. */
const NOTING: RuleTableParts = {
  inputs: [{ key: 'total', name: 'Total', type: 'number' }],
  outputs: [{ key: 'note', name: 'Note', type: 'string' }],
  rows: [
    { request: { total: { op: 'greater than', args: [100] } }, response: { note: { value: 'of the rule' } } },
    { request: {}, response: {} },
  ],
};
const BILLS = {
  name: 'Bills',
  identity_fact: 'id',
  schema: {
    base: [
      { key: 'id', type: 'string' },
      { key: 'total', type: 'number', required: true },
      { key: 'note', type: 'string' },
      { key: 'other', type: 'string' },
    ],
  },
};
/** So long that a process that is only delayed renews no lease that a test has ended. */
const LEASE_MS = 3_600_000;

let one: ContextsApiUnderTest;
let two: ContextsApiUnderTest;
let slug: string;
let ruleId: string;

beforeAll(async () => {
  one = await startContextsApi({ leaseMs: LEASE_MS, chunkSize: 1 });
  two = await startContextsApi({ leaseMs: LEASE_MS, beside: one });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});
beforeEach(async () => {
  slug = String((await one.call('POST', '/admin/contexts', BILLS)).body['slug']);
  ruleId = await one.bindRule(slug, `${slug}-noting`, NOTING);
  for (const { workers } of [one, two]) workers.before = () => Promise.resolve();
});
const bind = (context: string | undefined) =>
  one.database.inWorkspace(one.access, (t) =>
    updateAsset(t, 'rule', ruleId, { context: context === undefined ? null : { slug: context, version: 'latest' } }),
  );
const submit = async (facts: object, id = 'a') => (await one.call('POST', `/contexts/${slug}/${id}`, facts)).body;
const batch = async (records: readonly object[]) =>
  (await one.call('POST', `/contexts/batch/${slug}`, records)).body['results'];
const show = async (id = 'a') => (await one.call('GET', `/contexts/${slug}/${id}`)).body;

describe('C66: what a rule wrote and does not answer again', () => {
  it('is cleared, and a submission says so', async () => {
    expect(await submit({ total: 200 })).toMatchObject({ state: { note: 'of the rule' } });
    const answer = await submit({ total: 1 });
    expect(answer['state']).toEqual({ id: 'a', total: 1 });
    expect(answer['cascaded']).toMatchObject([{ status: 'solved', written_to_context: [], cleared: ['note'] }]);
    expect((await show())['state']).toEqual({ id: 'a', total: 1 });
  });

  it('is cleared by a batch and a manual solve, which say so', async () => {
    await batch([{ id: 'a', total: 200 }, { id: 'b', total: 200 }]); // prettier-ignore
    expect(await batch([{ id: 'a', total: 1 }])).toMatchObject([{ executed: [{ cleared: ['note'] }] }]);
    const solved = await one.call('POST', `/contexts/${slug}/b/solve/${slug}-noting`, { total: 1 });
    expect(solved.body).toMatchObject({ status: 'solved', result: {}, written_to_context: [], cleared: ['note'] });
  });
});

describe('C66: what a client submitted since', () => {
  it.each([
    ['another value', 'mine'],
    ['the value that the rule wrote', 'of the rule'],
    ['null', null],
  ])('stays: %s', async (_, note) => {
    await submit({ total: 200 });
    await submit({ note });
    const answer = await submit({ total: 1 });
    expect(answer['state']).toEqual({ id: 'a', total: 1, note });
    expect(answer['cascaded']).toMatchObject([{ status: 'solved', written_to_context: [] }]);
    expect(answer['cascaded']).not.toMatchObject([{ cleared: expect.anything() }]);
  });

  it('stays if it comes with the facts that the rule decides by', async () => {
    await submit({ total: 200 });
    expect((await submit({ total: 1, note: 'mine' }))['state']).toEqual({ id: 'a', total: 1, note: 'mine' });
  });

  it('stays if a batch brings it, whatever the chunks are', async () => {
    await submit({ total: 200 });
    const results = await batch([{ id: 'b', total: 200 }, { id: 'a', note: 'mine' }, { id: 'b', note: 'too' }]); // prettier-ignore
    expect(results).toMatchObject([{ state: { note: 'of the rule' } }, { state: { note: 'mine' } }]);
    await batch([{ id: 'a', total: 1 }, { id: 'b', total: 1 }]); // prettier-ignore
    expect((await show('a'))['state']).toEqual({ id: 'a', total: 1, note: 'mine' });
    expect((await show('b'))['state']).toEqual({ id: 'b', total: 1 }); // the rule decided after the fact was given
  });

  it('stays if another process takes the operation over', async () => {
    await submit({ total: 200 });
    let isReached: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (isReached = resolve));
    let goOn: () => void = () => undefined;
    one.workers.before = () => {
      isReached();
      return new Promise((resolve) => (goOn = resolve));
    };
    const silent = submit({ total: 1, note: 'mine' });
    await reached;
    await one.held();
    await one.database.inWorkspace(one.access, async (t) => {
      await t.raw(`update context_operations set lease_until = clock_timestamp() - interval '1 s'`);
    });
    await two.upkeep.round();
    expect((await show())['state']).toEqual({ id: 'a', total: 1, note: 'mine' });
    goOn();
    expect(await silent).toMatchObject({ code: 'operation_interrupted' });
    expect((await show())['state']).toEqual({ id: 'a', total: 1, note: 'mine' });
  });

  it('stays if it came while the rule was not bound', async () => {
    await submit({ total: 200 });
    await bind(undefined);
    await batch([{ id: 'a', note: 'of the rule', total: 1 }]);
    await bind(slug);
    expect(await submit({})).toMatchObject({ triggered: true, state: { total: 1, note: 'of the rule' } });
  });
});
