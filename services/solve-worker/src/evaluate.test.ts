import { joinResults, type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { solvedInput } from '@decision/execution';
import { answerBytes, type ChunkEnvelope, evaluateChunk, readInput, solveInput } from './evaluate';

const table: RuleTable = {
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [{ key: 'price', type: 'number' }],
  conditions: [
    {
      request: { weight: { op: 'greater than', args: [1] } },
      response: { price: { value: 5 } },
      settings: { schedule: [{ days: [1] }] },
    },
  ],
};
const MONDAY = Date.parse('2026-01-05T12:00:00Z');
const rule = compileRule(table);
const solve = (payload: string | Buffer, explain: 'none' | 'brief' = 'none', receivedAt = MONDAY): unknown => {
  const solved = solveInput(rule, readInput(Buffer.from(payload), 'body'), { receivedAt, explain }, undefined);
  if (solved instanceof Promise) throw new Error('It was not evaluated here.');
  return JSON.parse(answerBytes(solved).toString('utf8'));
};

it('answers the outputs as JSON', () => {
  expect(solve('{"weight": 2}')).toEqual({ price: 5 });
  expect(solve('{"weight": 1}')).toEqual({});
});

it('takes the clock of the request, not its own', () => {
  expect(solve('{"weight": 2}', 'none', MONDAY + 86_400_000)).toEqual({});
});

it('adds the explanation where it is asked for', () => {
  expect(solve('{"weight": 1}', 'brief')).toMatchObject({
    $explain: { matched: [], lost: [{ row: 0, column: 'weight', value: 1 }] },
  });
});

it.each([
  ['{"weight": 2', 'invalid_json', { position: 12, line: 1, column: 13 }],
  ['', 'invalid_json', { position: 0 }],
  ['{"weight": 2}\n}', 'invalid_json', { position: 14, line: 2, column: 1 }],
  ['{"weight": 9007199254740993}', 'number_out_of_range', { position: 11 }],
  ['[]', 'input_not_object', {}],
  ['7', 'input_not_object', {}],
  ['null', 'input_not_object', {}],
])('refuses %j with %s', (payload, code, details) => {
  expect(() => solve(payload)).toThrow(expect.objectContaining({ code, details: expect.objectContaining(details) }));
});

it('refuses bytes that are not UTF-8', () => {
  expect(() => solve(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow(expect.objectContaining({ code: 'invalid_json' }));
});

it('survives nesting of 10,000 levels and keys of prototypes', () => {
  expect(solve(`{"weight": 2, "deep": ${'['.repeat(10_000)}${']'.repeat(10_000)}}`)).toEqual({ price: 5 });
  expect(solve('{"__proto__": {"weight": 2}, "constructor": 1}')).toEqual({});
});

it('says that outputs nest too deeply to be written, instead of failing', () => {
  let nested: unknown = 1;
  for (let level = 0; level < 200_000; level += 1) nested = [nested];
  const solved = solvedInput('{}', { ok: true, output: { nested }, matched: [] }, 0);
  expect(solved.error).toMatchObject({ code: 'evaluation_failed' });
});

describe('the request that is kept', () => {
  it.each([
    ['as it came', ' {"weight" : 1} ', ' {"weight" : 1} '],
    ['also where it is refused', '{"weight":123456789012345678901}', '{"weight":123456789012345678901}'],
    ['also where it is no object', '[1]', '[1]'],
    ['as null where it is not JSON', '{"weight":', 'null'],
  ])('is kept %s', (_how, payload, kept) => {
    expect(readInput(Buffer.from(payload), 'body').request).toBe(kept);
  });

  it('is null where it is not even text', () => {
    expect(readInput(Buffer.from([0xff, 0xfe]), 'body').request).toBe('null');
  });
});

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
