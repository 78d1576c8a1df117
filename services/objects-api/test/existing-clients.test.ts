import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

/** Calls on rules and tests as existing client libraries send them, and the parts of answers that these clients need. */
let api: ObjectsApiUnderTest;
let key: string;

beforeAll(async () => {
  api = await startObjectsApi();
  key = await api.makeKey(await api.makeWorkspace('clients'), 'admin');
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(key, method, `/admin/rules${path}`, body);

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const text = expect.any(String);

/** Every field that a client can send, including those that only its own exports have. */
const wholePayload = (id: string) => ({
  id,
  stable_id: randomUUID(),
  slug: `rule-${id.slice(0, 8)}`,
  name: 'Parcel price',
  description: 'What a parcel costs.',
  labels: ['shipping', 'price'],
  createdAt: '2024-01-15T09:30:00.000Z',
  updatedAt: '2024-01-15T09:30:00Z',
  published: true,
  metadata: { owner: 'logistics' },
  _publish: true,
  _unpublish: false,
  requestSchema: [
    {
      key: 'weight',
      show: true,
      name: 'Weight',
      type: 'number',
      description: 'kg',
      defaultValue: 1,
      valuesOnly: false,
    },
    { key: 'zones', show: true, name: 'Zones', type: 'list', valuesPrefix: 'zones' },
  ],
  responseSchema: [
    { key: 'price', show: true, name: 'Price', type: 'number', defaultValue: 0 },
    { key: 'tax', show: true, name: 'Tax', type: 'function' },
  ],
  sampleRequest: { weight: 2 },
  testRequest: { weight: 2 },
  sampleResponse: { price: 4.9 },
  conditions: [
    {
      request: { weight: { op: 'less than', args: [5] } },
      response: { price: { value: 4.9 }, tax: { value: 'weight * 0.2' } },
      settings: {
        enabled: true,
        priority: 1.5,
        schedule: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
        groupId: null,
        or: false,
      },
    },
  ],
  groups: {},
  settings: { testing: 'continuous' },
  testSuite: [
    { id: 't1', name: 'Light', request: { weight: 2 }, response: { price: 4.9 }, policy: 'contains', critical: true },
  ],
  history: [{ at: '2024-01-15T09:30:00.000Z' }],
  publishedAt: '2024-01-15T09:30:00.000Z',
  published_requestSchema: [],
  published_responseSchema: [],
  published_conditions: [],
  published_groups: {},
});

it('a whole document is imported, and its export is imported again unchanged', async () => {
  const id = randomUUID();
  const imported = await call('POST', '/import', { rule: wholePayload(id) });
  expect(imported).toMatchObject({ status: 200, body: { id, labels: ['shipping', 'price'], version: 1 } });
  const exported = await call('GET', `/export?id=${id}`);
  expect(exported.body).toMatchObject({
    id,
    labels: ['shipping', 'price'],
    createdAt: time,
    updatedAt: time,
    publishedAt: time,
    requestSchema: [{ key: 'weight' }, { key: 'zones' }],
    testSuite: [{ id: 't1' }],
  });
  const again = await call('POST', '/import', { rule: exported.body });
  expect(again.status).toBe(200);
  const { updatedAt: _then, ...before } = exported.body;
  const { updatedAt: _now, ...after } = again.body;
  expect(after).toEqual(before);
});

it('a list holds what clients parse, in a bare array, whichever filters it is given', async () => {
  const id = randomUUID();
  const payload = wholePayload(id);
  await call('POST', '/import', { rule: { ...payload, folder: { id, name: 'Shipping' }, context: { slug: 'order' } } });
  const filters = [
    `id=${id}`,
    `slug=${payload.slug}`,
    `search=${payload.slug}`,
    `slug=${payload.slug}&version=latest`,
    `slug=${payload.slug}&version=1`,
    `slug=${payload.slug}&folder=Shipping`,
    `slug=${payload.slug}&labels=shipping,price`,
    `slug=${payload.slug}&name=Parcel+price`,
  ];
  for (const filter of filters) {
    const { status, body } = await call('GET', `/list?${filter}`);
    expect(status).toBe(200);
    expect(body).toEqual([
      expect.objectContaining({
        id,
        name: 'Parcel price',
        description: text,
        slug: payload.slug,
        created_at: time,
        updated_at: time,
        labels: ['shipping', 'price'],
        published: true,
        no_conditions: 1,
        metadata: { owner: 'logistics' },
        user_groups: [],
        folder: { id, name: 'Shipping' },
        context: { slug: 'order' },
      }),
    ]);
    const { request_schema, response_schema } = body[0] as Record<string, { type?: string }[]>; // compared with a list above
    expect(request_schema?.map(({ type }) => type)).toEqual(['number', 'array']);
    // Clients know no function type; the field has no type then.
    expect(response_schema?.map(({ type }) => type)).toEqual(['number', undefined]);
  }
  expect((await call('GET', `/list?slug=${payload.slug}&user_group=north`)).body).toEqual([]);
});

it('parts of fields that a client leaves out may be null instead, and come back so that they parse', async () => {
  const id = randomUUID();
  const nothing = { name: null, description: null, valuesPrefix: null, transform: null, defaultComputedValue: null };
  const schemas = {
    requestSchema: [{ ...nothing, key: 'weight', type: 'number' }],
    responseSchema: [{ ...nothing, key: 'price', type: 'number', defaultValue: null }],
  };
  const settings = { testing: null };
  const sent = { id, name: 'With nulls', description: null, ...schemas, conditions: [], settings, _publish: true };
  expect(await call('POST', '/import', { rule: sent })).toMatchObject({ status: 200, body: { version: 1 } });
  const { body } = await call('GET', `/list?id=${id}&version=1`);
  expect(body).toMatchObject([{ request_schema: [{ key: 'weight', name: 'weight', type: 'number' }] }]);
  const exported = await call('GET', `/export?id=${id}`);
  expect(await call('POST', '/import', { rule: exported.body })).toMatchObject({ status: 200 });
});

it('an import by id changes only what it brings', async () => {
  const id = randomUUID();
  await call('POST', '/import', { rule: wholePayload(id) });
  const changed = await call('POST', '/import', { rule: { id, name: 'Renamed' } });
  expect(changed.body).toMatchObject({ name: 'Renamed', labels: ['shipping', 'price'], conditions: [{}], version: 1 });
});

it('a rule is deleted by a call with a body', async () => {
  const id = randomUUID();
  await call('POST', '/import', { rule: { id, name: 'Gone soon' } });
  expect(await call('DELETE', '/delete', { id })).toMatchObject({ status: 200, body: { message: text } });
  expect(await call('DELETE', '/delete', { id })).toMatchObject({ status: 404, body: { error: text } });
});

it('tests are created, listed, run and deleted', async () => {
  const id = randomUUID();
  const { slug } = wholePayload(id);
  await call('POST', '/import', { rule: { ...wholePayload(id), testSuite: [] } });
  const sent = { name: 'Light', request: { weight: 2 }, response: { price: 4.9 }, policy: 'matches', critical: true };
  const created = await call('POST', `/${slug}/tests`, sent);
  expect(created).toMatchObject({ status: 200, body: { ...sent, id: text } });
  const { policy: _policy, ...withoutPolicy } = sent;
  const byDefault = await call('POST', `/${slug}/tests`, { ...withoutPolicy, name: 'Part', critical: false });
  expect(byDefault.body).toMatchObject({ policy: 'contains' });

  const run = await call('POST', `/${slug}/tests/run`, { critical_only: false });
  expect(run).toMatchObject({
    status: 200,
    body: {
      rule: slug,
      total: 2,
      passed: 1,
      failed: 1,
      pass_percentage: '50.00',
      critical_failure: true,
      failed_tests: ['Light'],
      critical_failed_tests: ['Light'],
      results: [
        { id: text, name: 'Light', policy: 'matches', critical: true, success: false, error: false },
        { id: text, name: 'Part', policy: 'contains', critical: false, success: true, error: false },
      ],
      failures: [
        { id: text, name: 'Light', expected: { price: 4.9 }, actual: { price: 4.9, tax: 0.4 }, matched_rows: [0] },
      ],
    },
  });
  const { body } = await call('GET', `/${slug}/tests`);
  expect(body[0]).toMatchObject({
    error: false,
    success: false,
    last_executed: time,
    test_state: {
      duration: expect.any(Number),
      response: { price: 4.9, tax: 0.4 },
      conditions: [],
      http_status: 200,
      success_idxs: [0],
      evaluation_error: false,
    },
  });
  const deleted = await call('DELETE', `/${slug}/tests/${String(created.body['id'])}`);
  expect(deleted).toMatchObject({ status: 200, body: { ...sent, id: created.body['id'] } });
  expect((await call('GET', `/${slug}/tests`)).body).toHaveLength(1);
});

it('an error is always a sentence', async () => {
  const id = randomUUID();
  for (const answer of [
    await call('GET', `/export?id=${id}`),
    await call('POST', '/import', { rule: { name: 5 } }),
    await call('POST', '/import', { rule: { conditions: [{ request: { nowhere: { op: 'equals', args: [1] } } }] } }),
    await call('GET', '/list?slug=unknown&version=1'),
    await call('DELETE', '/unknown/tests/x'),
    await call('POST', '/unknown/tests/run', {}),
  ]) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body).toMatchObject({ error: text, code: text, request_id: text });
  }
});
