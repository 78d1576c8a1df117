import { randomUUID } from 'node:crypto';
import { enterExampleWorkspace, type SharedFleet } from './shared-fleet';

const SECONDS = 1_000;
const NDJSON = 'application/x-ndjson';
const suffix = randomUUID().slice(0, 8);
const [tariff, surcharge, offer] = [`tariff-${suffix}`, `surcharge-${suffix}`, `offer-${suffix}`];
let service: SharedFleet;

/** Answers `output` with a constant where `input` is above 0. */
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

/** A tariff, and a surcharge on it for what weighs more than the limit. */
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

it('runs beside rules in one parallel request', async () => {
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

it('goes on without a rule that was deleted, with the version that it was published with', async () => {
  expect(await service.call('DELETE', '/api/v1/admin/rules/delete', { id: surchargeId })).toMatchObject({
    status: 200,
  });
  expect((await service.call('POST', path, { weight: 5 })).body).toEqual(HEAVY);
});
