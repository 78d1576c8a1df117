import { ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type UsageBatch } from '@decision/persistence';
import { type SolvedInput } from './solved-input';
import { createUsageCounter, combineWriters, type UsageCounter } from './usage-counter';

const envelope = (workspaceId: string): SolutionRequestEnvelope => ({ workspaceId }) as SolutionRequestEnvelope; // the counter reads
// nothing else
const solved = (error?: ServiceError): SolvedInput => ({
  request: '{}',
  result: '{}',
  error,
  matched: [],
  durationUs: 1,
}); // as its maker writes it
const inputs = (count: number): SolvedInput[] => Array.from({ length: count }, () => solved());

/** A counter over a store in memory that can fail before or after storing. */
const counterUnderTest = () => {
  const stored = new Map<string, UsageBatch>();
  const state: {
    fault: 'before' | 'after' | 'for ever' | undefined;
    now: number;
    failures: number;
    dropped: number[];
    attempts: number;
  } = {
    fault: undefined,
    now: Date.parse('2026-01-31T23:59:00Z'),
    failures: 0,
    dropped: [],
    attempts: 0,
  };
  let id = 0;
  const counter: UsageCounter = createUsageCounter({
    store: (workspaceId, batch) => {
      state.attempts += 1;
      if (state.fault === 'for ever') return Promise.reject(new RangeError('no such workspace'));
      if (state.fault === 'before') return Promise.reject(new TypeError('away'));
      stored.set(`${workspaceId} ${batch.id}`, batch);
      return state.fault === 'after' ? Promise.reject(new TypeError('answer lost')) : Promise.resolve();
    },
    newId: () => String((id += 1)),
    now: () => state.now,
    onFailure: () => (state.failures += 1),
    isPermanent: (error) => error instanceof RangeError,
    onDropped: (executions) => state.dropped.push(executions),
  });
  const total = (workspaceId: string, month: string): number =>
    [...stored].filter(([key, batch]) => key.startsWith(`${workspaceId} `) && batch.month === month).reduce((sum, [, { executions }]) => sum + executions, 0); // prettier-ignore
  return { counter, state, stored, total };
};

it('counts evaluations by workspace and month, and stores nothing if there were none', async () => {
  const { counter, state, stored, total } = counterUnderTest();
  counter.write(envelope('a'), inputs(3));
  counter.write(envelope('b'), inputs(1));
  state.now += 120_000;
  counter.write(envelope('a'), inputs(2));
  counter.write(envelope('a'), []);
  await counter.flush();
  await counter.flush();
  expect([total('a', '2026-01-01'), total('a', '2026-02-01'), total('b', '2026-01-01')]).toEqual([3, 2, 1]);
  expect(stored.size).toBe(3);
  await counter.stop();
});

it('starts a month at its first millisecond, and returns to the previous one if the clock is set back', async () => {
  const { counter, state, total } = counterUnderTest();
  const march = Date.parse('2028-03-01T00:00:00Z');
  for (const [time, count] of [[march - 1, 1], [march, 10], [march - 1, 100], [march + 1, 1_000]] as const) {
    state.now = time;
    counter.write(envelope('a'), inputs(count));
  } // prettier-ignore
  await counter.stop();
  expect([total('a', '2028-02-01'), total('a', '2028-03-01')]).toEqual([101, 1_010]);
});

it('keeps unstored counts in their month', async () => {
  const { counter, state, total } = counterUnderTest();
  state.fault = 'before';
  counter.write(envelope('a'), inputs(1));
  await counter.flush();
  counter.write(envelope('a'), inputs(2));
  state.now += 120_000;
  counter.write(envelope('a'), inputs(4));
  await counter.flush();
  state.fault = undefined;
  await counter.stop();
  expect([total('a', '2026-01-01'), total('a', '2026-02-01')]).toEqual([3, 4]);
});

it('formats no date for each message', async () => {
  const { counter, total } = counterUnderTest();
  const formats = jest.spyOn(Date.prototype, 'toISOString');
  for (let message = 0; message < 100; message += 1) counter.write(envelope('a'), inputs(1));
  expect(formats).not.toHaveBeenCalled();
  formats.mockRestore();
  await counter.stop();
  expect(total('a', '2026-01-01')).toBe(100);
});

it('counts inputs whose evaluation failed, but not invalid inputs', async () => {
  const { counter, total } = counterUnderTest();
  for (const code of ['evaluation_failed', 'invalid_json', 'input_not_object', 'number_out_of_range'] as const) {
    counter.write(envelope('a'), [solved(new ServiceError(code, 'x'))]);
  }
  await counter.stop();
  expect(total('a', '2026-01-01')).toBe(1);
});

it.each(['before', 'after'] as const)(
  'loses nothing and counts nothing twice when the store fails %s it has stored',
  async (fault) => {
    const { counter, state, total } = counterUnderTest();
    state.fault = fault;
    for (let round = 0; round < 5; round += 1) {
      counter.write(envelope('a'), inputs(10));
      await counter.flush();
    }
    expect(state.failures).toBe(5);
    state.fault = undefined;
    await counter.stop();
    await counter.stop();
    expect(total('a', '2026-01-01')).toBe(50);
  },
);

it('loses nothing that is counted while a batch is being stored', async () => {
  const { counter, total } = counterUnderTest();
  counter.write(envelope('a'), inputs(1));
  const flushing = counter.flush();
  counter.write(envelope('a'), inputs(1));
  await flushing;
  await counter.stop();
  expect(total('a', '2026-01-01')).toBe(2);
});

it('writes to several writers, some of which may be absent', () => {
  const seen: number[] = [];
  combineWriters([undefined, { write: (_, items) => seen.push(items.length) }, { write: () => seen.push(0) }]).write(envelope('a'), inputs(2)); // prettier-ignore
  expect(seen).toEqual([2, 0]);
});

it('gives up counts that can never be stored, reports their number, and does not retry', async () => {
  const { counter, state, stored } = counterUnderTest();
  state.fault = 'for ever';
  counter.write(envelope('nowhere'), inputs(7));
  await counter.flush();
  await counter.flush();
  expect({ dropped: state.dropped, attempts: state.attempts, failures: state.failures }).toEqual({
    dropped: [7],
    attempts: 1,
    failures: 0,
  });
  state.fault = undefined;
  counter.write(envelope('somewhere'), inputs(2));
  await counter.stop();
  expect([...stored.values()].map(({ executions }) => executions)).toEqual([2]);
});
