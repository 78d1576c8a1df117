import { evaluateRule } from '@decision/engine';
import {
  compileFlow,
  type EvaluateAsset,
  type FlowOutcome,
  type FlowPlan,
  type KeepOutputs,
  type OutsideCall,
} from '../src';
import { type RunOptions } from '../src/run/outcome';
import { Secret } from '../src/run/secret';
import { answer, assetsOf, begin, compiled, graph, node, solve } from './support/flows';

/** Answers calls when the test decides. */
class Outside {
  readonly calls: OutsideCall[] = [];
  private readonly waiting = new Map<
    string,
    { resolve: (outputs: Readonly<Record<string, unknown>>) => void; reject: (error: unknown) => void }
  >();

  readonly call: NonNullable<RunOptions['call']> = (request) => {
    this.calls.push(request);
    return new Promise((resolve, reject) => {
      this.waiting.set(nameOf(request), { resolve, reject });
    });
  };

  get begun(): readonly string[] {
    return this.calls.map(nameOf);
  }

  async answer(name: string, outputs: Readonly<Record<string, unknown>> = {}): Promise<void> {
    this.waiting.get(name)?.resolve(outputs);
    await settled();
  }

  async fail(name: string, message: string): Promise<void> {
    this.waiting.get(name)?.reject(new Error(message));
    await settled();
  }
}

const nameOf = ({ path, indexes }: OutsideCall): string => [path.join('/'), ...indexes].join('#');

/** Lets the evaluation take over all answers so far. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

const api = (ref: string, fields: object = {}) =>
  node(`${ref}:api`, { url: 'https://example.com', outputs: [{ key: 'v', type: 'number' }], ...fields });
const out = node('out:result');

/** The outcome, once known. */
const started = (
  flow: Parameters<typeof begin>[0],
  input: unknown,
  outside: Outside,
  options: Partial<RunOptions> = {},
) => {
  const state: { outcome?: FlowOutcome } = {};
  void Promise.resolve(begin(flow, input, { call: outside.call, ...options })).then((outcome) => {
    state.outcome = outcome;
  });
  return state;
};

