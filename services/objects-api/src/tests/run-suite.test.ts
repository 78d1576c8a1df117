import { setImmediate } from 'node:timers/promises';
import { type CompiledRule, compileRule } from '@decision/engine';
import { type StoredTest } from './read-tests';
import { runSuite } from './run-suite';

const rule: CompiledRule = compileRule({
  requestSchema: [{ key: 'a', type: 'string' }],
  responseSchema: [{ key: 'b', type: 'number', defaultValue: 0 }],
  conditions: [{ request: { a: { op: 'equals', args: ['x'] } }, response: { b: { value: 1 } } }],
});

const test = (parts: Partial<StoredTest> = {}): StoredTest => ({
  id: '1',
  name: 'One',
  request: { a: 'x' },
  response: { b: 1 },
  policy: 'contains',
  critical: false,
  ...parts,
});

/** A clock that advances by some ms each time it is read. */
const ticking = (step: number) => {
  let time = 0;
  return () => (time += step);
};
const noPause = () => Promise.resolve();

it('says of each test how it went, in their order', async () => {
  const tests = [
    test(),
    test({ id: '2', response: { b: 2 } }),
    test({ id: '3', policy: 'excludes', response: { b: 0 } }),
    test({ id: '4', request: { a: 'y' }, policy: 'matches', response: { b: 0 } }),
  ];
  const outcomes = await runSuite(rule, tests, { now: 0, elapsed: ticking(1), pause: noPause });
  expect(outcomes.map(({ success }) => success)).toEqual([true, false, true, true]);
  expect(outcomes.map((entry) => entry.test)).toEqual(tests);
  expect(outcomes[0]).toMatchObject({ duration: 1, outcome: { ok: true, matched: [0] } });
});

it('fails a test whose rule cannot be evaluated, whatever it expects', async () => {
  const strict = compileRule({
    requestSchema: [{ key: 'a', type: 'string' }],
    responseSchema: [],
    conditions: [],
    settings: { strictInput: true },
  });
  const tests = [test({ request: { a: 5 }, policy: 'excludes' }), test({ request: { a: 5 }, response: {} })];
  const outcomes = await runSuite(strict, tests, { now: 0, elapsed: ticking(0), pause: noPause });
  expect(outcomes).toMatchObject([
    { success: false, outcome: { ok: false } },
    { success: false, outcome: { ok: false } },
  ]);
});

it('lets other work run between slices', async () => {
  let turns = 0;
  let running = true;
  const other = (async () => {
    for (; running; turns += 1) await setImmediate();
  })();
  await runSuite(
    rule,
    Array.from({ length: 100 }, () => test()),
    { now: 0, elapsed: ticking(4), pause: () => setImmediate() },
  );
  running = false;
  await other;
  expect(turns).toBeGreaterThan(20);
});

it('gives up after its deadline and says how far it came', async () => {
  const running = runSuite(
    rule,
    Array.from({ length: 10 }, () => test()),
    {
      now: 0,
      elapsed: ticking(2_000),
      pause: noPause,
    },
  );
  await expect(running).rejects.toMatchObject({ code: 'deadline_exceeded', details: { total: 10 } });
});
