import { joinResults, type RuleTable, ServiceError } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { type SolvedInput, solvedInput } from '@decision/execution';
import { readInput, solveInput } from './evaluate';
import { type ChunkEnvelope, evaluateChunk } from './evaluate-chunk';

const chunkTable: RuleTable = {
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [{ key: 'label', type: 'string' }],
  conditions: [
    { request: { weight: { op: 'greater than', args: [1_000] } }, response: { label: { value: 'x'.repeat(10_000) } } },
    { request: { weight: { op: 'greater than', args: [1] } }, response: { label: { value: 'heavy' } } },
  ],
};
const chunkRule = compileRule(chunkTable);
const envelope: ChunkEnvelope = { receivedAt: 0, explain: 'none', deadline: Date.now() + 600_000, kind: 'solve-list' };
const solveChunk = async (inputs: string | Buffer, changes: Partial<ChunkEnvelope> = {}): Promise<string> => {
  const asked = { ...envelope, ...changes };
  const solved = await evaluateChunk(chunkRule, Buffer.from(inputs), asked);
  return joinResults(
    asked.kind,
    solved.map(({ result }) => result),
  ).toString();
};

describe('a chunk of inputs', () => {
  it('answers each input in its slot, as a list or as lines', async () => {
    expect(await solveChunk('{"weight":2}\n{}\n{"weight":3}')).toBe('{"label":"heavy"},\n{},\n{"label":"heavy"}');
    expect(await solveChunk('{"weight":2}\n{}', { kind: 'solve-lines' })).toBe('{"label":"heavy"}\n{}');
  });

  it.each([
    ['not json', 'invalid_json'],
    ['{"weight":9007199254740993}', 'number_out_of_range'],
    ['[]', 'input_not_object'],
    ['null', 'input_not_object'],
    [Buffer.from([0x22, 0xff, 0x22]), 'invalid_json'],
  ])('keeps the failure of %j in its slot', async (bad, code) => {
    const chunk = Buffer.concat([Buffer.from('{"weight":2}\n'), Buffer.from(bad), Buffer.from('\n{"weight":2}')]);
    const results = JSON.parse(`[${await solveChunk(chunk)}]`) as unknown[];
    expect(results).toEqual([{ label: 'heavy' }, { error: expect.stringMatching(/\.$/), code }, { label: 'heavy' }]);
  });

  it('explains each result', async () => {
    expect(JSON.parse(await solveChunk('{"weight":2}', { explain: 'brief' }))).toMatchObject({
      $explain: { matched: [1] },
    });
  });

  it('lets timers run while a long chunk is evaluated', async () => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    const inputs = Array.from(
      { length: 10_000 },
      (_, index) => `{"weight":${index % 9},"padding":"${'y'.repeat(1_000)}"}`,
    );
    await solveChunk(inputs.join('\n'), { explain: 'all' });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(0);
  });

  it('gives up when the deadline passes on the way', async () => {
    const inputs = Array.from({ length: 10_000 }, () => `{"weight":1,"padding":"${'y'.repeat(1_000)}"}`).join('\n');
    await expect(solveChunk(inputs, { deadline: Date.now() - 1 })).rejects.toMatchObject({ code: 'deadline_exceeded' });
  });

  it('says that results exceed a message, before they are all made', async () => {
    const inputs = Array.from({ length: 10_000 }, () => '{"weight":2000}').join('\n');
    await expect(solveChunk(inputs)).rejects.toMatchObject({
      code: 'result_too_large',
      details: { limit_bytes: 33_554_432 },
    });
  });
});

