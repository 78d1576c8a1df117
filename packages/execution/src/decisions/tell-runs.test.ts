import { ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type OperationRun } from '../settle-operations';
import { type SolvedInput } from './solved-input';
import { createRunTeller, MOST_HELD_CHARACTERS } from './tell-runs';

const envelope = {
  correlationId: 'c',
  workspaceId: 'w',
  versionId: 'context',
  origin: { keyId: 'k', slug: 'orders', selector: 'context', firstIndex: 7 },
} as SolutionRequestEnvelope; // nothing else is read

const run = (slug: string, inputs: Record<string, unknown>, outcome?: OperationRun['outcome']): OperationRun => ({
  asset: { type: 'rule', slug, effectiveVersion: `${slug}-v1`, inputs: [], outputs: [] },
  inputs,
  outcome: outcome ?? { ok: true, output: { done: slug }, matched: [0] },
  durationUs: 3,
});

const tellerUnderTest = () => {
  const told: { envelope: SolutionRequestEnvelope; items: readonly SolvedInput[] }[] = [];
  const write = (of: SolutionRequestEnvelope, items: readonly SolvedInput[]) => void told.push({ envelope: of, items });
  return { teller: createRunTeller({ write }, envelope), told };
};

it('tells the decisions of each rule together, numbered in the order in which rules first ran', () => {
  const { teller, told } = tellerUnderTest();
  for (const n of [1, 2, 3]) for (const slug of ['tier', 'discount']) teller.onRun(run(slug, { n }));
  expect(told).toEqual([]);
  teller.tell();
  expect(
    told.map(({ envelope: of }) => [of.correlationId, of.versionId, of.origin?.slug, of.origin?.firstIndex]),
  ).toEqual([
    ['c.1', 'tier-v1', 'tier', 0],
    ['c.2', 'discount-v1', 'discount', 0],
  ]);
  expect(told[0]?.items.map(({ request }) => request)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  teller.tell();
  expect(told).toHaveLength(2);
});

it('tells failures as such', () => {
  const { teller, told } = tellerUnderTest();
  const error = new ServiceError('evaluation_failed', 'No.');
  teller.onRun(
    run('tier', {}, { ok: false, error: { code: 'evaluation_failed', message: 'No.', details: {} } } as never),
  );
  teller.tell();
  expect(told[0]?.items[0]?.error).toMatchObject({ code: error.code, message: error.message });
});

it('begins another record before one grows too large for a message', () => {
  const { teller, told } = tellerUnderTest();
  for (let n = 0; n < 5; n += 1) teller.onRun(run('tier', { n, text: 'x'.repeat(2 * 1024 * 1024) }));
  teller.tell();
  expect(told.map(({ items }) => items.length)).toEqual([1, 1, 1, 1, 1]);
  expect(new Set(told.map(({ envelope: of }) => of.correlationId)).size).toBe(5);
});

it('is full where what it holds takes the memory that there is for it', () => {
  const { teller } = tellerUnderTest();
  const text = 'x'.repeat(MOST_HELD_CHARACTERS / 4);
  for (let n = 0; n < 3; n += 1) teller.onRun(run('tier', { n, text }));
  expect(teller.isFull()).toBe(false);
  teller.onRun(run('tier', { n: 3, text }));
  expect(teller.isFull()).toBe(true);
});
