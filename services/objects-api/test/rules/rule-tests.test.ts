import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('first');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, key = admin): Promise<Answer> =>
  api.call(key, method, `/admin/rules${path}`, body);
const importRule = (rule: object): Promise<Answer> => call('POST', '/import', { rule });

const table = {
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [{ key: 'price', type: 'number', defaultValue: 9 }],
  conditions: [{ request: { weight: { op: 'less than', args: [2] } }, response: { price: { value: 4.9 } } }],
};

const newRule = async (parts: object = {}): Promise<{ id: string; slug: string }> => {
  const id = randomUUID();
  const slug = `rule-${id.slice(0, 8)}`;
  expect(await importRule({ id, slug, ...table, ...parts })).toMatchObject({ status: 200 });
  return { id, slug };
};

const test = (parts: object = {}) => ({
  name: 'Light',
  request: { weight: 1 },
  response: { price: 4.9 },
  critical: false,
  ...parts,
});

it('are created, listed, carried by the export, and deleted', async () => {
  const { id, slug } = await newRule();
  const made = await call('POST', `/${slug}/tests`, test({ policy: 'matches', critical: true }));
  expect(made).toMatchObject({ status: 200, body: { ...test({ critical: true }), policy: 'matches' } });
  expect((await call('POST', `/${slug}/tests`, test({ name: 'Second' }))).body).toMatchObject({ policy: 'contains' });
  expect((await call('GET', `/${slug}/tests`)).body).toMatchObject([made.body, { name: 'Second' }]);
  expect((await call('GET', `/export?id=${id}`)).body).toMatchObject({ testSuite: [made.body, { name: 'Second' }] });
  const path = `/${slug}/tests/${String(made.body['id'])}`;
  expect(await call('DELETE', path)).toEqual(made);
  expect(await call('DELETE', path)).toMatchObject({ status: 404, body: { code: 'test_not_found' } });
  expect((await call('GET', `/${slug}/tests`)).body).toMatchObject([{ name: 'Second' }]);
});

it('created twice under one id are one, and adding one changes the draft', async () => {
  const { id, slug } = await newRule();
  const before = await call('GET', `/export?id=${id}`);
  const first = await call('POST', `/${slug}/tests`, test({ id: 'mine' }));
  expect(await call('POST', `/${slug}/tests`, test({ id: 'mine', name: 'Other' }))).toEqual(first);
  const after = await call('GET', `/export?id=${id}`);
  expect(String(after.body['updatedAt']) > String(before.body['updatedAt'])).toBe(true);
});

it('added at once are all there', async () => {
  const { slug } = await newRule();
  await Promise.all(Array.from({ length: 20 }, (_, n) => call('POST', `/${slug}/tests`, test({ name: `T${n}` }))));
  expect((await call('GET', `/${slug}/tests`)).body).toHaveLength(20);
});

it('run against the draft, not against what is published, and their results are kept', async () => {
  const { id, slug } = await newRule({ _publish: true });
  await call('POST', `/${slug}/tests`, test({ critical: true }));
  await call('POST', `/${slug}/tests`, test({ name: 'Heavy', request: { weight: 5 }, response: { price: 9 } }));
  await call('POST', `/${slug}/tests`, test({ name: 'Never', policy: 'excludes' }));
  const run = await call('POST', `/${slug}/tests/run`, {});
  expect(run).toMatchObject({
    status: 200,
    body: {
      rule: slug,
      total: 3,
      passed: 2,
      failed: 1,
      pass_percentage: '66.66',
      critical_failure: false,
      failed_tests: ['Never'],
      critical_failed_tests: [],
      results: [
        { name: 'Light', success: true, error: false },
        { name: 'Heavy', success: true },
        { name: 'Never', success: false },
      ],
      failures: [{ name: 'Never', expected: { price: 4.9 }, actual: { price: 4.9 }, matched_rows: [0] }],
    },
  });
  await importRule({ id, conditions: [] });
  const critical = await call('POST', `/${slug}/tests/run`, { critical_only: true });
  expect(critical.body).toMatchObject({
    total: 1,
    failed: 1,
    critical_failure: true,
    critical_failed_tests: ['Light'],
  });
  expect((await call('GET', `/${slug}/tests`)).body).toMatchObject([
    {
      success: false,
      error: false,
      test_state: { response: { price: 9 }, http_status: 200 },
      last_executed: expect.stringMatching(/Z$/),
    },
    { success: true },
    { success: false },
  ]);
});

it('run without a body', async () => {
  const { slug } = await newRule();
  expect(await call('POST', `/${slug}/tests/run`)).toMatchObject({
    status: 200,
    body: { total: 0, pass_percentage: '100.00', critical_failure: false, results: [], failures: [] },
  });
});

