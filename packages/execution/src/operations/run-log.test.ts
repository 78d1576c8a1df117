import { ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type OperationRun } from './evaluate-asset';
import { type SolvedInput } from '../decisions/solved-input';
import { createRunLog, MOST_HELD_CHARACTERS } from './run-log';

const envelope = {
  correlationId: 'c',
  workspaceId: 'w',
  versionId: 'context',
  origin: { keyId: 'k', slug: 'orders', selector: 'context', firstIndex: 7 },
} as SolutionRequestEnvelope; // nothing else is read

const run = (slug: string, inputs: Record<string, unknown>, outcome?: OperationRun['outcome']): OperationRun => ({
  asset: { type: 'rule', id: `id-of-${slug}`, slug, effectiveVersion: `${slug}-v1`, inputs: [], outputs: [] },
  instanceId: 'o-1',
  inputs,
  outcome: outcome ?? { ok: true, output: { done: slug }, matched: [0] },
  durationUs: 3,
});

const runLogUnderTest = () => {
  const written: { envelope: SolutionRequestEnvelope; items: readonly SolvedInput[] }[] = [];
  const write = (of: SolutionRequestEnvelope, items: readonly SolvedInput[]) =>
    void written.push({ envelope: of, items });
  return { log: createRunLog({ write }, envelope), written };
};

it("writes the decisions of each rule together, numbered in the order of the rules' first runs", () => {
  const { log, written } = runLogUnderTest();
  for (const n of [1, 2, 3]) for (const slug of ['tier', 'discount']) log.onRun(run(slug, { n }));
  expect(written).toEqual([]);
  void log.write();
  expect(
    written.map(({ envelope: of }) => [of.correlationId, of.versionId, of.origin?.slug, of.origin?.firstIndex]),
  ).toEqual([
    ['c.1', 'tier-v1', 'tier', 0],
    ['c.2', 'discount-v1', 'discount', 0],
  ]);
  expect(written[0]?.items.map(({ request, instance }) => [request, instance])).toEqual([
    ['{"n":1}', 'o-1'],
    ['{"n":2}', 'o-1'],
    ['{"n":3}', 'o-1'],
  ]);
  expect(written[0]?.envelope.origin).toMatchObject({ assetId: 'id-of-tier', context: 'orders', flow: undefined });
  void log.write();
  expect(written).toHaveLength(2);
});

it('writes a failure with its code and message', () => {
  const { log, written } = runLogUnderTest();
  const error = new ServiceError('evaluation_failed', 'No.');
  log.onRun(run('tier', {}, { ok: false, error: { code: 'evaluation_failed', message: 'No.', details: {} } } as never));
  void log.write();
  expect(written[0]?.items[0]?.error).toMatchObject({ code: error.code, message: error.message });
});

it('starts another record before one becomes too large for a message', () => {
  const { log, written } = runLogUnderTest();
  for (let n = 0; n < 5; n += 1) log.onRun(run('tier', { n, text: 'x'.repeat(2 * 1024 * 1024) }));
  void log.write();
  expect(written.map(({ items }) => items.length)).toEqual([1, 1, 1, 1, 1]);
  expect(new Set(written.map(({ envelope: of }) => of.correlationId)).size).toBe(5);
});

it('is full when the collected runs take their share of memory', () => {
  const { log } = runLogUnderTest();
  const text = 'x'.repeat(MOST_HELD_CHARACTERS / 4);
  for (let n = 0; n < 3; n += 1) log.onRun(run('tier', { n, text }));
  expect(log.isFull()).toBe(false);
  log.onRun(run('tier', { n: 3, text }));
  expect(log.isFull()).toBe(true);
});
