import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { enterExampleWorkspace, type SharedFleet } from '../fleet/shared-fleet';

const SECONDS = 1_000;
const NDJSON = 'application/x-ndjson';
const suffix = randomUUID().slice(0, 8);
const [tariff, surcharge, offer] = [`tariff-${suffix}`, `surcharge-${suffix}`, `offer-${suffix}`];
let service: SharedFleet;

/** Answers `output` with a constant if `input` is above 0. */
const rule = (slug: string, input: string, output: string, answer: number) => ({
  ...{ slug, name: slug, _publish: true },
  requestSchema: [{ key: input, name: input, type: 'number' }],
  responseSchema: [{ key: output, name: output, type: 'number' }],
  conditions: [
    {
      request: { [input]: { op: 'greater than', args: [0] } },
      response: { [output]: { value: answer } },
      settings: {},
    },
  ],
});

/** A tariff, and a surcharge on it for weights above the limit. */
const flow = (limit: number) => ({
  ...{ slug: offer, name: offer },
  nodes: [
    { ref: 'in', type: 'origin', rule: tariff },
    { ref: 'heavy', type: 'continue_if', condition: { property: 'weight', operator: 'greater than', args: [limit] } },
    { ref: 'extra', type: 'rule', rule: surcharge },
    { ref: 'out', type: 'result' },
  ],
  connections: [
    { from: 'in', output: 'request_weight', to: 'heavy', input: 'weight' },
    { from: 'heavy', to: 'extra', control: true },
    { from: 'in', output: 'price', to: 'extra', input: 'price' },
    { from: 'in', output: 'price', to: 'out', input: 'price' },
    { from: 'extra', output: 'total', to: 'out', input: 'total' },
  ],
});

const save = async (path: string, document: object, headers: Record<string, string> = {}) => {
  const answer = await service.call('POST', `/api/v1/admin/${path}/import`, document, headers);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as { readonly id: string };
};

let flowId: string;
let surchargeId: string;

beforeAll(async () => {
  service = await enterExampleWorkspace();
  await save('rules', { rule: rule(tariff, 'weight', 'price', 4.9) });
  ({ id: surchargeId } = await save('rules', { rule: rule(surcharge, 'price', 'total', 9.9) }));
  ({ id: flowId } = await save('flows', { flow: flow(10) }));
}, 360 * SECONDS);

const path = `/api/v1/flows/${offer}`;
const LIGHT = { price: 4.9 };
const HEAVY = { price: 4.9, total: 9.9 };

it('answers one input by the way that its gates leave open', async () => {
  expect(await service.call('POST', path, { weight: 5 })).toMatchObject({ status: 200, body: LIGHT });
  expect((await service.call('POST', `${path}/latest`, { weight: 5 })).body).toEqual(LIGHT);
  expect((await service.call('POST', `${path}/1`, { weight: 20 })).body).toEqual(HEAVY);
});

