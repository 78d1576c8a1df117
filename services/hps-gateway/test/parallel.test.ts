import { ServiceError } from '@decision/contracts';
import { echo, type GatewayUnderTest, send, startGateway } from './gateway-under-test';

let gateway: GatewayUnderTest;
let parallel: string;

beforeAll(async () => {
  gateway = await startGateway({ itemMaxBytes: 2_000 });
  parallel = `${gateway.url}/api/v1/parallel-solve`;
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

it('solves each entry with what it names, and nothing of that reaches the input', async () => {
  const answer = await send(`${parallel}?explain=all`, {
    a: { $rule: 'price', n: 1 },
    b: { n: 2, $rule: 'price/3' },
    c: { n: 3, $rule: 'price/staging', m: [4, { $rule: 'inner' }] },
    d: { $rule: 'price' },
  });
  expect(answer).toMatchObject({ status: 200 });
  expect(answer.body).toEqual({ a: { n: 1 }, b: { n: 2 }, c: { n: 3, m: [4, { $rule: 'inner' }] }, d: {} });
  expect(gateway.asked.map(({ kind, request }) => [kind, request.slug, request.selector, request.explain])).toEqual([
    ['solve', 'price', 'latest', 'all'],
    ['solve', 'price', '3', 'all'],
    ['solve', 'price', 'staging', 'all'],
    ['solve', 'price', 'latest', 'all'],
  ]);
});

it.each([
  ['{"$rule":"x"}', '{}'],
  ['{"$rule":"x","$rule":"price","n":1,"\\u0024rule":"price"}', '{"n":1}'],
  ['{"n":1,\n"$rule":"price"}', '{"n":1}'],
  ['{"n":1,"$rule":"price" , "m":"a,b"}', '{"n":1,"m":"a,b"}'],
  ['{"n":"x,\\"$rule\\":1","$rule":"price"}', '{"n":"x,\\"$rule\\":1"}'],
])('takes what it names out of %s', async (entry, input) => {
  const answer = await send(parallel, `{"one":${entry}}`);
  expect(answer.body).toEqual({ one: JSON.parse(input) as unknown });
});

it('answers an empty object to none', async () => {
  expect(await send(parallel, '{}')).toMatchObject({ status: 200, body: {} });
});

it('never lets the failure of one entry hide the result of another', async () => {
  gateway.worker = (kind, payload) =>
    payload.includes('broken')
      ? Promise.reject(new ServiceError('evaluation_failed', 'It broke.'))
      : echo(kind, payload);
  const answer = await send(parallel, {
    good: { $rule: 'price', n: 1 },
    broken: { $rule: 'price', n: 'broken' },
    flow: { $flow: 'onboarding/latest', n: 1 },
    nothing: { n: 1 },
    both: { $rule: 'a', $flow: 'b' },
    number: 7,
    odd: { $rule: 7 },
    deep: { $rule: 'a/b/c' },
    large: { $rule: 'price', padding: 'x'.repeat(2_000) },
    __proto__x: { $rule: 'price' },
    last: { $rule: 'price', n: 2 },
  });
  const error = (status: number, code: string) => ({ $error: { message: expect.stringMatching(/\.$/), status, code } });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    good: { n: 1 },
    broken: error(422, 'evaluation_failed'),
    flow: { n: 1 },
    nothing: error(400, 'invalid_request'),
    both: error(400, 'invalid_request'),
    number: error(400, 'invalid_request'),
    odd: error(400, 'invalid_request'),
    deep: error(400, 'invalid_request'),
    large: error(413, 'payload_too_large'),
    __proto__x: {},
    last: { n: 2 },
  });
});

it.each([
  ['[]', 400, 'invalid_request'],
  ['7', 400, 'invalid_request'],
  ['', 400, 'invalid_json'],
  ['{"a":{"$rule":"x"}', 400, 'invalid_json'],
  ['{"a" 1}', 400, 'invalid_json'],
  [`{"a":${'['.repeat(20_000)}`, 400, 'invalid_request'],
])('answers %j with %i', async (body, status, code) => {
  expect(await send(parallel, body)).toMatchObject({ status, body: { code } });
});

it('takes 1,000 entries, and refuses one more', async () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`e${n}`, { $rule: 'price', n }]));
  const answer = await send(parallel, entries(1_000));
  expect(Object.keys(answer.body as object)).toHaveLength(1_000);
  expect(await send(parallel, entries(1_001))).toMatchObject({
    status: 400,
    body: { code: 'too_many_items', limit_items: 1_000 },
  });
});

it.each([
  ['x-api-key', 'viewer', 403],
  ['content-type', 'application/x-ndjson', 415],
])('answers %s: %s with %i', async (name, value, status) => {
  expect((await send(parallel, {}, { [name]: value })).status).toBe(status);
});
