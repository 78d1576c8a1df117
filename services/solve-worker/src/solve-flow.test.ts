import { type FlowDefinition, type SolutionRequestEnvelope } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { createFlowRunner, type SolvedInput } from '@decision/execution';
import { type CallFor, compileFlow, type FlowNotification, type FlowPlan, type FlowRun, Secret } from '@decision/flows';
import { solveFlow } from './solve-flow';

const rule = compileRule({
  requestSchema: [{ key: 'n', type: 'number' }],
  responseSchema: [{ key: 'twice', type: 'function' }],
  conditions: [{ response: { twice: { value: 'n * 2' } } }],
  settings: { strictInput: true },
});

type Graph = Parameters<typeof compileFlow>[1];

const compile = (nodes: Graph['nodes'], connections: Graph['connections']): FlowPlan =>
  compileFlow(
    { id: 'f', slug: 'f', version: 1 },
    { nodes: [{ ref: 'in', type: 'origin', rule: 'twice' }, ...nodes], connections: connections ?? [] },
    {
      findRule: () => ({
        ...{ id: 'r', slug: 'twice', version: 1, rule, inputs: [{ key: 'n', type: 'number' }] },
        outputs: [{ key: 'twice', type: 'number' }],
      }),
      findFlow: () => undefined,
    },
  );

/** Fails after its origin if the input is 13. */
const plain = compile(
  [
    { ref: 'unlucky', type: 'ifelse', condition: { property: 'n', operator: 'equals', args: [13] } },
    { ref: 'sum', type: 'rule', rule: 'twice' },
    { ref: 'strange', type: 'lookup', table: [{ key: 13, value: 'a text' }] },
    { ref: 'out', type: 'result' },
  ],
  [
    { from: 'in', output: 'request_n', to: 'unlucky', input: 'n' },
    { from: 'unlucky', output: 'n', to: 'strange', input: 'lookup' },
    { from: 'strange', output: 'value', to: 'sum', input: 'n' },
    { from: 'in', output: 'twice', to: 'out' },
    { from: 'sum', output: 'twice', to: 'out', input: 'more' },
  ],
);
/** Calls an external system, with a secret. */
const asking = compile(
  [
    { ref: 'keys', type: 'vault', secrets: [{ name: 'TOKEN' }] },
    { ref: 'ask', type: 'api', url: 'https://example.com', outputs: [{ key: 'price', type: 'number' }] },
    { ref: 'out', type: 'result' },
  ],
  [
    { from: 'keys', output: 'TOKEN', to: 'ask' },
    { from: 'in', output: 'twice', to: 'ask' },
    { from: 'ask', output: 'price', to: 'out' },
  ],
);

const MARKER = 'marker-of-a-secret';

const port =
  (call: (twice: number) => Promise<Record<string, unknown>>, runs: FlowRun[] = []): CallFor =>
  (run) => {
    runs.push(run);
    return ({ node, inputs }) =>
      node.type === 'vault' ? Promise.resolve({ TOKEN: new Secret('TOKEN', MARKER) }) : call(Number(inputs['twice']));
  };

const base: SolutionRequestEnvelope = {
  ...{ correlationId: '1', requester: 'g', replyPartition: 0, kind: 'solve', workspaceId: 'w', versionId: 'v1' },
  ...{ receivedAt: 0, explain: 'none', requestId: 'r', traceparent: undefined, asset: 'flow' },
  deadline: Date.now() + 60_000,
  origin: { keyId: 'k', slug: 'pricing', selector: 'latest', firstIndex: 0 },
};

interface World {
  readonly plan?: FlowPlan;
  readonly settings?: FlowDefinition['settings'];
  readonly callFor?: CallFor;
  readonly isSeenWhole?: boolean;
  readonly maxWaiting?: number;
  readonly notify?: (workspaceId: string, notifications: readonly FlowNotification[]) => Promise<void>;
}