describe('a chunk of inputs of a rule that is not compiled here', () => {
  let jobs: (readonly string[])[];
  /** Answers each input with itself, a given number per job, and one of them with an error. */
  const threadWith = (atOnce: (job: number) => number) => ({
    one: () => Promise.reject(new TypeError('It is not asked for alone.')),
    first: (requests: readonly string[]): Promise<readonly SolvedInput[]> => {
      jobs.push(requests);
      const answered = requests.slice(0, atOnce(jobs.length));
      return Promise.resolve(
        answered.map((request) =>
          request.includes('bad')
            ? solvedInput(request, new ServiceError('evaluation_failed', 'It ran too long.'), 7)
            : { request, result: request, error: undefined, matched: [1], durationUs: 3 },
        ),
      );
    },
  });
  beforeEach(() => (jobs = []));

  it('keeps each answer and each failure in its slot, whether it is found here or in the thread', async () => {
    const chunk = Buffer.from('{"a":1}\nnot json\n{"bad":1}\n[]\n{"a":2}\n{"a":3}');
    const solved = await evaluateChunk(
      undefined,
      chunk,
      envelope,
      threadWith(() => 2),
    );
    expect(solved.map(({ result, error }) => error?.code ?? result)).toEqual([
      ...['{"a":1}', 'invalid_json', 'evaluation_failed', 'input_not_object', '{"a":2}', '{"a":3}'],
    ]);
    expect(solved[4]).toEqual({ request: '{"a":2}', result: '{"a":2}', error: undefined, matched: [1], durationUs: 3 });
    expect(jobs).toEqual([
      ['{"a":1}', '{"bad":1}', '{"a":2}', '{"a":3}'],
      ['{"a":2}', '{"a":3}'],
    ]);
  });

  it('sends at most twice as many again as were answered', async () => {
    const inputs = Array.from({ length: 1_000 }, (_, index) => `{"a":${index}}`);
    const thread = threadWith((job) => (job === 1 ? 1_000 : 5 * job));
    const slow = threadWith((job) => 2 * job);
    expect(await evaluateChunk(undefined, Buffer.from(inputs.join('\n')), envelope, thread)).toHaveLength(1_000);
    expect(jobs).toHaveLength(1);
    jobs = [];
    const solved = await evaluateChunk(undefined, Buffer.from(inputs.join('\n')), envelope, slow);
    expect(solved.map(({ result }) => result)).toEqual(inputs);
    expect(jobs.slice(0, 4).map(({ length }) => length)).toEqual([1_000, 4, 8, 12]);
  });

  it('says that results exceed a message as soon as they do', async () => {
    const inputs = Array.from({ length: 100 }, () => '{"a":"0123456789"}').join('\n');
    const solving = evaluateChunk(
      undefined,
      Buffer.from(inputs),
      envelope,
      threadWith(() => 10),
      500,
    );
    await expect(solving).rejects.toMatchObject({ code: 'result_too_large', details: { limit_bytes: 500 } });
    expect(jobs).toHaveLength(3);
  });

  it('fails as a whole where a job does', async () => {
    const refusing = {
      ...threadWith(() => 1),
      first: () => Promise.reject(new ServiceError('overloaded', 'Too many.')),
    };
    await expect(evaluateChunk(undefined, Buffer.from('{}'), envelope, refusing)).rejects.toMatchObject({
      code: 'overloaded',
    });
    await expect(evaluateChunk(undefined, Buffer.from('{}'), envelope)).rejects.toMatchObject({
      code: 'internal_error',
    });
  });
});

it('sends an input that takes long to a thread alone, and evaluates those beside it here', async () => {
  const patterns = compileRule({
    requestSchema: [{ key: 'text', type: 'string' }],
    responseSchema: [],
    conditions: Array.from({ length: 400 }, (_, index) => ({
      request: { text: { op: 'contains', args: [`x${index}`] } },
    })),
  });
  const asked: (readonly string[])[] = [];
  const thread = {
    one: () => Promise.reject(new TypeError('A failure would be that of the chunk.')),
    first: (requests: readonly string[]) => {
      asked.push(requests);
      return Promise.resolve(
        requests.map((request) => ({ request, result: '"long"', error: undefined, matched: [], durationUs: 1 })),
      );
    },
  };
  const long = JSON.stringify({ text: 'a'.repeat(1_000_000) });
  const chunk = ['{"text":"a"}', long, '{"text":"b"}', long].join('\n');
  const solved = await evaluateChunk(patterns, Buffer.from(chunk), envelope, thread);
  expect(solved.map(({ result }) => result)).toEqual(['{}', '"long"', '{}', '"long"']);
  expect(asked).toEqual([[long], [long]]);
});

describe('the reading of a chunk', () => {
  const INPUTS = [
    '{"weight":2}',
    ' {"note":"Zürich \\u00e4 \\n","weight":2000,"list":[1,{"a":[]}]} ',
    '{"weight":1,"weight":2}',
    '{"weight":"2"}',
    '{"weight":[2]}',
    '{"weight":1.5,"id":"1234567890123456789"}',
    '{"weight":2,"id":1234567890123456789}',
    '{"weight":2,"deep":[{"a":1e999}]}',
    '{"weight":2,"note":"\u0001"}',
    '{"weight":2,}',
    '{"weight":2}}',
    '{"weight":2',
    '{"weight":-0.0}\r',
    '{"weight":2,"emoji":"😀"}',
    '{"__proto__":{"weight":2}}',
    '{"extra":4}',
    '',
    '7',
    'null',
  ];
  const formulas = compileRule({
    requestSchema: [{ key: 'weight', type: 'number' }],
    responseSchema: [{ key: 'sum', type: 'function' }],
    conditions: [{ request: {}, response: { sum: { value: 'weight + 1' } } }],
  });
  const withoutTime = (solved: SolvedInput) => ({ ...solved, durationUs: 0 });

  it.each([
    ['all at once', INPUTS],
    ['text without numbers of many digits', INPUTS.filter((input) => !/\d{16}|e999/.test(input))],
    ['bytes that are no text among them', [...INPUTS, Buffer.from([0x22, 0xff, 0x22])]],
  ])('answers and keeps what each input alone does: %s', async (_what, inputs) => {
    const bytes = inputs.map((input) => Buffer.from(input));
    const chunk = Buffer.concat(bytes.flatMap((input) => [input, Buffer.from('\n')]));
    for (const rule of [chunkRule, formulas]) {
      for (const explain of ['none', 'brief'] as const) {
        const solved = await evaluateChunk(rule, chunk, { ...envelope, explain });
        const alone = bytes.map((input) => {
          const one = solveInput(rule, readInput(input, 'input'), { ...envelope, explain }, undefined);
          if (one instanceof Promise) throw new TypeError('It was not evaluated here.');
          return withoutTime(one);
        });
        expect(solved.map(withoutTime)).toEqual(alone);
      }
    }
  });
});
