import { type ContextsApiUnderTest, type RuleTableParts, startContextsApi } from './contexts-api-under-test';

/** Answers the opposite of its input, and so never ends. */
const FLIP: RuleTableParts = {
  inputs: [{ key: 'flag', name: 'Flag', type: 'number' }],
  outputs: [{ key: 'flag', name: 'Flag', type: 'function' }],
  rows: [{ request: {}, response: { flag: { value: '1 - flag' } } }],
};
/** Answers a greater number each time, up to 300 or without end. */
const CLIMB = (formula: string): RuleTableParts => ({
  ...FLIP,
  rows: [{ request: {}, response: { flag: { value: formula } } }],
});
const THINGS = {
  name: 'Things',
  identity_fact: 'id',
  schema: {
    base: [
      { key: 'id', type: 'string' },
      { key: 'total', type: 'number' },
      { key: 'flag', type: 'number', required: true },
    ],
  },
};

let api: ContextsApiUnderTest;
let slug: string;

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: 2 });
});
afterAll(() => api.stop());
beforeEach(async () => {
  slug = String((await api.call('POST', '/admin/contexts', THINGS)).body['slug']);
});
const submit = async (facts: unknown, id = 'a') => (await api.call('POST', `/contexts/${slug}/${id}`, facts)).body;
const batch = async (records: readonly object[], query = '') =>
  (await api.call('POST', `/contexts/batch/${slug}${query}`, records)).body;
const lines = async (records: readonly object[], accept: string) => {
  const response = await fetch(`${api.url}/api/v1/contexts/batch/${slug}?include=status`, {
    method: 'POST',
    headers: { 'x-api-key': api.adminKey, 'content-type': 'application/x-ndjson', accept },
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    signal: AbortSignal.timeout(60_000),
  });
  return (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};

describe('C22, C28: what a context ignores', () => {
  const WRONG = { total: 'abc', totl: 5 };
  const TOLD = {
    ignored: [
      { fact: 'total', reason: 'The fact "total" must be a number, not a string.' },
      { fact: 'totl', reason: 'The context has no fact "totl"; did you mean "total"?' },
    ],
    ignored_count: 2,
  };

  it('is told by a submission, and nothing is where all was merged', async () => {
    expect(await submit(WRONG)).toMatchObject({ state: { id: 'a' }, ...TOLD });
    const clean = await submit({ total: 1 });
    expect(Object.keys(clean)).not.toEqual(expect.arrayContaining(['ignored']));
    expect(Object.keys(clean)).not.toEqual(expect.arrayContaining(['ignored_count']));
  });

  it('is told by a manual solve, whether it ran or waits', async () => {
    await api.bindRule(slug, `${slug}-flip`, FLIP);
    const solve = (facts: object) => api.call('POST', `/contexts/${slug}/a/solve/${slug}-flip`, facts);
    expect(await solve(WRONG)).toMatchObject({ status: 202, body: TOLD });
    expect(await solve({ ...WRONG, flag: 1 })).toMatchObject({ status: 200, body: TOLD });
  });

  it('is told by a batch in the entry of its instance, whatever it includes, and counted for all', async () => {
    const records = [{ id: 'a', ...WRONG }, { id: 'b', total: 1 }, { id: 'a', extra: 1 }]; // prettier-ignore
    const answer = await batch(records, '?include=status');
    expect(answer).toMatchObject({ accepted: 3, rejected: 0, ignored: 3 });
    const extra = { fact: 'extra', reason: 'The context has no fact "extra".' };
    expect(answer['results']).toEqual([
      { instance_id: 'a', status: 'pending', ignored: [...TOLD.ignored, extra], ignored_count: 3 },
      { instance_id: 'b', status: 'pending' },
    ]);
    expect(await batch([{ id: 'b', total: 2 }])).toMatchObject({ ignored: 0 });
  });

  it('is told by a batch of lines, of all chunks', async () => {
    const records = [{ id: 'a', ...WRONG }, { id: 'b' }, { id: 'a', extra: 1 }]; // prettier-ignore
    const [whole] = await lines(records, 'application/json');
    expect(whole).toMatchObject({
      ignored: 3,
      results: [{ instance_id: 'a', ignored_count: 3 }, { instance_id: 'b' }],
    });
    const streamed = await lines(records, 'application/x-ndjson');
    expect(streamed.map((entry) => entry['ignored_count'])).toEqual([2, undefined, 1, undefined]);
    expect(streamed.at(-1)).toMatchObject({ accepted: 3, ignored: 3 });
  });

  it('is told in part if it is much, and counted in full', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`unknown_${index}`, 1]));
    const single = await submit(unknown);
    expect(single['ignored']).toHaveLength(100);
    expect(single['ignored_count']).toBe(10_000);
    const many = Array.from({ length: 40 }, (_, index) => ({
      id: `b-${index}`,
      ...Object.fromEntries(Object.entries(unknown).slice(0, 1_000)),
    }));
    const answer = await batch(many);
    expect(answer['ignored']).toBe(40_000);
    expect(JSON.stringify(answer).length).toBeLessThan(300_000);
  });
});

describe('C67: what is still due when it was stopped', () => {
  beforeEach(() => api.bindRule(slug, `${slug}-flip`, FLIP));
  const stopped = () => ({ unfinished: [`rule:${slug}-flip`], stopped_by: 'repeated_state' });

  it('is told by a submission', async () => {
    expect(await submit({ flag: 1 })).toMatchObject(stopped());
  });

  it('is told by a manual solve', async () => {
    const solved = await api.call('POST', `/contexts/${slug}/a/solve/${slug}-flip`, { flag: 1 });
    expect(solved).toMatchObject({ status: 200, body: { status: 'solved', ...stopped() } });
  });

  it('is told by a batch, whatever it includes', async () => {
    expect((await batch([{ id: 'a', flag: 1 }, { id: 'b' }], '?include=is_new'))['results']).toEqual([
      { instance_id: 'a', is_new: true, ...stopped() },
      { instance_id: 'b', is_new: true },
    ]);
    const [whole] = await lines([{ id: 'c', flag: 1 }], 'application/json');
    expect(whole).toMatchObject({ results: [{ instance_id: 'c', ...stopped() }] });
    const [line] = await lines([{ id: 'd', flag: 1 }], 'application/x-ndjson');
    expect(line).toMatchObject({ instance_id: 'd', ...stopped() });
  });
});

describe('C67: rounds', () => {
  it('are as many as it takes to end', async () => {
    await api.bindRule(slug, `${slug}-climb`, CLIMB('flag < 300 ? flag + 1 : 300'));
    const answer = await submit({ flag: 0 });
    expect(answer).toMatchObject({ state: { flag: 300 }, triggered: true });
    expect(answer['stopped_by']).toBeUndefined();
  });

  it('stop where they never end and never repeat once their tries take too much memory, while others are answered', async () => {
    await api.bindRule(slug, `${slug}-climb`, CLIMB('flag + 1'));
    const climbing = submit({ flag: 0 }, 'endless');
    const beside = await api.call('GET', `/admin/contexts/${slug}`);
    expect(beside.status).toBe(200);
    expect(await climbing).toMatchObject({ stopped_by: 'memory_bound', unfinished: [`rule:${slug}-climb`] });
  }, 60_000);
});