const solverOf = (world: World = {}) => {
  const { plan = plain, settings = {}, callFor, maxWaiting = 100 } = world;
  const stored = { plan, settings, fault: undefined, effectiveVersion: 'v1', follows: {}, reachesOut: plan.reachesOut };
  const runner = createFlowRunner({
    library: { get: () => Promise.resolve(stored) },
    ...{ threads: undefined, callFor, maxSteps: 1_000_000, maxWaiting },
  });
  const library = { isSeenWhole: () => Promise.resolve(world.isSeenWhole ?? false) };
  const logged: SolvedInput[] = [];
  const decisions = {
    write: (_of: SolutionRequestEnvelope, items: readonly SolvedInput[]) => void logged.push(...items),
  };
  const letNextBegin = jest.fn();
  const ask = async (payload: string, changes: Partial<SolutionRequestEnvelope> = {}): Promise<unknown> => {
    const envelope = { ...base, ...changes };
    const { kind } = envelope;
    if (kind === 'settle') throw new Error('Not here.');
    const notify = world.notify ?? (() => Promise.resolve());
    const tools = { flows: { runner, library, notify }, decisions };
    const text = (await solveFlow(tools, { ...envelope, kind }, Buffer.from(payload), letNextBegin)).toString();
    return JSON.parse(kind === 'solve' ? text : `[${kind === 'solve-lines' ? text.split('\n').join(',') : text}]`);
  };
  return { ask, logged, letNextBegin };
};

it('answers an input, a list and lines', async () => {
  const { ask } = solverOf();
  expect(await ask('{"n":2}')).toEqual({ twice: 4 });
  for (const kind of ['solve-list', 'solve-lines'] as const)
    expect(await ask('{"n":1}\n{"n":2}', { kind })).toEqual([{ twice: 2 }, { twice: 4 }]);
});

describe('a failure', () => {
  it('is the answer by default, with its code', async () => {
    const { ask } = solverOf();
    expect(await ask('{"n":13}')).toEqual({
      error: 'The node "sum" failed: The input "n" must be of type number, not string.',
      code: 'evaluation_failed',
    });
    expect(await ask('{"n":"text"}')).toMatchObject({ code: 'evaluation_failed' });
  });

  it('fails the request if the flow says so: 400 for its input, 500 for what happens later', async () => {
    const { ask, logged } = solverOf({ settings: { failedResponseMode: 'fail' } });
    await expect(ask('{"n":"text"}')).rejects.toMatchObject({
      ...{ code: 'flow_input_refused', status: 400, details: { path: ['in'] } },
    });
    await expect(ask('{"n":13}')).rejects.toMatchObject({
      ...{ code: 'flow_failed', status: 500, details: { path: ['sum'], field: 'n', expected: 'number' } },
    });
    expect(logged.map(({ error }) => error?.code)).toEqual(['evaluation_failed', 'evaluation_failed']);
  });

  it('of what a node asks has a code of its own', async () => {
    const callFor = port(() => Promise.reject(new Error('no answer')));
    expect(await solverOf({ plan: asking, callFor }).ask('{"n":1}')).toEqual({
      error: 'The node "ask" failed: no answer',
      code: 'infrastructure_error',
    });
    const failing = solverOf({ plan: asking, callFor, settings: { failedResponseMode: 'fail' } });
    await expect(failing.ask('{"n":1}')).rejects.toMatchObject({ code: 'infrastructure_error' });
  });

  it('stands in its slot of a list, whatever the flow says', async () => {
    const { ask } = solverOf({ settings: { failedResponseMode: 'fail' } });
    expect(await ask('{"n":1}\n{"n":13}\nnot json\n{"n":2}', { kind: 'solve-list' })).toMatchObject([
      { twice: 2 },
      { code: 'evaluation_failed' },
      { code: 'invalid_json' },
      { twice: 4 },
    ]);
  });

  it('of the body is refused, whatever the flow says', async () => {
    await expect(solverOf().ask('{"n"')).rejects.toMatchObject({ code: 'invalid_json' });
    await expect(solverOf().ask('[1]')).rejects.toMatchObject({ code: 'input_not_object' });
  });
});

