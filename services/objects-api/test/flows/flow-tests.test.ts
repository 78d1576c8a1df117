import { type CallFor, FlowFault, type FlowRun } from '@decision/flows';
import { waitUntil } from '@decision/local-stack';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;

beforeAll(async () => {
  api = await startObjectsApi({ openLive: () => Promise.resolve(outside.callFor) });
  workspaceId = await api.makeWorkspace('first');
  admin = await api.makeKey(workspaceId, 'admin');
  await importRule({ slug: 'price', ...table, _publish: true });
});
afterAll(() => api.stop());

/** Records the outside calls of live tests, and answers when instructed. */
const outside = {
  runs: [] as FlowRun[],
  asked: [] as unknown[],
  answer: (): Promise<Readonly<Record<string, unknown>>> => Promise.resolve({ score: 640 }),
  callFor: ((run) => {
    outside.runs.push(run);
    return ({ path, inputs }) => {
      outside.asked.push([path.join('/'), inputs]);
      return outside.answer();
    };
  }) as CallFor,
};

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

describe('a comparison', () => {
  const diff = async (slug: unknown, query = '') => (await call('GET', `/${String(slug)}/diff${query}`)).body;

  it('names the nodes and connections that differ, and what else does', async () => {
    const { id, slug } = await newFlow();
    const kept = { ref: 'zone', type: 'lookup', table: [{ key: 'DE', value: 1 }] };
    await importFlow({
      id,
      name: 'Renamed',
      nodes: [kept, { ...nodes[0], version: 1 }, nodes[1]],
      connections: [
        { ...connections[0], input: 'sum' },
        { from: 'in', output: 'request_weight', to: 'zone', input: 'lookup' },
      ],
    });
    const differences = await diff(slug, '?from=1&to=2');
    expect(differences).toMatchObject({
      ...{ flow: slug, from: '1', to: '2', equal: false, truncated: false },
      nodes: {
        ...{ added: [kept], removed: [], moved: [] },
        changed: [{ ref: 'in', changes: [{ field: 'version', to: 1 }] }],
        counts: { added: 1, removed: 0, changed: 1, moved: 0 },
      },
      connections: { removed: [{ input: 'total' }], counts: { added: 2, removed: 1 }, reordered: false },
      other: [{ field: 'name', from: 'Flow', to: 'Renamed' }],
    });
    expect(await diff(slug)).toMatchObject({ from: '2', to: 'draft', equal: true });
    expect(await diff(slug, '?from=2&to=1')).toMatchObject({ nodes: { removed: [kept], counts: { added: 0 } } });
  });

  it('notices another order of nodes and of connections', async () => {
    const twice = [connections[0], { ...connections[0], output: 'request_weight' }];
    const { id, slug } = await newFlow({ connections: twice });
    await importFlow({ id, nodes: [...nodes].reverse(), connections: [...twice].reverse(), _publish: false });
    expect(await diff(slug)).toMatchObject({
      ...{ from: '1', to: 'draft', equal: false },
      nodes: { moved: [expect.any(String)], counts: { added: 0, removed: 0, changed: 0, moved: 1 } },
      connections: { counts: { added: 0, removed: 0 }, reordered: true },
    });
  });

  it('says which versions there are not', async () => {
    const { slug } = await newFlow();
    const draft = await newFlow({ _publish: false });
    const status = async (name: unknown, query: string) => {
      const { status: code, body } = await call('GET', `/${String(name)}/diff${query}`);
      return [code, body['code']];
    };
    expect(await status(slug, '?from=9')).toEqual([404, 'version_not_found']);
    expect(await status(slug, '?to=nowhere')).toEqual([404, 'environment_not_found']);
    expect(await status(draft['slug'], '')).toEqual([404, 'flow_not_published']);
    expect(await status('no-flow', '')).toEqual([404, 'flow_not_found']);
    expect(await status(slug, '?version=1')).toEqual([400, 'invalid_request']);
  });
});

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

it('answer tests from their mocks if a node reaches out, and call nothing', async () => {
  const testSuite = [
    { ...test({ name: 'Mocked', response: { score: 700 } }), mocks: { bureau: { score: 700 } } },
    { ...test({ name: 'Bare' }) },
    { ...test({ name: 'Wrong type' }), mocks: { bureau: { score: 'high' } } },
  ];
  const { slug } = await newFlow({ ...asking, testSuite });
  const run = await call('POST', `/${String(slug)}/tests/run`);
  expect(run.body).toMatchObject({ passed: 1, failed_tests: ['Bare', 'Wrong type'] });
  expect(JSON.stringify(run.body['failures'])).toContain('calls nothing outside'.replace('calls', 'call'));
  expect(problemsOf(await importFlow({ name: 'F', ...asking, testSuite: [test({ live: 'yes' })] }))).toMatchObject([{ path: '/testSuite/0/live' }]); // prettier-ignore
});