describe('nodes that reach out', () => {
  const two = graph(
    [api('a'), api('b'), node('sum:rule', { rule: 'add' }), out],
    `in.request_n -> a
     in.request_n -> b
     a.v -> sum.a
     b.v -> sum.b
     sum.sum -> out`,
  );

  it('FL-20 run concurrently if they do not depend on each other', async () => {
    const outside = new Outside();
    const state = started(two, { n: 1 }, outside);
    await settled();
    expect(outside.begun).toEqual(['a', 'b']);
    expect(outside.calls[0]).toMatchObject({ inputs: { request_n: 1 }, node: { type: 'api', ref: 'a' } });
    await outside.answer('b', { v: 20 });
    expect(state.outcome).toBeUndefined();
    await outside.answer('a', { v: 1 });
    expect(state.outcome).toMatchObject({ ok: true, output: { sum: 21 } });
  });

  it('FL-20 let independent nodes go on', async () => {
    const outside = new Outside();
    const flow = graph(
      [api('slow'), node('double:rule', { rule: 'double' }), api('next'), out],
      `in.request_n -> slow
       in.request_n -> double.n
       double.twice -> next
       slow.v -> out.slow
       next.v -> out.next`,
    );
    const state = started(flow, { n: 2 }, outside);
    await settled();
    expect(outside.begun).toEqual(['slow', 'next']);
    await outside.answer('slow', { v: 1 });
    await outside.answer('next', { v: 2 });
    expect(state.outcome).toMatchObject({ output: { slow: 1, next: 2 } });
  });

  it('FL-31 are checked against their declared types', async () => {
    const outside = new Outside();
    const state = started(two, { n: 1 }, outside);
    await settled();
    await outside.answer('a', { v: 'one' });
    await outside.answer('b', { v: 1 });
    expect(state.outcome).toMatchObject({
      ok: false,
      error: { path: ['a'], details: { field: 'v', expected: 'number', came: 'string' } },
    });
  });

  it('FL-40 run for several items at once, in a bounded number, and keep their order', async () => {
    const outside = new Outside();
    const flow = graph(
      [node('each:foreach'), api('a'), node('all:aggregate'), out],
      `in.request_list -> each
       each.item -> a
       a.v -> all
       all.v -> out`,
    );
    const state = started(flow, { list: [10, 11, 12, 13] }, outside, { parallelItems: 2 });
    await settled();
    expect(outside.begun).toEqual(['a#0', 'a#1']);
    await outside.answer('a#1', { v: 1 });
    expect(outside.begun).toEqual(['a#0', 'a#1', 'a#2']);
    await outside.answer('a#2', { v: 2 });
    await outside.answer('a#3', { v: 3 });
    expect(state.outcome).toBeUndefined();
    await outside.answer('a#0', { v: 0 });
    expect(state.outcome).toMatchObject({ output: { v: [0, 1, 2, 3] } });
  });

  it('FL-48 answer items in their order, whichever ended first', async () => {
    const outside = new Outside();
    const flow = graph(
      [node('each:foreach'), api('a'), node('out:result', { key: 'all' })],
      'in.request_list -> each\neach.item -> a\na.v -> out',
    );
    const state = started(flow, { list: [1, 2] }, outside);
    await settled();
    await outside.answer('a#1', { v: 1 });
    await outside.answer('a#0', { v: 0 });
    expect(state.outcome).toMatchObject({ output: { all: [{ v: 0 }, { v: 1 }] } });
  });

  const exiting = graph(
    [
      node('each:foreach'),
      api('a'),
      node('large:ifelse', { condition: { operator: 'greater than', args: [10] } }),
      node('out:result', { key: 'found', immediateExit: true }),
      node('late:result'),
    ],
    `in.request_list -> each
     each.item -> a
     a.v -> large
     large => out
     each.index -> out
     in.seen -> late`,
  );

  it('FL-63, FL-84 end with the exit of the lowest index, even if a later item ended earlier', async () => {
    const outside = new Outside();
    const state = started(exiting, { list: [1, 2, 3] }, outside);
    await settled();
    await outside.answer('a#1', { v: 20 });
    expect(state.outcome).toBeUndefined();
    await outside.answer('a#0', { v: 30 });
    // The third is not waited for.
    expect(state.outcome).toMatchObject({ ok: true, output: { found: { index: 0 } } });
    expect(outside.calls.map(({ signal }) => signal.aborted)).toEqual([false, false, true]);
  });

  it('FL-63 end with a later exit once the earlier items have none', async () => {
    const outside = new Outside();
    const state = started(exiting, { list: [1, 2, 3] }, outside);
    await settled();
    await outside.answer('a#1', { v: 20 });
    await outside.answer('a#0', { v: 0 });
    expect(state.outcome).toMatchObject({ ok: true, output: { found: { index: 1 } } });
  });

  it('FL-84 fail with the first failure in evaluation order, whichever arrived first', async () => {
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const outside = new Outside();
      const state = started(two, { n: 1 }, outside);
      await settled();
      for (const name of order) await outside.fail(name, `no ${name}`);
      expect(state.outcome).toMatchObject({
        ok: false,
        error: { code: 'infrastructure_error', message: 'The node "a" failed: no a', path: ['a'] },
      });
    }
  });

  it('FL-84 abort everything after a failure', async () => {
    const outside = new Outside();
    const state = started(two, { n: 1 }, outside);
    await settled();
    await outside.fail('a', 'gone');
    expect(state.outcome).toMatchObject({ ok: false, error: { path: ['a'] } });
    expect(outside.calls.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    // A late answer changes nothing.
    await outside.answer('b', { v: 1 });
    expect(state.outcome).toMatchObject({ ok: false });
  });

  it('FL-83 on failure fail the flow, count as skipped, or answer their default', async () => {
    const outcomes: unknown[] = [];
    for (const fields of [{}, { onError: 'continue' }, { onError: 'default', defaultOutputs: { v: 5 } }]) {
      const outside = new Outside();
      const state = started(
        graph([api('a', fields), out], 'in.request_n -> a\na.v -> out\nin.seen -> out'),
        { n: 1 },
        outside,
      );
      await settled();
      await outside.fail('a', 'no answer');
      outcomes.push(state.outcome && answer(state.outcome));
    }
    expect(outcomes).toEqual([
      'infrastructure_error: The node "a" failed: no answer',
      { seen: true },
      { v: 5, seen: true },
    ]);
  });

  it('FL-80 report the subflow nodes and items around the failed node', async () => {
    const outside = new Outside();
    const inner = compiled(graph([api('a'), out], 'in.request_n -> a\na.v -> out'), 'inner');
    const flow = compiled(
      graph(
        [
          node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] }),
          node('sub:flow', { flow: 'inner', version: 1 }),
          node('out:result', { key: 'x' }),
        ],
        'in.request_list -> each\neach.n -> sub.n\nsub.v -> out',
      ),
      'outer',
      [inner],
    );
    const state = started(flow, { list: [{ n: 1 }, { n: 2 }] }, outside);
    await settled();
    expect(outside.begun).toEqual(['sub/a#0', 'sub/a#1']);
    await outside.answer('sub/a#0', { v: 1 });
    await outside.fail('sub/a#1', 'no answer');
    expect(state.outcome).toMatchObject({
      ok: false,
      error: { message: 'The node "sub" > "a" (item 1) failed: no answer', path: ['sub', 'a'], indexes: [1] },
    });
  });

  it('FL-80 fail without a port', () => {
    expect(answer(solve(two, { n: 1 }))).toBe(
      'infrastructure_error: The node "a" failed: Nodes of type api cannot be run here.',
    );
  });

  it('FL-88 change no answer if rules are answered later', async () => {
    const flow = graph(
      [
        node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] }),
        node('twice:rule', { rule: 'double' }),
        node('all:aggregate', { aggregations: { twice: { operator: 'list' } } }),
        node('exit:result', { key: 'exit', immediateExit: true }),
        node('low:ifelse', { condition: { operator: 'greater than', args: [4] } }),
        node('out:result'),
      ],
      'in.request_list -> each\neach.n -> twice\ntwice.twice -> all\nall.twice -> out\ntwice.twice -> low\nlow.twice -> exit',
    );
    const plan = compileFlow({ id: 'f', slug: 'f', version: 1 }, flow, assetsOf(), { rulesAnswerLater: true });
    const evaluate: EvaluateAsset = async ({ rule, slug }, input, now) => {
      // Those of later items are answered first.
      for (let turn = 0; turn < 20 - 4 * Number(input['n'] ?? 0); turn += 1) await Promise.resolve();
      if (rule === undefined) throw new Error(slug);
      return evaluateRule(rule, input, { now });
    };
    for (const list of [[], [1, 2], [1, 2, 3, 4], [2, 'x'], [1, 3, 'x']]) {
      const input = { list: list.map((n) => ({ n })) };
      expect(answer(await begin(plan, input, { evaluate }))).toEqual(answer(solve(flow, input)));
    }
  });

  it('FL-88 fail the flow if a rule cannot be answered', async () => {
    const flow = graph([node('twice:rule', { rule: 'double' }), out], 'in.request_n -> twice.n\ntwice.twice -> out');
    const plan = compileFlow({ id: 'f', slug: 'f', version: 1 }, flow, assetsOf(), { rulesAnswerLater: true });
    const evaluate: EvaluateAsset = () => Promise.reject(new Error('no thread'));
    expect(answer(await begin(plan, { n: 1 }, { evaluate }))).toBe(
      'infrastructure_error: The node "in" failed: no thread',
    );
  });

  it('FL-87 are aborted when the run is ended, and the outcome rejects with the reason', async () => {
    const outside = new Outside();
    const end = new AbortController();
    const outcome = Promise.resolve(begin(two, { n: 1 }, { call: outside.call, signal: end.signal }));
    await settled();
    expect(outside.calls.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    end.abort(new Error('too late'));
    await expect(outcome).rejects.toThrow('too late');
    expect(outside.calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  it('FL-90 are marked in the trace if they were answered from a cache', async () => {
    const flow = graph([api('a'), api('b'), out], 'in.request_n -> a\nin.request_n -> b\na.v -> out\nb.v -> out.w');
    const call: NonNullable<RunOptions['call']> = ({ node: { ref }, onCached }) => {
      if (ref === 'a') onCached?.();
      return Promise.resolve({ v: 1 });
    };
    const { trace } = await begin(flow, { n: 1 }, { call, trace: { clock: () => 0 } });
    expect(trace?.entries.map(({ ref, cached }) => [ref, cached])).toEqual(
      expect.arrayContaining([
        ['a', true],
        ['b', undefined],
      ]),
    );
  });

  it('FL-91 receive secrets that no trace shows', async () => {
    const outside = new Outside();
    const flow = graph(
      [
        node('vault', { secrets: [{ name: 'KEY' }] }),
        node('code', { code: 'outputs.a = 1', outputs: [{ key: 'a' }] }),
        out,
      ],
      'vault.KEY -> code\ncode.a -> out',
    );
    const state = started(flow, {}, outside, { trace: { clock: () => 0 } });
    await settled();
    await outside.answer('vault', { KEY: new Secret('KEY', 'hunter-2') });
    const [, code] = outside.calls;
    expect((code?.inputs['KEY'] as Secret).reveal()).toBe('hunter-2');
    await outside.answer('code', { a: 1 });
    expect(state.outcome).toMatchObject({ ok: true, output: { a: 1 } });
    expect(JSON.stringify([state.outcome, code?.inputs])).not.toContain('hunter-2');
    expect(state.outcome?.trace?.entries.find(({ ref }) => ref === 'code')?.inputs).toEqual({ KEY: '[secret]' });
  });
});

describe('cached outputs of subflows', () => {
  const inner = compiled(
    graph([node('twice:rule', { rule: 'double' }), out], 'in.request_n -> twice.n\ntwice.twice -> out'),
    'inner',
  );
  const using = (fields: object = { useCache: true }) =>
    compiled(
      graph(
        [node('sub:flow', { flow: 'inner', version: 1, ...fields }), out],
        'in.request_n -> sub.n\nsub.twice -> out',
      ),
      'outer',
      [inner],
    );
  const keeping = (read: () => Promise<Readonly<Record<string, unknown>> | undefined>) => {
    const asked: Parameters<KeepOutputs>[0][] = [];
    const written: unknown[] = [];
    const keep: KeepOutputs = (call) => {
      asked.push(call);
      return { read, write: (outputs) => void written.push(outputs) };
    };
    return { asked, written, keep };
  };

  it('FL-93 replace a run, and the trace says so', async () => {
    const { asked, written, keep } = keeping(() => Promise.resolve({ twice: 7 }));
    const outcome = await begin(using(), { n: 2 }, { keep, trace: { clock: () => 0 } });
    expect(outcome).toMatchObject({ ok: true, output: { twice: 7 } });
    expect(outcome.trace?.entries.filter(({ ref }) => ref === 'sub')).toEqual([
      { ref: 'sub', status: 'ran', cached: true, inputs: { n: 2 }, outputs: { twice: 7 } },
    ]);
    expect(outcome.trace?.entries.some(({ within }) => within !== undefined)).toBe(false);
    expect(asked).toMatchObject([{ inputs: { n: 2 }, node: { type: 'flow', fields: { flow: 'inner' } } }]);
    expect(written).toEqual([]);
  });

  it.each([
    ['there are none', () => Promise.resolve(undefined)],
    ['they cannot be read', () => Promise.reject(new Error('no cache'))],
  ])('are replaced by those of a run when %s', async (_why, read) => {
    const { written, keep } = keeping(read);
    expect(answer(await begin(using(), { n: 2 }, { keep }))).toEqual({ twice: 4 });
    expect(written).toEqual([{ twice: 4 }]);
  });

  it('are not read by nodes without useCache, and a run without a cache needs none', async () => {
    const { asked, keep } = keeping(() => Promise.resolve({ twice: 7 }));
    expect(answer(await begin(using({}), { n: 2 }, { keep }))).toEqual({ twice: 4 });
    expect(asked).toEqual([]);
    expect(answer(await begin(using(), { n: 2 }))).toEqual({ twice: 4 });
  });

  it('belong to the versions that run: the key names each of them', () => {
    const runs = (plan: FlowPlan) =>
      plan.root.steps.flatMap((step) => (step.kind === 'subflow' ? step.kept?.fields['runs'] : []));
    expect(runs(using())).toEqual(['flow-inner 1', 'rule-double 1', 'rule-input 1']);
  });

  it('are never those of a failed run', async () => {
    const failing = compiled(
      graph([node('never:rule', { rule: 'fail' }), out], 'in.request_n -> never.n\nnever.never -> out'),
      'inner',
    );
    const flow = compiled(
      graph(
        [node('sub:flow', { flow: 'inner', version: 1, useCache: true }), out],
        'in.request_n -> sub.n\nsub.never -> out',
      ),
      'outer',
      [failing],
    );
    const { written, keep } = keeping(() => Promise.resolve(undefined));
    expect(await begin(flow, { n: 2 }, { keep })).toMatchObject({ ok: false });
    expect(written).toEqual([]);
  });

  it('let items of a loop run concurrently', async () => {
    let reads = 0;
    const { keep } = keeping(() => Promise.resolve(++reads === 1 ? undefined : { twice: reads }));
    const flow = compiled(
      graph(
        [
          node('each:foreach'),
          node('sub:flow', { flow: 'inner', version: 1, useCache: true }),
          node('all:aggregate'),
          out,
        ],
        'in.request_list -> each\neach.item -> sub.n\nsub.twice -> all\nall.twice -> out',
      ),
      'outer',
      [inner],
    );
    expect(answer(await begin(flow, { list: [5, 6, 7] }, { keep }))).toEqual({ twice: [10, 2, 3] });
  });
});