describe('an explanation', () => {
  it('says what became of each node', async () => {
    const { ask } = solverOf();
    expect(await ask('{"n":2}', { explain: 'brief', audience: 'unrestricted' })).toEqual({
      twice: 4,
      $explain: {
        path: [
          {
            ...{ ref: 'in', status: 'ran', duration_ms: expect.any(Number) as number, matched: [0] },
            ...{ inputs: { n: 2 }, outputs: { twice: 4 } },
          },
          { ref: 'unlucky', status: 'ran', reason: 'condition' },
          { ref: 'strange', status: 'skipped', reason: 'inputs' },
          { ref: 'sum', status: 'skipped', reason: 'inputs' },
          { ref: 'out', status: 'ran', inputs: { twice: 4 }, outputs: { twice: 4 } },
        ],
        not_listed: 0,
      },
    });
  });

  it('is given of a failure, too', async () => {
    const answer = await solverOf().ask('{"n":13}', { explain: 'brief', audience: 'unrestricted' });
    expect(answer).toMatchObject({
      code: 'evaluation_failed',
      $explain: { path: expect.arrayContaining([{ ref: 'sum', status: 'failed' }]) as unknown },
    });
  });

  it('V21 shows what went through the nodes to those alone who see everything that the flow runs', async () => {
    const explain = async (isSeenWhole: boolean, audience: SolutionRequestEnvelope['audience']) =>
      JSON.stringify(await solverOf({ isSeenWhole }).ask('{"n":987654321}', { explain: 'all', audience }));
    for (const text of [await explain(true, ['sales']), await explain(false, 'unrestricted')])
      expect(text).toContain('"inputs":{"n":987654321}');
    for (const text of [await explain(false, ['sales']), await explain(true, undefined)]) {
      expect(text).toContain('"ref":"in","status":"ran"');
      expect(text).not.toMatch(/inputs"?:|outputs|matched|987654321/);
    }
  });
});

it('FL-91 shows no secret in answers, explanations and decisions', async () => {
  const { ask, logged } = solverOf({ plan: asking, callFor: port((twice) => Promise.resolve({ price: twice })) });
  const answer = await ask('{"n":2}', { explain: 'all', audience: 'unrestricted' });
  expect(answer).toMatchObject({ price: 4 });
  expect(JSON.stringify([answer, logged])).toContain('[secret]');
  expect(JSON.stringify([answer, logged])).not.toContain(MARKER);
});

it('logs one decision for each input, with what became of its nodes cut to a size', async () => {
  const { ask, logged } = solverOf();
  await ask('{"n":1}\n{"n":2}', { kind: 'solve-list' });
  expect(logged.map(({ request, result }) => [request, result])).toEqual([
    ['{"n":1}', '{"twice":2}'],
    ['{"n":2}', '{"twice":4}'],
  ]);
  const trace = JSON.parse(`{${logged[0]?.pathTrace ?? ''}}`) as { path_trace: { ref: string }[] };
  expect(trace.path_trace.map(({ ref }) => ref)).toEqual(['in', 'unlucky', 'strange', 'sum', 'out']);

  const loop = compile(
    [
      { ref: 'rows', type: 'lookup', table: [], defaultValue: Array.from({ length: 2_000 }, (_, row) => row) },
      { ref: 'each', type: 'foreach' },
      { ref: 'find', type: 'lookup', table: [], defaultValue: 1 },
      { ref: 'all', type: 'aggregate', aggregations: { value: { operator: 'sum' } } },
      { ref: 'out', type: 'result' },
    ],
    [
      { from: 'in', output: 'twice', to: 'rows', input: 'lookup' },
      { from: 'rows', output: 'value', to: 'each', input: 'list' },
      { from: 'each', output: 'item', to: 'find', input: 'lookup' },
      { from: 'find', output: 'value', to: 'all' },
      { from: 'all', output: 'value', to: 'out' },
    ],
  );
  const long = solverOf({ plan: loop });
  expect(await long.ask('{"n":1}')).toEqual({ value: 2_000 });
  const text = long.logged[0]?.pathTrace ?? '';
  expect(text.length).toBeLessThan(17_000);
  const cut = JSON.parse(`{${text}}`) as { path_trace: unknown[]; path_not_listed: number };
  expect(cut.path_trace.length + cut.path_not_listed).toBe(2_005);
});

describe('a flow that waits for other systems', () => {
  it('lets the next message begin', async () => {
    const { ask, letNextBegin } = solverOf({ plan: asking, callFor: port(() => Promise.resolve({ price: 1 })) });
    await ask('{"n":2}');
    expect(letNextBegin).toHaveBeenCalled();
    const other = solverOf();
    await other.ask('{"n":2}');
    expect(other.letNextBegin).not.toHaveBeenCalled();
  });

  it('runs several inputs of a chunk at once, and answers them in their order', async () => {
    const atOnce = 8;
    let most = 0;
    const waiting: (() => void)[] = [];
    // The calls are answered when eight wait, the last first; a ninth would come before that.
    const callFor = port(
      (twice) =>
        new Promise((resolve) => {
          most = Math.max(
            most,
            waiting.push(() => resolve({ price: twice })),
          );
          if (waiting.length === atOnce)
            setImmediate(() => {
              for (const answer of waiting.splice(0).reverse()) answer();
            });
        }),
    );
    const numbers = Array.from({ length: 40 }, (_, n) => n);
    const answers = await solverOf({ plan: asking, callFor }).ask(numbers.map((n) => `{"n":${n}}`).join('\n'), {
      kind: 'solve-list',
    });
    expect(answers).toEqual(numbers.map((n) => ({ price: 2 * n })));
    expect(most).toBe(atOnce);
  });

  it('is refused where too many wait', async () => {
    const { ask } = solverOf({ plan: asking, callFor: port(() => new Promise(() => undefined)), maxWaiting: 1 });
    const waiting = ask('{"n":1}', { deadline: Date.now() + 200 });
    await new Promise((resolve) => setImmediate(resolve));
    await expect(ask('{"n":2}')).rejects.toMatchObject({ code: 'overloaded' });
    await expect(waiting).rejects.toMatchObject({ code: 'deadline_exceeded' });
  });

  it('names what it asks by the key of the client, the workspace, the flow and the input', async () => {
    const rootsOf = async (changes: Partial<SolutionRequestEnvelope>): Promise<readonly string[]> => {
      const runs: FlowRun[] = [];
      const { ask } = solverOf({ plan: asking, callFor: port(() => Promise.resolve({ price: 1 }), runs) });
      await ask('{"n":1}\n{"n":1}', { kind: 'solve-list', ...changes });
      return runs.map(({ idempotencyRoot }) => idempotencyRoot);
    };
    const first = await rootsOf({ idempotencyKey: 'order-7', requestId: 'a' });
    expect(new Set(first).size).toBe(2);
    expect(await rootsOf({ idempotencyKey: 'order-7', requestId: 'b' })).toEqual(first);
    for (const other of [{}, { idempotencyKey: 'order-8' }, { idempotencyKey: 'order-7', workspaceId: 'other' }])
      expect(first).not.toContain((await rootsOf({ requestId: 'order-7', ...other }))[0]);
  });
});

it('gives up a chunk when its deadline passes, and one whose results exceed a message', async () => {
  const { ask } = solverOf();
  const late = ask('{"n":1}', { kind: 'solve-list', deadline: Date.now() - 1 });
  await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' });
  const wide = compile(
    [
      { ref: 'long', type: 'lookup', table: [], defaultValue: 'x'.repeat(100_000) },
      { ref: 'out', type: 'result' },
    ],
    [
      { from: 'in', output: 'twice', to: 'long', input: 'lookup' },
      { from: 'long', output: 'value', to: 'out' },
    ],
  );
  const inputs = Array.from({ length: 400 }, () => '{"n":1}').join('\n');
  await expect(solverOf({ plan: wide }).ask(inputs, { kind: 'solve-list' })).rejects.toMatchObject({
    code: 'result_too_large',
  });
});

describe('notifications of a flow', () => {
  const channels = { slack: { url: 'https://example.com' } };
  /** Sends a notification, and fails after it if the input is 13. */
  const telling = compile(
    [
      { ref: 'tell', type: 'notification', channels },
      { ref: 'unlucky', type: 'ifelse', condition: { property: 'n', operator: 'equals', args: [13] } },
      { ref: 'strange', type: 'lookup', table: [{ key: 13, value: 'a text' }] },
      { ref: 'sum', type: 'rule', rule: 'twice' },
      { ref: 'out', type: 'result' },
    ],
    [
      { from: 'in', output: 'twice', to: 'tell' },
      { from: 'in', output: 'request_n', to: 'unlucky', input: 'n' },
      { from: 'unlucky', output: 'n', to: 'strange', input: 'lookup' },
      { from: 'strange', output: 'value', to: 'sum', input: 'n' },
      { from: 'in', output: 'twice', to: 'out' },
      { from: 'sum', output: 'twice', to: 'out', input: 'more' },
    ],
  );
  const callFor: CallFor =
    ({ idempotencyRoot }) =>
    ({ inputs, onNotifications }) => {
      const id = `${JSON.stringify(JSON.parse(idempotencyRoot))} ${String(inputs['twice'])}`;
      onNotifications?.([{ id, channel: 'slack', content: '{"text":"a"}' }]);
      return Promise.resolve({ notifications: [{ id, channel: 'slack' }] });
    };
  const world = (notify: NonNullable<World['notify']>) => solverOf({ plan: telling, callFor, notify });
  const recording = () => {
    const written: (readonly string[])[] = [];
    const notify = (workspaceId: string, all: readonly FlowNotification[]): Promise<void> => {
      written.push([workspaceId, ...all.map(({ id }) => id)]);
      return Promise.resolve();
    };
    return { written, notify };
  };
  const idOf = (index: number, twice: number) => `["w","pricing","request","r",${index}] ${twice}`;

  it('CN-150: are written before the answer, once for a chunk, of the inputs whose flow did not fail', async () => {
    const { written, notify } = recording();
    const { ask } = world(notify);
    expect(await ask('{"n":2}')).toEqual({ twice: 4 });
    await ask('{"n":13}');
    expect(written).toEqual([['w', idOf(0, 4)]]);
    expect(await ask('{"n":1}\n{"n":13}\nnot json\n{"n":2}', { kind: 'solve-list' })).toMatchObject([
      { twice: 2 },
      { code: 'evaluation_failed' },
      { code: 'invalid_json' },
      { twice: 4 },
    ]);
    expect(written).toEqual([
      ['w', idOf(0, 4)],
      ['w', idOf(0, 2), idOf(3, 4)],
    ]);
    const { written: none, notify: other } = recording();
    await solverOf({ notify: other }).ask('{"n":2}');
    expect(none).toEqual([]);
  });

  it('CN-150: that cannot be written fail their inputs alone, with a sentence that says so', async () => {
    const gone = () => Promise.reject(new Error('no database at 10.0.0.1'));
    const { ask, logged } = world(gone);
    const failure = { code: 'infrastructure_error', error: expect.stringMatching(/could not be stored/) as string };
    expect(await ask('{"n":2}')).toEqual(failure);
    expect(await ask('{"n":1}\nnot json', { kind: 'solve-list' })).toMatchObject([failure, { code: 'invalid_json' }]);
    expect(logged.map(({ error }) => error?.code)).toEqual([
      'infrastructure_error',
      'infrastructure_error',
      'invalid_json',
    ]);
    const failing = solverOf({ plan: telling, callFor, notify: gone, settings: { failedResponseMode: 'fail' } });
    await expect(failing.ask('{"n":2}')).rejects.toMatchObject({ code: 'infrastructure_error' });
  });

  it('CN-150: are not written once nobody waits for the answer', async () => {
    const { written, notify } = recording();
    const deadline = Date.now() + 50;
    const slowly: CallFor = (run) => async (asked) => {
      while (Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
      return callFor(run)(asked);
    };
    const late = solverOf({ plan: telling, callFor: slowly, notify });
    await expect(late.ask('{"n":2}', { deadline })).rejects.toMatchObject({ code: 'deadline_exceeded' });
    expect(written).toEqual([]);
  });

  it('CN-148: are named in the explanation', async () => {
    const answer = await world(recording().notify).ask('{"n":2}', { explain: 'brief', audience: 'unrestricted' });
    const told = { ref: 'tell', status: 'ran', outputs: { notifications: [{ id: idOf(0, 4), channel: 'slack' }] } };
    expect(answer).toMatchObject({
      $explain: { path: expect.arrayContaining([expect.objectContaining(told)]) as unknown },
    });
  });
});
