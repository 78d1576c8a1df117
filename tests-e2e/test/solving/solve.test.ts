import { randomUUID } from 'node:crypto';
import { serviceNames } from '@decision/contracts';
import { readExamples, readFlowExamples } from '@decision/launcher';
import { waitUntil } from '@decision/local-stack';
import { repositoryRoot } from '../fleet/fleet-under-test';
import { enterExampleWorkspace, type SharedFleet } from '../fleet/shared-fleet';

const SECONDS = 1_000;
let service: SharedFleet;

beforeAll(async () => {
  service = await enterExampleWorkspace();
}, 360 * SECONDS);

const rule = (slug: string, price: number) => ({
  slug,
  name: slug,
  requestSchema: [{ key: 'weight', name: 'Weight', type: 'number' }],
  responseSchema: [{ key: 'price', name: 'Price', type: 'number' }],
  conditions: [
    { request: { weight: { op: 'greater than', args: [0] } }, response: { price: { value: price } }, settings: {} },
  ],
});

const importRule = async (document: object): Promise<{ id: string; version: number }> => {
  const answer = await service.call('POST', '/api/v1/admin/rules/import', { rule: document });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as { id: string; version: number };
};

const unusedSlug = () => `rule-${randomUUID().slice(0, 8)}`;

describe('examples', () => {
  it.each(readExamples(repositoryRoot).map(({ file, rule: example }) => [file, example] as const))(
    '%s answers its sample request with its sample response',
    async (_file, example) => {
      const answer = await service.call('POST', `/api/v1/solve/${example.slug}`, example.sampleRequest);
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toEqual(example.sampleResponse);
    },
  );

  it('the flow order-pricing answers its sample request with its sample response', async () => {
    const example = readFlowExamples(repositoryRoot).find(({ flow }) => flow.slug === 'order-pricing');
    const answer = await service.call('POST', '/api/v1/flows/order-pricing', example?.sampleRequest);
    expect(answer).toMatchObject({ status: 200, body: example?.sampleResponse });
  });
});

describe('selecting a version', () => {
  it('solves the latest version, an older one by number, and the new one as soon as it is published', async () => {
    const slug = unusedSlug();
    const { id } = await importRule({ ...rule(slug, 1), _publish: true });
    expect((await service.call('POST', `/api/v1/solve/${slug}`, { weight: 1 })).body).toEqual({ price: 1 });
    const second = await importRule({ id, conditions: rule(slug, 2).conditions, _publish: true });
    expect(second.version).toBe(2);
    expect((await service.call('POST', `/api/v1/solve/${slug}/latest`, { weight: 1 })).body).toEqual({ price: 2 });
    expect((await service.call('POST', `/api/v1/solve/${slug}/1`, { weight: 1 })).body).toEqual({ price: 1 });
    expect((await service.call('POST', `/api/v1/solve/${slug}/2`, { weight: 1 })).body).toEqual({ price: 2 });
  });

  it('does not solve a draft, and stops solving what is unpublished or deleted', async () => {
    const slug = unusedSlug();
    const { id } = await importRule(rule(slug, 1));
    expect(await service.call('POST', `/api/v1/solve/${slug}`, {})).toMatchObject({
      status: 404,
      body: { code: 'rule_not_published' },
    });
    await importRule({ id, _publish: true });
    expect(await service.call('POST', `/api/v1/solve/${slug}`, { weight: 1 })).toMatchObject({ status: 200 });
    await importRule({ id, _unpublish: true });
    expect(await service.call('POST', `/api/v1/solve/${slug}/1`, { weight: 1 })).toMatchObject({
      status: 404,
      body: { code: 'rule_not_published' },
    });
    await service.call('DELETE', '/api/v1/admin/rules/delete', { id });
    expect(await service.call('POST', `/api/v1/solve/${slug}`, {})).toMatchObject({
      status: 404,
      body: { code: 'rule_not_found' },
    });
  });

  it.each([
    ['no-such-rule', 'rule_not_found'],
    ['shipping-price/99', 'version_not_found'],
    ['shipping-price/staging', 'environment_not_found'],
    ['shipping-price/0', 'environment_not_found'],
    ['__proto__', 'rule_not_found'],
    ['constructor/latest', 'rule_not_found'],
  ])('answers 404 for %s', async (path, code) => {
    const answer = await service.call('POST', `/api/v1/solve/${path}`, {});
    expect(answer).toMatchObject({
      status: 404,
      body: { code, request_id: expect.any(String), error: expect.stringMatching(/\.$/) },
    });
  });
});

