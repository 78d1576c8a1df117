import { joinResults, type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { type ChunkEnvelope, evaluateChunk } from './evaluate-chunk';

const table: RuleTable = {
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [{ key: 'label', type: 'string' }],
  conditions: [
    { request: { weight: { op: 'greater than', args: [1_000] } }, response: { label: { value: 'x'.repeat(10_000) } } },
    { request: { weight: { op: 'greater than', args: [1] } }, response: { label: { value: 'heavy' } } },
  ],
};
const rule = compileRule(table);
const envelope: ChunkEnvelope = { receivedAt: 0, explain: 'none', deadline: Date.now() + 600_000, kind: 'solve-list' };
const solve = async (inputs: string | Buffer, changes: Partial<ChunkEnvelope> = {}): Promise<string> => {
  const asked = { ...envelope, ...changes };
  const solved = await evaluateChunk(rule, Buffer.from(inputs), asked);
  return joinResults(
    asked.kind,
    solved.map(({ result }) => result),
  ).toString();
};

it('answers each input in its slot, as a list or as lines', async () => {
  expect(await solve('{"weight":2}\n{}\n{"weight":3}')).toBe('{"label":"heavy"},\n{},\n{"label":"heavy"}');
  expect(await solve('{"weight":2}\n{}', { kind: 'solve-lines' })).toBe('{"label":"heavy"}\n{}');
});

it.each([
  ['not json', 'invalid_json'],
  ['{"weight":9007199254740993}', 'number_out_of_range'],
  ['[]', 'input_not_object'],
  ['null', 'input_not_object'],
  [Buffer.from([0x22, 0xff, 0x22]), 'invalid_json'],
])('keeps the failure of %j in its slot', async (bad, code) => {
  const chunk = Buffer.concat([Buffer.from('{"weight":2}\n'), Buffer.from(bad), Buffer.from('\n{"weight":2}')]);
  const results = JSON.parse(`[${await solve(chunk)}]`) as unknown[];
  expect(results).toEqual([{ label: 'heavy' }, { error: expect.stringMatching(/\.$/), code }, { label: 'heavy' }]);
});

it('explains each result', async () => {
  expect(JSON.parse(await solve('{"weight":2}', { explain: 'brief' }))).toMatchObject({ $explain: { matched: [1] } });
});

it('lets timers run while a long chunk is evaluated', async () => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  const inputs = Array.from(
    { length: 10_000 },
    (_, index) => `{"weight":${index % 9},"padding":"${'y'.repeat(1_000)}"}`,
  );
  await solve(inputs.join('\n'), { explain: 'all' });
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(0);
});

it('gives up when the deadline passes on the way', async () => {
  const inputs = Array.from({ length: 10_000 }, () => `{"weight":1,"padding":"${'y'.repeat(1_000)}"}`).join('\n');
  await expect(solve(inputs, { deadline: Date.now() - 1 })).rejects.toMatchObject({ code: 'deadline_exceeded' });
});

it('says that results exceed a message, before they are all made', async () => {
  const inputs = Array.from({ length: 10_000 }, () => '{"weight":2000}').join('\n');
  await expect(solve(inputs)).rejects.toMatchObject({ code: 'result_too_large', details: { limit_bytes: 33_554_432 } });
});
