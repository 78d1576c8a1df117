import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('first');
  admin = await api.makeKey(workspaceId, 'admin');
  await importRule({ slug: 'price', ...table, _publish: true });
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, key = admin): Promise<Answer> =>
  api.call(key, method, `/admin/flows${path}`, body);
const importFlow = (flow: object, key = admin): Promise<Answer> => call('POST', '/import', { flow }, key);
const importRule = async (rule: object): Promise<string> => {
  const answer = await api.call(admin, 'POST', '/admin/rules/import', { rule: { name: 'Rule', ...rule } });
  expect(answer).toMatchObject({ status: 200 });
  return String(answer.body['id']);
};

const table = {
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [{ key: 'price', type: 'number', defaultValue: 9 }],
  conditions: [{ request: { weight: { op: 'less than', args: [2] } }, response: { price: { value: 4.9 } } }],
};
const nodes = [
  { ref: 'in', type: 'flow_input', rule: 'price', data: { x: 10 } },
  { ref: 'out', type: 'result_object', mine: true },
];
const connections = [{ from: 'in', output: 'price', to: 'out', input: 'total', curve: 'soft' }];
const graph = { nodes, connections };
const newFlow = async (parts: object = {}): Promise<Answer['body']> => {
  const answer = await importFlow({ name: 'Flow', ...graph, ...parts });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
const problemsOf = (answer: Answer): unknown => {
  expect(answer).toMatchObject({ status: 422, body: { code: 'flow_invalid' } });
  return answer.body['problems'];
};

it('have immutable numbered versions that can be put back in service', async () => {
  const { id, slug } = await newFlow();
  await importFlow({ id, connections: [{ ...connections[0], input: 'sum' }] });
  expect((await call('GET', `/${String(slug)}/versions`)).body).toMatchObject({
    data: [{ version: 2, in_service: true }, { version: 1, in_service: false }],
    next_cursor: null,
  });
  const back = await call('POST', `/${String(slug)}/versions/1/publish`);
  expect(back).toMatchObject({ status: 200, body: { version: 3, connections: [{ input: 'sum' }] } });
  expect(await call('POST', `/${String(slug)}/versions/9/publish`)).toMatchObject({ status: 404 });
}); // prettier-ignore

const asking = {
  nodes: [nodes[0], { ref: 'bureau', type: 'api', url: 'http://127.0.0.1:1/', outputs: [{ key: 'score', type: 'number' }] }, nodes[1]],
  connections: [
    { from: 'in', output: 'price', to: 'bureau', input: 'price' },
    { from: 'bureau', output: 'score', to: 'out' },
  ],
}; // prettier-ignore
const test = (parts: object = {}) => ({
  name: 'Light',
  request: { weight: 1 },
  response: { total: 4.9 },
  critical: true,
  ...parts,
});

it('are tested as drafts, through the rules that they name', async () => {
  const { slug } = await newFlow();
  const path = `/${String(slug)}/tests`;
  const made = await call('POST', path, test());
  await call('POST', path, test({ name: 'Heavy', request: { weight: 5 }, critical: false }));
  expect(await call('POST', `${path}/run`, {})).toMatchObject({
    status: 200,
    body: { flow: slug, total: 2, passed: 1, pass_percentage: '50.00', failures: [{ name: 'Heavy', actual: { total: 9 } }] },
  });
  expect((await call('GET', path)).body).toMatchObject([{ success: true }, { success: false }]);
  expect(await call('DELETE', `${path}/${String(made.body['id'])}`)).toMatchObject({ status: 200 });
  expect((await call('GET', path)).body).toHaveLength(1);
}); // prettier-ignore

it('answer tests from their mocks where a node reaches out, and call nothing', async () => {
  const testSuite = [
    { ...test({ name: 'Mocked', response: { score: 700 } }), mocks: { bureau: { score: 700 } } },
    { ...test({ name: 'Bare' }) },
    { ...test({ name: 'Wrong type' }), mocks: { bureau: { score: 'high' } } },
  ];
  const { slug } = await newFlow({ ...asking, testSuite });
  const run = await call('POST', `/${String(slug)}/tests/run`);
  expect(run.body).toMatchObject({ passed: 1, failed_tests: ['Bare', 'Wrong type'] });
  expect(JSON.stringify(run.body['failures'])).toContain('calls nothing outside'.replace('calls', 'call'));
  expect(await call('POST', `/${String(slug)}/tests`, test({ live: true }))).toMatchObject({ status: 400 });
  expect(problemsOf(await importFlow({ name: 'F', ...asking, testSuite: [test({ live: true })] }))).toMatchObject([{ path: '/testSuite/0/live' }]); // prettier-ignore
});

it('that are tested continuously are published only with passing critical tests', async () => {
  const parts = { settings: { testing: 'continuous' }, testSuite: [test({ response: { total: 1 } })] };
  const refused = await importFlow({ name: 'F', slug: 'guarded', ...graph, ...parts });
  expect(refused).toMatchObject({ status: 409, body: { code: 'tests_failed', failed_tests: ['Light'] } });
  expect((await call('GET', '/list?slug=guarded')).body).toEqual([]);
  expect(await importFlow({ name: 'F', slug: 'guarded', ...graph, ...parts, testSuite: [test()] })).toMatchObject({ status: 200 }); // prettier-ignore
});