describe('bad input', () => {
  it.each([
    ['{"weight": 1', 400, { code: 'invalid_json', position: 12, line: 1, column: 13 }],
    ['{"weight": 1}}', 400, { code: 'invalid_json', position: 13 }],
    ['', 400, { code: 'invalid_json', position: 0 }],
    ['[1,2', 400, { code: 'invalid_json', position: 4, index: 1 }],
    ['"text"', 422, { code: 'input_not_object' }],
    ['null', 422, { code: 'input_not_object' }],
    ['{"weight": 12345678901234567890}', 422, { code: 'number_out_of_range', position: 11 }],
    ['{"weight": 1e999}', 422, { code: 'number_out_of_range' }],
  ])('answers %j with %i', async (body, status, expected) => {
    const answer = await service.call('POST', '/api/v1/solve/shipping-price', body, {
      'content-type': 'application/json',
    });
    expect(answer).toMatchObject({ status, body: expected });
  });

  it.each([
    '{"__proto__":{"weight":1}}',
    '{"constructor":{"prototype":{"weight":1}}}',
    '{"toString":1,"weight":"heavy"}',
  ])('is not moved by %s', async (body) => {
    const answer = await service.call('POST', '/api/v1/solve/customer-discount', body, {
      'content-type': 'application/json',
    });
    expect(answer).toMatchObject({ status: 200, body: { discount: { percent: 0, label: '' } } });
  });

  it('answers 413 for a body over the limit, naming the limit, and goes on serving', async () => {
    const body = JSON.stringify({ padding: 'x'.repeat(6 * 1024 * 1024) });
    const answer = await service.call('POST', '/api/v1/solve/shipping-price', body, {
      'content-type': 'application/json',
    });
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large', limit_bytes: 6 * 1024 * 1024 } });
    expect((await service.call('POST', '/api/v1/solve/shipping-price', { weight: 1 })).status).toBe(200);
  });

  it('answers 415 for another content type and 405 with Allow for another method', async () => {
    const typed = await service.call('POST', '/api/v1/solve/shipping-price', '<a/>', {
      'content-type': 'application/xml',
    });
    expect(typed).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    const got = await service.call('GET', '/api/v1/solve/shipping-price');
    expect(got).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(got.headers.get('allow')).toContain('POST');
  });

  it.each([
    ['an unknown operator', { request: { weight: { op: 'is heavier than', args: [1] } } }, /greater than/],
    ['an unknown field', { request: { height: { op: 'equals', args: [1] } } }, /height/],
  ])('answers 422 to an import with %s', async (_what, condition, hint) => {
    const document = { ...rule(unusedSlug(), 1), conditions: [{ ...condition, response: {} }] };
    const answer = await service.call('POST', '/api/v1/admin/rules/import', { rule: document });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'rule_invalid', problems: [expect.objectContaining({ row: 0 })] },
    });
    expect(JSON.stringify(answer.body)).toMatch(hint);
  });
});