it('see values as they are now, also those that the key may not see', async () => {
  await api.call(admin, 'POST', '/values', { values: { limit: 3 } });
  const restricted = await api.makeKey(workspaceId, 'admin', ['north']);
  const { slug, id } = await newRule({
    conditions: [
      { request: { weight: { op: 'less than', args: [{ $ref: 'limit' }] } }, response: { price: { value: 1 } } },
    ],
    testSuite: [test({ response: { price: 1 }, request: { weight: 2.5 } })],
  });
  expect((await call('POST', `/${slug}/tests/run`)).body).toMatchObject({ passed: 1 });
  await api.call(admin, 'POST', '/values', { values: { limit: 2 } });
  expect((await call('POST', `/${slug}/tests/run`)).body).toMatchObject({ failed: 1 });
  expect(await call('POST', `/${slug}/tests/run`, {}, restricted)).toMatchObject({ status: 404 });
  expect(id).toBeTruthy();
});

it('gives ids to tests that come with an import and have none', async () => {
  const { slug } = await newRule({ testSuite: [{ request: { weight: 1 } }, { id: 'kept', name: 'K', extra: true }] });
  const { body } = await call('GET', `/${slug}/tests`);
  expect(body).toMatchObject([
    { name: 'Test 1', request: { weight: 1 } },
    { id: 'kept', name: 'K', request: {} },
  ]);
  expect(body[0]?.['id']).toMatch(/^[0-9a-f-]{36}$/);
});

describe('with continuous testing', () => {
  const continuous = { settings: { testing: 'continuous' } };

  it('a failing critical test keeps the rule from being published, and is named', async () => {
    const { id, slug } = await newRule({
      ...continuous,
      testSuite: [
        test({ critical: true, name: 'Breaks', response: { price: 0 } }),
        test({ name: 'Fine', critical: true }),
      ],
    });
    api.announced.length = 0;
    expect(await importRule({ id, _publish: true, name: 'Not saved either' })).toMatchObject({
      status: 409,
      body: { code: 'tests_failed', failed_tests: ['Breaks'] },
    });
    expect(api.announced).toEqual([]);
    expect((await call('GET', `/export?id=${id}`)).body).toMatchObject({
      published: false,
      name: expect.not.stringMatching(/Not saved/),
    });
    await importRule({
      id,
      responseSchema: [{ key: 'price', type: 'number' }],
      conditions: [{ response: { price: { value: 0 } } }],
    });
    expect(await importRule({ id, _publish: true })).toMatchObject({ status: 409, body: { failed_tests: ['Fine'] } });
    expect(slug).toBeTruthy();
  });

  it('other failing tests do not', async () => {
    const { id } = await newRule({ ...continuous, testSuite: [test({ response: { price: 0 } })] });
    expect(await importRule({ id, _publish: true })).toMatchObject({ status: 200, body: { version: 1 } });
  });

  it('is asked for: without it nothing is run', async () => {
    const { id } = await newRule({ testSuite: [test({ critical: true, response: { price: 0 } })] });
    expect(await importRule({ id, _publish: true })).toMatchObject({ status: 200 });
  });
});

it('a thousand of them answer, and the service answers others meanwhile', async () => {
  const rows = Array.from({ length: 2_000 }, (_, n) => ({
    request: { weight: { op: 'equals', args: [n] } },
    response: { price: { value: n } },
  }));
  const suite = Array.from({ length: 1_000 }, (_, n) =>
    test({ name: `T${n}`, request: { weight: n }, response: { price: n } }),
  );
  const { slug } = await newRule({ conditions: rows, testSuite: suite });
  const running = call('POST', `/${slug}/tests/run`);
  const meanwhile = await fetch(`${api.baseUrl}/api/health`);
  expect(meanwhile.status).toBe(200);
  expect((await running).body).toMatchObject({ total: 1_000, passed: 1_000 });
});

it.each([
  ['GET', '', undefined],
  ['POST', '', test()],
  ['DELETE', '/x', undefined],
  ['POST', '/run', {}],
])('%s tests%s of a rule that the key does not see answers 404', async (method, path, body) => {
  const { slug } = await newRule();
  const foreign = await api.makeKey(await api.makeWorkspace('foreign'), 'admin');
  for (const [name, key] of [
    ['unknown', admin],
    [slug, foreign],
  ] as const)
    expect(await call(method, `/${name}/tests${path}`, body, key)).toMatchObject({
      status: 404,
      body: { code: 'rule_not_found' },
    });
});

it.each([{}, test({ policy: 'most' }), test({ critical: 'yes' }), test({ request: [] }), test({ name: '' })])(
  'of the form %j are refused',
  async (body) => {
    const { slug } = await newRule();
    expect(await call('POST', `/${slug}/tests`, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  },
);
