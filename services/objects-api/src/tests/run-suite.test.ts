import { setImmediate } from 'node:timers/promises';
import { type CompiledRule, compileRule } from '@decision/engine';
import { isAsExpected, readTests, runSuite, type StoredTest, withTestIds } from './run-suite';

it('reads a whole test as it is and gives others their defaults', () => {
  const whole = {
    id: 'a',
    name: 'A',
    request: { x: 1 },
    response: { y: 2 },
    policy: 'excludes',
    critical: true,
  } as const;
  expect(
    readTests([{ ...whole, extra: 1 }, {}, { id: 5, request: [1], response: 'x', policy: 'most', critical: 1 }]),
  ).toEqual([
    whole,
    { id: 'test-2', name: 'Test 2', request: {}, response: {}, policy: 'contains', critical: false },
    { id: 'test-3', name: 'Test 3', request: {}, response: {}, policy: 'contains', critical: false },
  ]);
});

it('gives ids if there is none, an empty one, or one that an earlier test has', () => {
  let made = 0;
  const suite = [{ id: 'a', n: 1 }, { n: 2 }, { id: '', n: 3 }, { id: 'a', n: 4 }, { id: 7, n: 5 }];
  expect(withTestIds(suite, () => `new-${(made += 1)}`)).toEqual([
    { id: 'a', n: 1 },
    { id: 'new-1', n: 2 },
    { id: 'new-2', n: 3 },
    { id: 'new-3', n: 4 },
    { id: 'new-4', n: 5 },
  ]);
});

const output = {
  price: 4.9,
  zone: { code: 'EU', days: [1, 2, 3] },
  steps: [
    { n: 1, ok: true },
    { n: 2, ok: false },
  ],
  none: null,
};

it.each<[unknown, boolean]>([
  [{}, true],
  [{ price: 4.9 }, true],
  [{ price: 4.8 }, false],
  [{ price: '4.9' }, false],
  [{ missing: null }, false],
  [{ none: null }, true],
  [{ zone: { code: 'EU' } }, true],
  [{ code: 'EU' }, true],
  [{ code: 'EU', price: 4.9 }, false],
  [{ zone: { days: [3, 1] } }, true],
  [{ zone: { days: [4] } }, false],
  [{ days: { 0: 1 } }, false],
  [{ steps: [{ n: 2 }] }, true],
  [{ n: 2, ok: false }, true],
  [{ n: 2, ok: true }, false],
  [{ steps: [{ n: 1, ok: false }] }, false],
  [{ toString: 1 }, false],
])('%j is contained: %p, and excluded otherwise', (expected, contained) => {
  expect(isAsExpected('contains', expected, output)).toBe(contained);
  expect(isAsExpected('excludes', expected, output)).toBe(!contained);
});

it.each<[unknown, unknown, boolean]>([
  [{}, {}, true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: [1, 2] }, { a: [2, 1] }, false],
  [{ a: [1, 2] }, { a: [1, 2] }, true],
  [{ a: [1] }, { a: [1, 2] }, false],
  [{ a: [] }, { a: {} }, false],
  [{ a: {} }, { a: [] }, false],
  [{ a: null }, { a: {} }, false],
  [{ a: { b: { c: [{ d: 1 }] } } }, { a: { b: { c: [{ d: 1 }] } } }, true],
  [{ a: 0 }, { a: -0 }, true],
])('%j matches %j: %p', (expected, answered, matches) => {
  expect(isAsExpected('matches', expected, answered)).toBe(matches);
});

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