describe('keys', () => {
  it.each([undefined, '', 'dsk_short', 'dsk_aaaaaaaaaaaa_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'])(
    'refuses the key %j',
    async (key) => {
      const response = await fetch(`${service.baseUrl}/api/v1/solve/shipping-price`, {
        method: 'POST',
        body: '{}',
        headers: key === undefined ? {} : { 'x-api-key': key },
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: key ? 'invalid_api_key' : 'missing_api_key' });
    },
  );

  it('kills a revoked key at once, everywhere', async () => {
    const created = await service.call('POST', '/api/v1/admin/keys', { name: 'to be revoked', role: 'solver' });
    expect(created.status).toBe(201);
    const { id, api_key: key } = created.body as { id: string; api_key: string };
    const solve = () => service.call('POST', '/api/v1/solve/shipping-price', { weight: 1 }, { 'x-api-key': key });
    expect((await solve()).status).toBe(200);
    expect(await service.call('POST', '/api/v1/admin/keys', { name: 'x' }, { 'x-api-key': key })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect((await service.call('DELETE', `/api/v1/admin/keys/${id}`)).status).toBe(200);
    await untilAnnounced(async () => (await solve()).status === 401);
  });

  it('shows a restricted key only the rules of its groups', async () => {
    const created = await service.call('POST', '/api/v1/admin/keys', {
      name: 'restricted',
      role: 'developer',
      user_groups: ['north'],
    });
    const headers = { 'x-api-key': (created.body as { api_key: string }).api_key };
    expect(await service.call('POST', '/api/v1/solve/shipping-price', {}, headers)).toMatchObject({
      status: 404,
      body: { code: 'rule_not_found' },
    });
    const slug = unusedSlug();
    const own = await service.call(
      'POST',
      '/api/v1/admin/rules/import',
      { rule: { ...rule(slug, 7), _publish: true } },
      headers,
    );
    expect(own.status).toBe(200);
    expect((await service.call('POST', `/api/v1/solve/${slug}`, { weight: 1 }, headers)).body).toEqual({ price: 7 });
    expect((await service.call('GET', '/api/v1/admin/rules/list', undefined, headers)).body).toEqual([
      expect.objectContaining({ slug }),
    ]);
  });
});

describe('values', () => {
  it('V20 are shown in explanations to the keys that see them, and to no others', async () => {
    const [slug, name] = [unusedSlug(), `limit-${randomUUID().slice(0, 8)}`];
    const keyOf = async (groups: string[]): Promise<string> => {
      const key = { name: slug, role: 'editor', user_groups: groups };
      return ((await service.call('POST', '/api/v1/admin/keys', key)).body as { api_key: string }).api_key;
    };
    const saved = await service.call('POST', '/api/v1/values', { values: { [name]: 10 }, user_groups: ['north'] });
    const [{ id }] = saved.body as [{ id: string }];
    await importRule({
      slug,
      user_groups: ['north', 'south'],
      requestSchema: [{ key: 'n', type: 'number' }],
      responseSchema: [{ key: 'ok', type: 'boolean' }],
      conditions: [{ request: { n: { op: 'equals', args: [{ $ref: name }] } }, response: { ok: { value: true } } }],
      _publish: true,
    });
    const argumentFor = async (path: string, body: unknown, key?: string): Promise<unknown> => {
      const answer = await service.call('POST', path, body, key === undefined ? {} : { 'x-api-key': key });
      expect(answer).toMatchObject({ status: 200 });
      const [result] = [answer.body].flat() as [{ $explain: { lost: { args: unknown[] }[] } }];
      return result.$explain.lost[0]?.args[0];
    };
    const reference = { $rb: 'globalValue', id, name };
    const [north, south] = [await keyOf(['north']), await keyOf(['south'])];
    for (const [path, body] of [
      [`/api/v1/solve/${slug}?explain=true`, { n: 9 }],
      [`/api/v1/bulk-solve/${slug}?explain=all`, [{ n: 9 }]],
    ] as const) {
      expect(await argumentFor(path, body)).toEqual({ ...reference, value: 10 });
      expect(await argumentFor(path, body, north)).toEqual({ ...reference, value: 10 });
      expect(await argumentFor(path, body, south)).toEqual(reference);
    }
  });

  it('take effect in a published rule as soon as they change, under a new name too', async () => {
    const [slug, name] = [unusedSlug(), `countries-${randomUUID().slice(0, 8)}`];
    const write = (countries: string[]) => service.call('POST', '/api/v1/values', { values: { [name]: countries } });
    const [value] = (await write(['DE'])).body as [{ id: string }];
    await importRule({
      slug,
      requestSchema: [{ key: 'country', type: 'string' }],
      responseSchema: [{ key: 'free', type: 'boolean', defaultValue: false }],
      conditions: [
        { request: { country: { op: 'is included in', args: [{ $ref: name }] } }, response: { free: { value: true } } },
      ],
      _publish: true,
    });
    const isFree = async (country: string) =>
      ((await service.call('POST', `/api/v1/solve/${slug}`, { country })).body as { free: boolean }).free;
    expect([await isFree('DE'), await isFree('FR')]).toEqual([true, false]);
    await write(['FR']);
    await untilAnnounced(async () => (await isFree('FR')) && !(await isFree('DE')));
    const renamed = await service.call('PUT', `/api/v1/values/${value.id}`, { name: `${name}-2`, value: ['IT'] });
    expect(renamed).toMatchObject({ status: 200 });
    await untilAnnounced(async () => (await isFree('IT')) && !(await isFree('FR')));
    expect(await service.call('DELETE', `/api/v1/values?id=${value.id}`)).toMatchObject({
      status: 409,
      body: { code: 'value_in_use', rules: [{ slug }] },
    });
  });
});

describe('groups, formulas and large tables', () => {
  it('explains which rows of a group made an answer', async () => {
    const answer = await service.call('POST', '/api/v1/solve/order-quote?explain=true', {
      customer: { country: 'DE' },
      order: { quantity: 3, unit_price: 10 },
    });
    expect(answer.body).toMatchObject({
      goods: 30,
      total: 30,
      $explain: {
        group: 'quote',
        matched: [1],
        lost: [{ row: 0, column: 'order.quantity', value: 3 }, { row: 2 }, {}, {}, {}],
      },
    });
  });

  it('lists at most fifty of the rows that lost', async () => {
    const answer = await service.call('POST', '/api/v1/solve/postal-tariff?explain=true', {
      zone: '99',
      service: 'returns',
      weight: 50,
    });
    expect(answer.body).toMatchObject({
      price: 27.65,
      $explain: { matched: [9_999], not_listed: 9_949 },
    });
  });

  it('answers a formula that cannot be computed with its place', async () => {
    const answer = await service.call('POST', '/api/v1/solve/order-quote', {
      customer: { country: 'DE' },
      order: { quantity: 'three', unit_price: 10 },
    });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'evaluation_failed', error: expect.stringMatching(/goods/) },
    });
  });

  it('refuses a formula that cannot be read, with a mark under the place', async () => {
    const answer = await service.call('POST', '/api/v1/admin/rules/import', {
      rule: {
        requestSchema: [{ key: 'a', type: 'number' }],
        responseSchema: [{ key: 'b', type: 'function' }],
        conditions: [{ response: { b: { value: 'a + * 2' } } }],
      },
    });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        code: 'rule_invalid',
        problems: [{ row: 0, column: 'b', formula: { position: 4, caret: 'a + * 2\n    ^' } }],
      },
    });
  });
});

