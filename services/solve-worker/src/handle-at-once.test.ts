import { type RuleTable, ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type CompiledRule, compileRule } from '@decision/engine';
import { createContextModels, type DecisionLogWriter, type SolvedInput } from '@decision/execution';
import { createHandler, type HandlerTools } from './handle';

const table: RuleTable = {
  requestSchema: [
    { key: 'weight', type: 'number' },
    { key: 'text', type: 'string' },
  ],
  responseSchema: [
    { key: 'price', type: 'number' },
    { key: 'fee', type: 'function' },
  ],
  conditions: [
    { request: { weight: { op: 'greater than', args: [10] } }, response: { fee: { value: 'weight / 0' } } },
    { request: { weight: { op: 'greater than', args: [1] } }, response: { price: { value: 5 } } },
    { request: { weight: { op: 'greater than', args: [0] } }, response: { fee: { value: 'weight * 2' } } },
  ],
};
const rule = compileRule(table);
const envelope: SolutionRequestEnvelope = {
  ...{ correlationId: '1', requester: 'gateway', replyPartition: 0, deadline: Number.MAX_SAFE_INTEGER, kind: 'solve' },
  ...{ workspaceId: 'w', versionId: 'v', receivedAt: 0, explain: 'none', requestId: 'r', traceparent: undefined },
  origin: { keyId: 'k', slug: 'price', selector: 'latest', firstIndex: 0 },
};

const unneeded: HandlerTools['threads'] = {
  solve: () => Promise.reject(new TypeError()),
  solveFirst: () => Promise.reject(new TypeError()),
};

interface Asked {
  readonly payload?: string | Buffer;
  readonly changes?: Partial<SolutionRequestEnvelope>;
  readonly tools?: Partial<HandlerTools>;
}

/** The answer to one message, whether it was synchronous, and its log lines without their durations. */
const answerTo = async ({ payload = '{"weight":2}', changes, tools }: Asked, known: CompiledRule | undefined) => {
  const logged: SolvedInput[] = [];
  const decisions: DecisionLogWriter = {
    write: (_envelope, items) => void logged.push(...items.map((item) => ({ ...item, durationUs: 0 }))),
  };
  const handle = createHandler({
    library: { peek: () => known, get: () => Promise.resolve(rule) },
    ...{ models: createContextModels(), onFault: () => undefined, decisions, ...tools },
  });
  let isAtOnce = true;
  try {
    const handled = handle({ ...envelope, ...changes }, Buffer.from(payload));
    isAtOnce = Buffer.isBuffer(handled);
    return { isAtOnce, logged, text: String(await handled) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, details } = error;
    return { isAtOnce, logged, error: { code, message, details } };
  }
};

const bothWays = async (asked: Asked) => {
  const { isAtOnce, ...direct } = await answerTo(asked, rule);
  const { isAtOnce: isOtherAtOnce, ...other } = await answerTo(asked, undefined);
  expect(isOtherAtOnce).toBe(false);
  expect(direct).toEqual(other);
  return { isAtOnce, ...direct };
};

it.each<[string, string, Asked]>([
  ['a constant row', '{"price":5}', {}],
  ['a formula', '{"fee":1}', { payload: '{"weight":0.5}' }],
  ['no row', '{}', { payload: '{}' }],
  ['text beyond ASCII', '{"price":5}', { payload: '{"weight":2,"text":"Zürich \\ud83d"}' }],
  ['no log', '{"price":5}', { tools: { decisions: undefined } }],
  ['threads that it does not need', '{"price":5}', { tools: { threads: unneeded } }],
])('answers %s at once as it does later', async (_what, text, asked) => {
  expect(await bothWays(asked)).toMatchObject({ isAtOnce: true, text });
}); // prettier-ignore

it.each<[string, string, Asked]>([
  ['text that is no JSON', 'invalid_json', { payload: '{"weight":' }],
  ['bytes that are no text', 'invalid_json', { payload: Buffer.from([0x7b, 0xff, 0x7d]) }],
  ['a number that cannot be read exactly', 'number_out_of_range', { payload: '{"weight":1e999}' }],
  ['a list', 'input_not_object', { payload: '[1]' }],
  ['a row that fails', 'evaluation_failed', { payload: '{"weight":11}' }],
])('refuses %s at once as it does later', async (_what, code, asked) => {
  const answer = await bothWays(asked);
  expect(answer).toMatchObject({ isAtOnce: true, error: { code } });
  expect(answer.logged).toHaveLength(1);
});

it('explains at once as it does later', async () => {
  const { isAtOnce, text } = await bothWays({ changes: { explain: 'all', audience: 'unrestricted' } });
  expect(isAtOnce).toBe(true);
  expect(JSON.parse(text ?? '')).toMatchObject({ price: 5, $explain: { matched: [1] } });
});

const record = (recorded: Promise<void>): Asked['tools'] => ({
  decisions: { write: () => undefined, record: () => recorded },
});

it('waits for a decision that must be on record first, and refuses if it cannot be', async () => {
  let isStored = false;
  const stored = new Promise<void>((resolve) =>
    setImmediate(() => {
      isStored = true;
      resolve();
    }),
  );
  const answer = await bothWays({ tools: record(stored) });
  expect([answer.isAtOnce, answer.text, isStored]).toEqual([false, '{"price":5}', true]);
  const refusal = new ServiceError('decision_not_recorded', 'It is not on record.');
  const refused = await bothWays({ tools: record(Promise.reject(refusal)) });
  expect(refused).toMatchObject({ isAtOnce: false, error: { code: 'decision_not_recorded' } });
});

it('lets the next request begin and waits for a thread if an evaluation takes long', async () => {
  const patterns = compileRule({
    ...table,
    conditions: Array.from({ length: 400 }, (_, index) => ({
      request: { text: { op: 'contains', args: [`x${index}`] } },
    })),
  });
  let begun = 0;
  const solved: SolvedInput = { request: '', result: '{"by":"thread"}', error: undefined, matched: [], durationUs: 1 };
  const handle = createHandler({
    library: { peek: () => patterns, get: () => Promise.resolve(patterns) },
    ...{ models: createContextModels(), onFault: () => undefined, decisions: undefined },
    threads: { ...unneeded, solve: ({ request }) => Promise.resolve({ ...solved, request }) },
  });
  const input = Buffer.from(JSON.stringify({ text: 'a'.repeat(1_000_000) }));
  const handled = handle(envelope, input, () => (begun += 1));
  expect(handled).toBeInstanceOf(Promise);
  expect(begun).toBe(1);
  expect(String(await handled)).toBe('{"by":"thread"}');
});

it('asks the library for the rule of a list, and answers later', async () => {
  const { isAtOnce, text } = await bothWays({ changes: { kind: 'solve-list' }, payload: '{"weight":2}\n7' });
  expect(isAtOnce).toBe(false);
  expect(text).toMatch(/^{"price":5},\n{"error":/);
});
