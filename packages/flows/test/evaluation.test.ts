import fc from 'fast-check';
import { type FlowOutcome } from '../src';
import { answer, begin, compiled, graph, node, solve } from './support/flows';

const doubling = compiled(
  graph(
    [
      node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] }),
      node('double:rule', { rule: 'double' }),
      node('all:aggregate', { aggregations: { twice: { operator: 'sum' } } }),
      node('out:result'),
    ],
    'in.request_list -> each\neach.n -> double.n\ndouble.twice -> all\nall.twice -> out',
  ),
);
const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));

describe('evaluation', () => {
  it('FL-85 answers at once if no node reaches out', () => {
    expect(begin(doubling, { list: numbers(3) })).not.toBeInstanceOf(Promise);
  });

  it('FL-85 yields whenever it must, and answers the same', async () => {
    let pauses = 0;
    const outcome = await begin(
      doubling,
      { list: numbers(2_000) },
      {
        mayGoOn: () => false,
        pause: () => {
          pauses += 1;
          return Promise.resolve();
        },
      },
    );
    expect(answer(outcome)).toEqual({ twice: 2_000 * 1_999 });
    expect(pauses).toBeGreaterThan(10);
  });

  it.each([
    ['an aggregate of items', [node('all:aggregate', { mode: 'items' })], 'each.n -> all\nall.items -> out'],
    ['an aggregate of values', [node('all:aggregate')], 'each.n -> all\nall.n -> out'],
    [
      'an aggregate of a sum',
      [node('all:aggregate', { aggregations: { n: { operator: 'sum' } } })],
      'each.n -> all\nall.n -> out',
    ],
  ])('FL-85 pauses while it combines 100,000 items: %s', async (_, nodes, edges) => {
    const each = node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] });
    const flow = compiled(graph([each, ...nodes, node('out:result')], `in.request_list -> each\n${edges}`));
    let pauses = 0;
    const options = { mayGoOn: () => false, pause: () => Promise.resolve(void (pauses += 1)) };
    const outcome = await begin(flow, { list: numbers(100_000) }, options);
    expect(outcome.ok).toBe(true);
    // The loop yields after each 128 items, and the aggregation after each thousand.
    expect(pauses).toBeGreaterThan(100_000 / 128 + 90);
  });

  it('FL-81 counts the nodes that run or are skipped, for each item, and stops at the limit', () => {
    const run = solve(doubling, { list: numbers(10) });
    // The origin, the loop, the aggregate, the result, and one node for each item.
    expect(run.steps).toBe(14);
    expect(answer(solve(doubling, { list: numbers(10) }, { maxSteps: 14 }))).toEqual({ twice: 90 });
    expect(answer(solve(doubling, { list: numbers(11) }, { maxSteps: 14 }))).toMatch(
      /^evaluation_failed: The node "\w+"( \(item 10\))? failed: The flow took more than 14 steps/,
    );
  });

  it('FL-81 takes at most a million steps', () => {
    const run = solve(doubling, { list: new Array(1_000_001).fill({ n: 1 }) });
    expect(run).toMatchObject({ ok: false, error: { details: { reason: 'too_many_steps', limit: 1_000_000 } } });
  });

  it('FL-80 answers any JSON input with an outcome', () => {
    const flow = compiled(
      graph(
        [
          node('each:foreach', { outputs: [{ key: 'n', type: 'any' }] }),
          node('gate:ifelse', { condition: { operator: 'equals', args: [1] } }),
          node('table:lookup', { table: [{ key: 1, value: 'one' }] }),
          node('all:aggregate', { mode: 'items' }),
          node('out:result'),
          node('plain:result', { key: 'plain' }),
        ],
        `in.request_list -> each
         each.n -> gate
         gate => table
         each.n -> table
         table.value -> all
         each.item -> all
         all.items -> out
         in.request_thing -> plain
         in.request_n -> plain`,
      ),
    );
    fc.assert(
      fc.property(
        fc.record({ list: fc.jsonValue(), thing: fc.jsonValue(), n: fc.jsonValue() }, { requiredKeys: [] }),
        (input) => {
          const before = JSON.stringify(input);
          const run = solve(flow, input);
          expect(JSON.stringify(input)).toBe(before);
          expect(run.ok || run.error.code === 'evaluation_failed').toBe(true);
          expect(solve(flow, input)).toEqual(run);
        },
      ),
    );
  });

  it('FL-84 gives the same answer for any order of external answers', async () => {
    const flow = compiled(
      graph(
        [
          node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] }),
          node('ask:api', { url: 'https://example.com', outputs: [{ key: 'v', type: 'number' }] }),
          node('again:api', {
            url: 'https://example.com',
            onError: 'continue',
            outputs: [{ key: 'v', type: 'number' }],
          }),
          node('small:ifelse', { condition: { operator: 'less than', args: [2] } }),
          node('exit:result', { key: 'exit', immediateExit: true }),
          node('all:aggregate', { aggregations: { v: { operator: 'list' } } }),
          node('lone:api', { url: 'https://example.com', outputs: [{ key: 'v', type: 'number' }] }),
          node('out:result'),
        ],
        `in.request_list -> each
         each.n -> ask
         ask.v -> again
         again.v -> small
         small => exit
         again.v -> exit
         each.index -> exit
         again.v -> all
         in.request_n -> lone
         lone.v -> out.lone
         all.v -> out.v`,
      ),
    );
    // The answer of each call follows only from its inputs; its time follows from a random order.
    const answerTo = (inputs: Readonly<Record<string, unknown>>): number => {
      const value = Number(inputs['n'] ?? inputs['v'] ?? inputs['request_n']);
      return (value * 7 + 3) % 23;
    };
    const solveIn = async (list: readonly { n: number }[], order: readonly number[]): Promise<FlowOutcome> => {
      const waiting: (() => void)[] = [];
      const outcome = begin(
        flow,
        { list, n: 4 },
        {
          parallelItems: 4,
          call: ({ inputs }) =>
            new Promise((resolve, reject) => {
              const v = answerTo(inputs);
              waiting.push(() => {
                if (v % 11 === 0) reject(new Error(`no answer to ${JSON.stringify(inputs)}`));
                else resolve({ v });
              });
            }),
        },
      );
      let isDone = false;
      void Promise.resolve(outcome).then(() => (isDone = true));
      for (let turn = 0; !isDone; turn += 1) {
        const [settle] = waiting.splice((order[turn % order.length] ?? 0) % Math.max(1, waiting.length), 1);
        settle?.();
        for (let tick = 0; tick < 8; tick += 1) await Promise.resolve();
      }
      return await outcome;
    };
    const items = fc.array(fc.record({ n: fc.integer({ min: 0, max: 30 }) }), { maxLength: 8 });
    const order = fc.array(fc.nat(10), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(items, order, order, async (list, first, second) => {
        expect(answer(await solveIn(list, second))).toEqual(answer(await solveIn(list, first)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('traces', () => {
  it('FL-90 report the outcome of each node', () => {
    let time = 0;
    const flow = graph(
      [
        node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] }),
        node('grade:rule', { rule: 'grade' }),
        node('all:aggregate'),
        node('out:result'),
      ],
      'in.request_list -> each\neach.n -> grade.n\ngrade.grade -> all\nall.grade -> out',
    );
    const run = solve(flow, { list: [{ n: 11 }, { n: 1 }] }, { trace: { clock: () => (time += 1) } });
    expect(answer(run)).toEqual({ grade: ['high', 'low'] });
    expect(run.trace).toEqual({
      not_listed: 0,
      entries: [
        {
          ref: 'in',
          status: 'ran',
          inputs: { list: [{ n: 11 }, { n: 1 }] },
          matched: [0],
          duration_ms: 1,
          outputs: { seen: true },
        },
        {
          ref: 'grade',
          status: 'ran',
          indexes: [0],
          inputs: { n: 11 },
          matched: [0],
          duration_ms: 1,
          outputs: { grade: 'high' },
        },
        {
          ref: 'grade',
          status: 'ran',
          indexes: [1],
          inputs: { n: 1 },
          matched: [1],
          duration_ms: 1,
          outputs: { grade: 'low' },
        },
        { ref: 'each', status: 'ran', outputs: { items: 2 } },
        { ref: 'all', status: 'ran', outputs: { grade: ['high', 'low'] } },
        { ref: 'out', status: 'ran', inputs: { grade: ['high', 'low'] }, outputs: { grade: ['high', 'low'] } },
      ],
    });
  });

  it('FL-90 name the failed node and the enclosing subflow nodes', () => {
    const inner = compiled(
      graph([node('fail:rule', { rule: 'fail' }), node('out:result')], 'in.request_n -> fail.n\nfail.never -> out'),
      'inner',
    );
    const outer = compiled(
      graph(
        [node('sub:flow', { flow: 'inner', version: 1 }), node('out:result')],
        'in.request_n -> sub.n\nsub.never -> out',
      ),
      'outer',
      [inner],
    );
    const run = solve(outer, { n: 1 }, { trace: { clock: () => 0 } });
    expect(run.ok).toBe(false);
    expect(run.trace?.entries.find(({ status }) => status === 'failed')).toEqual({
      ref: 'fail',
      within: ['sub'],
      status: 'failed',
    });
  });

  it('FL-90 list 1,000 steps, shorten long values, and change no answer', () => {
    const list = numbers(2_000).map((item) => ({ ...item, text: 'x'.repeat(5_000) }));
    const run = solve(doubling, { list }, { trace: { clock: () => 0 } });
    expect(answer(run)).toEqual(answer(solve(doubling, { list })));
    expect(run.trace?.entries).toHaveLength(1_000);
    expect(run.trace?.not_listed).toBe(run.steps - 1_000);
    expect(JSON.stringify(run.trace?.entries[0]).length).toBeLessThan(6_000);
    const deep = JSON.parse(`${'['.repeat(500)}1${']'.repeat(500)}`) as unknown;
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, key) => [`key${key}`, key]));
    for (const thing of [{ deep }, wide]) {
      const shown = JSON.stringify(
        solve(doubling, { list: [], thing }, { trace: { clock: () => 0 } }).trace?.entries[0],
      );
      expect(shown.length).toBeLessThan(8_000);
    }
  });
});