describe('operations', () => {
  it('answers health and readiness', async () => {
    const health = await service.call('GET', '/health');
    expect(health.body).toEqual({
      status: 'ok',
      redis: true,
      cacheInvalidation: { enabled: true, ready: true, channel: 'service:cache:invalidate' },
      broker: { enabled: true, ready: true, partitions: 16 },
    });
    expect((await service.call('GET', '/ready')).status).toBe(200);
  });

  it('serves the OpenAPI document and metrics of each service', async () => {
    for (const url of serviceNames.map(service.urlOf)) {
      const document = (await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string };
      expect(document.openapi).toBe('3.1.0');
      expect(await (await fetch(`${url}/api/metrics`)).text()).toContain('process_cpu_seconds_total');
    }
  });

  it('explains an answer', async () => {
    const answer = await service.call('POST', '/api/v1/solve/shipping-price?explain=true', { weight: 40 });
    expect(answer.body).toMatchObject({ carrier: 'freight desk', $explain: { matched: [0] } });
  });

  it('echoes the request id and answers a trace id', async () => {
    const answer = await service.call(
      'POST',
      '/api/v1/solve/shipping-price',
      { weight: 1 },
      { 'x-request-id': 'my-request.1' },
    );
    expect(answer.headers.get('x-request-id')).toBe('my-request.1');
    expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
  });
});

/** Waits until an announced change shows, at most a minute. */
const untilAnnounced = (condition: () => Promise<boolean>): Promise<void> =>
  waitUntil(condition, 'the change is announced', 60_000);