it('answers a list and lines in their order, each failure in its slot', async () => {
  const failure = { error: expect.any(String), code: 'input_not_object' };
  const inputs = [{ weight: 5 }, 7, { weight: 20 }];
  expect((await service.call('POST', path, inputs)).body).toEqual([LIGHT, failure, HEAVY]);
  const lines = await fetch(`${service.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': service.apiKey, 'content-type': NDJSON },
    body: inputs.map((input) => JSON.stringify(input)).join('\n'),
  });
  expect(lines.headers.get('content-type')).toContain(NDJSON);
  const answers = (await lines.text()).trim().split('\n').map((line) => JSON.parse(line) as unknown); // prettier-ignore
  expect(answers).toEqual([LIGHT, failure, HEAVY]);
});

it('explains which nodes ran and which were skipped', async () => {
  const { body } = await service.call('POST', `${path}?explain=true`, { weight: 5 });
  const { $explain, ...answer } = body as { $explain: { path: { ref: string; status: string }[] } };
  expect(answer).toEqual(LIGHT);
  const became = Object.fromEntries($explain.path.map(({ ref, status }) => [ref, status]));
  expect(became).toEqual({ in: 'ran', heavy: 'ran', extra: 'skipped', out: 'ran' });
});

it('FL-102 runs beside rules in one parallel request', async () => {
  const answer = await service.call('POST', '/api/v1/parallel-solve', {
    flow: { $flow: offer, weight: 20 },
    rule: { $rule: tariff, weight: 20 },
    none: { $flow: `no-${offer}` },
    version: { $flow: `${offer}/9`, weight: 20 },
  });
  expect(answer.body).toMatchObject({
    ...{ flow: HEAVY, rule: LIGHT },
    none: { $error: { status: 404, code: 'flow_not_found' } },
    version: { $error: { status: 404, code: 'version_not_found' } },
  });
});

it('does not exist for a key whose groups it has not', async () => {
  const north = { name: 'restricted', role: 'developer', user_groups: ['north'] };
  const { api_key: key } = (await service.call('POST', '/api/v1/admin/keys', north)).body as { api_key: string };
  const answer = await service.call('POST', path, { weight: 5 }, { 'x-api-key': key });
  expect(answer).toMatchObject({ status: 404, body: { code: 'flow_not_found' } });
});

it('follows its own publication and that of its rules at once, while a number stays what it was', async () => {
  await save('flows', { flow: { ...flow(1), id: flowId } });
  expect((await service.call('POST', path, { weight: 5 })).body).toEqual(HEAVY);
  expect((await service.call('POST', `${path}/1`, { weight: 5 })).body).toEqual(LIGHT);
  await save('rules', { rule: { ...rule(surcharge, 'price', 'total', 12.5), id: surchargeId } });
  expect((await service.call('POST', path, { weight: 5 })).body).toEqual({ price: 4.9, total: 12.5 });
});

it('goes on without a flow in it that was deleted, with the version that it names', async () => {
  const [inner, outer] = [`inner-${suffix}`, `outer-${suffix}`];
  const { id } = await save('flows', { flow: { ...flow(3), slug: inner, name: inner } });
  const graph = {
    nodes: [
      { ref: 'in', type: 'origin', rule: tariff },
      { ref: 'sub', type: 'flow', flow: inner, version: 1 },
      { ref: 'out', type: 'result' },
    ],
    connections: [
      { from: 'in', output: 'request_weight', to: 'sub', input: 'weight' },
      { from: 'sub', output: 'total', to: 'out' },
    ],
  };
  await save('flows', { flow: { slug: outer, name: outer, ...graph } });
  const solve = async () => (await service.call('POST', `/api/v1/flows/${outer}`, { weight: 5 })).body;
  const before = await solve();
  expect(before).toEqual({ total: expect.any(Number) as number });
  expect(await service.call('DELETE', '/api/v1/admin/flows/delete', { id })).toMatchObject({ status: 200 });
  expect((await service.call('POST', `/api/v1/flows/${inner}`, { weight: 5 })).status).toBe(404);
  expect(await solve()).toEqual(before);
});

it('goes on without a rule that was deleted, with the version that it was published with', async () => {
  expect(await service.call('DELETE', '/api/v1/admin/rules/delete', { id: surchargeId })).toMatchObject({
    status: 200,
  });
  expect((await service.call('POST', path, { weight: 5 })).body).toEqual(HEAVY);
});

describe('a flow that reaches out', () => {
  interface Asked {
    readonly url: string | undefined;
    readonly key: string | undefined;
    readonly body: unknown;
  }
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    text(request).then((body) => {
      const { url, headers } = request;
      asked.push({ url, key: headers['idempotency-key']?.toString(), body: body === '' ? undefined : JSON.parse(body) });
      const isKnown = url !== '/scores/nobody';
      response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isKnown ? { score: 7 } : { reason: 'hidden from clients' }));
    }, () => response.destroy()); // prettier-ignore
  });
  const slug = `asks-${suffix}`;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const about = `about-${suffix}`;
    const schema = [{ key: 'id', name: 'id', type: 'string' }];
    await save('rules', { rule: { slug: about, name: about, requestSchema: schema, responseSchema: [], conditions: [], _publish: true } });
    const node = { type: 'api', method: 'POST', body: { who: '{{id}}' }, outputs: [{ key: 'score', type: 'number' }] };
    const graph = {
      nodes: [
        { ref: 'in', type: 'origin', rule: about },
        { ref: 'score', ...node, url: `http://127.0.0.1:${port}/scores/{{id}}` },
        { ref: 'double', type: 'code', code: 'outputs.double = inputs.score * 2', outputs: [{ key: 'double', type: 'number' }] },
        { ref: 'out', type: 'result' },
      ],
      connections: [
        { from: 'in', output: 'request_id', to: 'score', input: 'id' },
        { from: 'score', output: 'score', to: 'double' },
        { from: 'score', output: 'score', to: 'out' },
        { from: 'double', output: 'double', to: 'out' },
      ],
    };
    await save('flows', { flow: { slug, name: slug, ...graph } });
    await save('flows', { flow: { slug: `${slug}-or-fails`, name: slug, ...graph, settings: { failedResponseMode: 'fail' } } });
  }, 60 * SECONDS); // prettier-ignore
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => void (asked.length = 0));

  const solve = (id: string, headers = {}, to = slug) => service.call('POST', `/api/v1/flows/${to}`, { id }, headers);

  it('asks a server, goes on with code, and sends a key that is the same when a client repeats its request', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    expect(await solve('a/b', headers)).toMatchObject({ status: 200, body: { score: 7, double: 14 } });
    expect((await solve('a/b', headers)).body).toEqual({ score: 7, double: 14 });
    await solve('a/b');
    expect(asked.map(({ url, body }) => ({ url, body }))).toEqual(
      Array.from({ length: 3 }, () => ({ url: '/scores/a%2Fb', body: { who: 'a/b' } })),
    );
    const [first, second, third] = asked.map(({ key }) => key);
    expect(first).toMatch(/^[\w-]{16,}$/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('says which node failed, and nothing of what the server answered', async () => {
    const answer = await solve('nobody');
    expect(answer).toMatchObject({ status: 200, body: { code: 'infrastructure_error', error: expect.stringContaining('"score"') } }); // prettier-ignore
    expect(JSON.stringify(answer.body)).not.toContain('hidden');
    expect((await solve('nobody', {}, `${slug}-or-fails`)).status).toBe(500);
  });

  it('is tested with mocks, and live if a test says so', async () => {
    const tests = `/api/v1/admin/flows/${slug}/tests`;
    const test = { name: 'Mocked', request: { id: 'a' }, critical: true };
    await service.call('POST', tests, { ...test, response: { double: 2 }, mocks: { score: { score: 1 }, double: { double: 2 } } });
    expect((await service.call('POST', `${tests}/run`)).body).toMatchObject({ total: 1, passed: 1 });
    expect(asked).toEqual([]);
    await service.call('POST', tests, { ...test, name: 'Live', response: { double: 14 }, live: true });
    expect((await service.call('POST', `${tests}/run`)).body).toMatchObject({ total: 2, passed: 2 });
    expect(asked).toMatchObject([{ url: '/scores/a' }]);
  }); // prettier-ignore

  it('answers the inputs of a list in their order', async () => {
    const { body } = await service.call('POST', `/api/v1/flows/${slug}`, [{ id: 'a' }, { id: 'nobody' }, { id: 'c' }]);
    expect(body).toEqual([
      { score: 7, double: 14 },
      { error: expect.any(String), code: 'infrastructure_error' },
      { score: 7, double: 14 },
    ]);
  });

  it('is told of code that cannot be read when it is imported', async () => {
    const nodes = [
      { ref: 'in', type: 'origin', rule: tariff },
      { ref: 'broken', type: 'code', code: 'outputs.x = ;', outputs: [{ key: 'x' }] },
      { ref: 'out', type: 'result' },
    ];
    const connections = [
      { from: 'in', output: 'price', to: 'broken' },
      { from: 'broken', output: 'x', to: 'out' },
    ];
    const answer = await service.call('POST', '/api/v1/admin/flows/import', {
      flow: { name: 'x', nodes, connections },
    });
    expect(answer).toMatchObject({ status: 422, body: { problems: [{ ref: 'broken', field: 'code' }] } });
  });
});