describe('live tests', () => {
  const live = (parts: object = {}) => test({ name: 'Live', live: true, response: { score: 640 }, ...parts });
  beforeEach(() => {
    outside.runs.splice(0);
    outside.asked.splice(0);
  });

  it('ask the outside for what they do not mock, and others of their suite do not', async () => {
    const testSuite = [
      live(),
      live({ name: 'Mocked', mocks: { bureau: { score: 1 } }, response: { score: 1 } }),
      test({ name: 'Bare' }),
    ];
    const { id, slug } = await newFlow({ ...asking, testSuite });
    expect((await call('GET', `/${String(slug)}/tests`)).body).toMatchObject([{ live: true }, { live: true }, {}]);
    const run = await call('POST', `/${String(slug)}/tests/run`);
    expect(run.body).toMatchObject({ passed: 2, failed_tests: ['Bare'] });
    expect(outside.asked).toEqual([['bureau', { price: 4.9 }]]);
    expect(outside.runs[0]).toMatchObject({ workspaceId, round: 0 });
    expect(outside.runs[0]?.idempotencyRoot).toContain(String(id));
    expect(outside.runs[0]?.deadline).toBeLessThanOrEqual(Date.now() + 20_000);
  });

  it('that are added by themselves keep saying so', async () => {
    const { slug } = await newFlow(asking);
    const made = await call('POST', `/${String(slug)}/tests`, live());
    expect(made).toMatchObject({ status: 200, body: { live: true } });
    expect((await call('POST', `/${String(slug)}/tests/run`)).body).toMatchObject({ passed: 1 });
  });

  it('fail with the reason why the outside did not answer', async () => {
    outside.answer = () => Promise.reject(new FlowFault('The bureau is closed.'));
    const { slug } = await newFlow({ ...asking, testSuite: [live()] });
    const run = await call('POST', `/${String(slug)}/tests/run`);
    outside.answer = () => Promise.resolve({ score: 640 });
    expect(run.body).toMatchObject({ failed: 1, results: [{ error: true }] });
    expect(JSON.stringify(run.body['failures'])).toContain('The bureau is closed.');
  });

  it('run before a publication that asks for passing tests', async () => {
    const parts = { settings: { testing: 'continuous' }, testSuite: [live({ response: { score: 0 } })] };
    const refused = await importFlow({ name: 'F', slug: 'live-guarded', ...asking, ...parts });
    expect(refused).toMatchObject({ status: 409, body: { code: 'tests_failed', failed_tests: ['Live'] } });
    expect(outside.asked).toHaveLength(1);
  });

  it('run in two suites at once at most', async () => {
    const { slug } = await newFlow({ ...asking, testSuite: [live()] });
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    outside.answer = () => opened.then(() => ({ score: 640 }));
    const run = (): Promise<Answer> => call('POST', `/${String(slug)}/tests/run`);
    const first = [run(), run()];
    await waitUntil(() => outside.asked.length >= 2);
    expect(await run()).toMatchObject({ status: 429, body: { code: 'overloaded' } });
    open();
    for (const answer of await Promise.all(first)) expect(answer.body).toMatchObject({ passed: 1 });
    expect((await run()).body).toMatchObject({ passed: 1 });
  });
});

it('CN-152: send no notification, whose nodes need no mock', async () => {
  const told = { ref: 'tell', type: 'notification', channels: { webhook: { url: 'http://127.0.0.1:1/' } } };
  const telling = {
    nodes: [...nodes, told],
    connections: [...connections, { from: 'in', output: 'price', to: 'tell' }],
  };
  const { slug } = await newFlow({ ...telling, testSuite: [test()] });
  expect((await call('POST', `/${String(slug)}/tests/run`)).body).toMatchObject({ total: 1, passed: 1 });
  const wrong = { nodes: [...nodes, { ...told, channels: { pager: {} } }], connections: telling.connections };
  const [problem] = problemsOf(await importFlow({ name: 'F', ...wrong })) as readonly unknown[];
  expect(problem).toMatchObject({ ref: 'tell', field: 'channels', path: '/nodes/2/channels' });
});

it('that are tested continuously are published only with passing critical tests', async () => {
  const parts = { settings: { testing: 'continuous' }, testSuite: [test({ response: { total: 1 } })] };
  const refused = await importFlow({ name: 'F', slug: 'guarded', ...graph, ...parts });
  expect(refused).toMatchObject({ status: 409, body: { code: 'tests_failed', failed_tests: ['Light'] } });
  expect((await call('GET', '/list?slug=guarded')).body).toEqual([]);
  expect(await importFlow({ name: 'F', slug: 'guarded', ...graph, ...parts, testSuite: [test()] })).toMatchObject({ status: 200 }); // prettier-ignore
});
