import fc from 'fast-check';
import { alone, base, derived, modelOf, NOW, relationship, withPolicy, world } from '../../test/fixtures';
import { type Answers, rule, settleWith, success } from '../../test/settling';
import { type Facts } from '../facts/facts';
import { lookAhead, OWN_TRIED_BYTES, TRIED_BYTES } from './settle';
import { type AssetAnswer, type Executions, TriedMemory } from './settle-task';

const model = modelOf({
  base: [
    ...base({ total: 'number!', tier: 'string', offer: 'object', note: 'string' }),
    { key: 'score', type: 'number', output_only: true },
  ],
  derived: derived({ double: 'total * 2' }),
});
const failing = (status: 'evaluation_error' | 'infrastructure_error') => (): AssetAnswer => ({
  status,
  error: 'no luck',
});

describe('rounds', () => {
  const scoring = rule('scoring', ['total'], ['score']);
  const tiering = rule('tiering', ['score'], ['tier']);
  const answers: Answers = {
    scoring: ({ total }) => success({ score: Number(total) / 10 }),
    tiering: ({ score }) => success({ tier: Number(score) > 5 ? 'gold' : 'tin' }),
  };

  it('C60: a round reads what the previous one wrote', async () => {
    const settled = await settleWith(model, [tiering, scoring], { total: 100 }, answers);
    expect(settled.calls).toEqual(['scoring({"total":100})', 'tiering({"score":10})']);
    expect(settled).toMatchObject({
      facts: { total: 100, score: 10, tier: 'gold' },
      ended: 'fixpoint',
      unfinished: [],
      rounds: 2,
    });
    expect(settled.runs.map(({ slug, status, written }) => [slug, status, written])).toEqual([
      ['scoring', 'success', ['score']],
      ['tiering', 'success', ['tier']],
    ]);
  });

  it('C60: derived facts are recomputed between rounds', async () => {
    const raise = rule('raise', ['note'], ['total']);
    const price = rule('price', ['double'], ['tier']);
    const settled = await settleWith(
      modelOf({
        base: base({ total: 'number', note: 'string!', tier: 'string' }),
        derived: derived({ double: 'total * 2' }),
      }),
      [price, raise],
      { note: 'x' },
      {
        raise: () => success({ total: 21 }),
        price: ({ double }) => success({ tier: String(double) }),
      },
    );
    expect(settled.calls).toEqual(['raise({"note":"x"})', 'price({"double":42})']);
  });

  it('C61, C69: an asset with the version and inputs of its last success is skipped, and listed once', async () => {
    const first = await settleWith(model, [scoring, tiering], { total: 100 }, answers);
    const again = await settleWith(model, [scoring, tiering], first.facts, answers, { executions: first.executions });
    expect(again.calls).toEqual([]);
    expect(again.runs.map(({ slug, status }) => [slug, status])).toEqual([
      ['scoring', 'skipped_already_run'],
      ['tiering', 'skipped_already_run'],
    ]);
    expect(again).toMatchObject({ facts: first.facts, executions: first.executions, anyReady: true });
  });

  it('C61: a new version runs even if the inputs are the same', async () => {
    const first = await settleWith(model, [scoring], { total: 100 }, answers);
    const renewed = { ...scoring, effectiveVersion: 'v2' };
    const again = await settleWith(model, [renewed], first.facts, answers, { executions: first.executions });
    expect(again.calls).toHaveLength(1);
    expect(again.executions['rule:scoring']).toMatchObject({ effective_version: 'v2', run_count: 2 });
  });

  it('C62: neither facts that the asset does not read nor the order of keys matter', async () => {
    const offering = rule('offering', ['offer'], ['note']);
    const answer = { offering: () => success({ note: 'x' }) };
    const first = await settleWith(model, [offering], { total: 1, offer: { a: 1, b: 2 } }, answer);
    const again = await settleWith(model, [offering], { ...first.facts, total: 2, offer: { b: 2, a: 1 } }, answer, {
      executions: first.executions,
    });
    expect(again.calls).toEqual([]);
  });

  it.each(['evaluation_error', 'infrastructure_error'] as const)(
    'C63: after %s an asset is tried once per settling, while a success is not repeated',
    async (status) => {
      const mixed: Answers = { ...answers, tiering: failing(status) };
      const first = await settleWith(model, [scoring, tiering], { total: 100 }, mixed);
      expect(first.calls.filter((call) => call.startsWith('tiering'))).toHaveLength(1);
      const { facts, executions } = first;
      const again = await settleWith(model, [scoring, tiering], facts, answers, { executions });
      expect(again.calls).toEqual(['tiering({"score":10})']);
      expect(first.executions['rule:tiering']).toMatchObject({ run_count: 1, failure_count: 1 });
      expect(again.executions['rule:tiering']).toMatchObject({ status: 'success', run_count: 2, failure_count: 1 });
      expect(again.executions['rule:tiering']).not.toHaveProperty('error');
    },
  );

  it('C64: if two assets write one fact in one round, the later in order wins', async () => {
    const assets = [rule('b', ['total'], ['tier']), rule('a', ['total'], ['tier'])];
    const settled = await settleWith(
      model,
      assets,
      { total: 1 },
      { a: () => success({ tier: 'of a' }), b: () => success({ tier: 'of b' }) },
    );
    expect(settled.facts['tier']).toBe('of b');
  });
});

describe('C67: a settling that finds no fixpoint', () => {
  const counters = modelOf({ base: base({ a: 'number!', b: 'number' }) });

  it('stops when a state repeats', async () => {
    const flip = rule('flip', ['a'], ['a']);
    const settled = await settleWith(counters, [flip], { a: 0 }, { flip: ({ a }) => success({ a: 1 - Number(a) }) });
    expect(settled).toMatchObject({ ended: 'repeated_state', unfinished: ['rule:flip'] });
    expect(settled.calls).toHaveLength(2);
  });

  it('stops when its tried states use up their memory', async () => {
    const climb = rule('climb', ['a', 'text'], ['a']);
    const texts = modelOf({ base: base({ a: 'number!', text: 'string' }) });
    const text = 'x'.repeat(TRIED_BYTES / 1_000); // these tests use the text itself as its hash
    const answers: Answers = { climb: ({ a }) => success({ a: Number(a) + 1 }) };
    const settled = await settleWith(texts, [climb], { a: 0, text }, answers);
    expect(settled).toMatchObject({ ended: 'memory_bound', unfinished: ['rule:climb'] });
    expect(settled.calls.length).toBeGreaterThan(400);
    expect(settled.calls.length).toBeLessThanOrEqual(500);
    expect(settled.facts['a']).toBe(settled.calls.length);
  });

  it('stops with a small reserve of its own when all settlings of the process have used the shared memory, and releases it', async () => {
    const climb = rule('climb', ['a'], ['a']);
    const answers: Answers = { climb: ({ a }) => success({ a: Math.min(100_000, Number(a) + 1) }) };
    const tried = new TriedMemory(4 * OWN_TRIED_BYTES);
    tried.take(4 * OWN_TRIED_BYTES);
    const crowded = await settleWith(counters, [climb], { a: 0 }, answers, { tried });
    expect(crowded).toMatchObject({ ended: 'memory_bound', unfinished: ['rule:climb'] });
    expect(crowded.calls.length).toBeGreaterThan(200);
    expect(tried.takenBytes).toBe(4 * OWN_TRIED_BYTES);
    tried.free(4 * OWN_TRIED_BYTES);
    const alone = await settleWith(counters, [climb], { a: 0 }, answers, { tried });
    expect(alone).toMatchObject({ ended: 'memory_bound' });
    expect(alone.calls.length).toBeGreaterThan(3 * crowded.calls.length);
    expect(tried.takenBytes).toBe(0);
  });

  it('takes as many rounds as it needs to end, and pauses after each', async () => {
    const climb = rule('climb', ['a'], ['a']);
    const answers: Answers = { climb: ({ a }) => success({ a: Math.min(1_000, Number(a) + 1) }) };
    const settled = await settleWith(counters, [climb], { a: 0 }, answers);
    expect(settled).toMatchObject({ ended: 'fixpoint', facts: { a: 1_000 }, unfinished: [] });
    expect(settled).toMatchObject({ pauses: settled.calls.length, rounds: settled.calls.length });
    expect(settled.calls).toHaveLength(1_001);
  });

  it('stops at the deadline, keeping what was done', async () => {
    const climb = rule('climb', ['a'], ['a']);
    let checks = 0;
    const settled = await settleWith(
      counters,
      [climb],
      { a: 0 },
      { climb: ({ a }) => success({ a: Number(a) + 1 }) },
      { isOver: () => (checks += 1) > 3 },
    );
    expect(settled).toMatchObject({ ended: 'deadline', unfinished: ['rule:climb'], facts: { a: 3 } });
  });

  it('ends when facts stop changing', async () => {
    const climb = rule('climb', ['a'], ['a']);
    const settled = await settleWith(
      counters,
      [climb],
      { a: 0 },
      { climb: ({ a }) => success({ a: Math.min(5, Number(a) + 1) }) },
    );
    expect(settled).toMatchObject({ ended: 'fixpoint', facts: { a: 5 } });
  });

  it('needs no more rounds than assets if none feeds back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.integer(), async (count, seed) => {
        const names = Array.from({ length: count + 1 }, (_, index) => `f${index}`);
        const chain = modelOf({ base: names.map((key, index) => ({ key, type: 'number', output_only: index > 0 })) });
        const assets = names
          .slice(1)
          .map((name, index) => rule(`r${(index * 7 + seed) % 1_000}-${name}`, [names[index] ?? ''], [name]));
        const answers: Answers = Object.fromEntries(
          assets.map((asset) => [
            asset.slug,
            (inputs: Facts) => success({ [asset.outputs[0] ?? '']: Number(Object.values(inputs)[0]) + 1 }),
          ]),
        );
        const settled = await settleWith(chain, assets, { f0: 0 }, answers);
        expect(settled).toMatchObject({ ended: 'fixpoint', facts: { [`f${count}`]: count } });
        expect(settled.calls).toHaveLength(count);
      }),
      { numRuns: 50 },
    );
  });
});

it('C60: executors that answer at once, and those that answer with promises, lead to the same end', async () => {
  const assets = [
    rule('scoring', ['total'], ['score']),
    rule('tiering', ['score'], ['tier']),
    rule('broken', ['total'], ['note']),
  ];
  const answers: Answers = {
    scoring: ({ total }) => success({ score: Number(total) / 10 }),
    tiering: ({ score }) => success({ tier: Number(score) > 5 ? 'gold' : 'tin' }),
    broken: () => {
      throw new Error('no luck');
    },
  };
  const [atOnce, later] = await Promise.all(
    [true, false].map((isAtOnce) => settleWith(model, assets, { total: 100 }, answers, { atOnce: isAtOnce })),
  );
  expect(atOnce).toEqual(later);
  expect(atOnce).toMatchObject({ facts: { tier: 'gold' }, faults: ['broken: no luck'], pauses: 2 });
});

describe('looking ahead', () => {
  const assets = [rule('scoring', ['total'], ['score']), rule('tiering', ['score'], ['tier'])];
  const answers: Answers = {
    scoring: ({ total }) => success({ score: Number(total) / 10 }),
    tiering: () => success({ tier: 'tin' }),
  };
  const look = (facts: Facts, executions: Executions = {}, only?: ReadonlySet<string>) => {
    const texts: string[] = [];
    const hash = (text: string): string => (texts.push(text), text);
    return { settled: lookAhead({ model, assets, facts, executions, sources: alone, only }, hash), texts };
  };

  it('finds nothing due for facts that nothing is ready for, and for those of a fixpoint', async () => {
    expect(look({ note: 'n' }).settled).toMatchObject({ ended: 'fixpoint', anyReady: false, runs: [] });
    const { facts, executions } = await settleWith(model, assets, { total: 100 }, answers);
    const { settled } = look(facts, executions);
    expect(settled).toMatchObject({ facts, executions, ended: 'fixpoint', anyReady: true, rounds: 0 });
    expect(settled?.runs.map(({ status }) => status)).toEqual(['skipped_already_run', 'skipped_already_run']);
  });

  it('stops at the first asset that is due, without looking at the others', async () => {
    const { facts, executions } = await settleWith(model, assets, { total: 100 }, answers);
    const { settled, texts } = look({ ...facts, total: 200 }, executions);
    expect(settled).toBeUndefined();
    expect(texts).toEqual(['{"total":200}']);
    expect(look({ ...facts, total: 200 }, executions, new Set(['rule:tiering'])).settled).toBeDefined();
  });
});

it('C68: an asset whose run requested this work is not run again', async () => {
  const settled = await settleWith(
    model,
    [rule('outer', ['total'], ['tier'])],
    { total: 1 },
    {},
    { ancestors: new Set(['rule:outer']) },
  );
  expect(settled.calls).toEqual([]);
  expect(settled.runs).toMatchObject([{ slug: 'outer', status: 'skipped_in_progress' }]);
});

it('C70: executions hold the last run and the last success', async () => {
  const asset = rule('scoring', ['total'], ['score']);
  const first = await settleWith(model, [asset], { total: 1 }, { scoring: () => success({ score: 1 }) });
  expect(first.executions).toEqual({
    'rule:scoring': {
      type: 'rule',
      slug: 'scoring',
      status: 'success',
      effective_version: 'v1',
      input_hash: '{"total":1}',
      run_count: 1,
      timestamp: new Date(NOW).toISOString(),
      written_to_context: ['score'],
      owned_facts: ['score'],
      last_success: { effective_version: 'v1', input_hash: '{"total":1}' },
    },
  });
  const failed = await settleWith(
    model,
    [asset],
    { ...first.facts, total: 2 },
    { scoring: failing('evaluation_error') },
    { executions: first.executions },
  );
  expect(failed.executions['rule:scoring']).toMatchObject({
    status: 'evaluation_error',
    error: 'no luck',
    input_hash: '{"total":2}',
    run_count: 2,
    written_to_context: ['score'],
    last_success: { input_hash: '{"total":1}' },
  });
});

it('C70: an error is stored in a form that the database can hold', async () => {
  const error = `\0${'x'.repeat(2_000)}`;
  const settled = await settleWith(
    model,
    [rule('r', ['total'], ['tier'])],
    { total: 1 },
    { r: () => ({ status: 'evaluation_error', error }) },
  );
  expect(settled.executions['rule:r']?.error).toBe(`?${'x'.repeat(999)}`);
});

it('C71: an unavailable executor is reported, and leaves no trace in executions', async () => {
  const settled = await settleWith(
    model,
    [rule('scoring', ['total'], ['score'])],
    { total: 1 },
    { scoring: () => ({ status: 'unavailable', error: 'the broker is away' }) },
  );
  expect(settled).toMatchObject({ executions: {}, degraded: 'the broker is away', ended: 'fixpoint' });
  expect(settled.calls).toHaveLength(1);
  expect(settled.runs).toMatchObject([{ status: 'infrastructure_error', unavailable: true }]);
});

it('C72: only registered evaluations are considered if the context does not execute by itself', async () => {
  const assets = [rule('a', ['total'], ['tier']), rule('b', ['total'], ['note'])];
  const answers: Answers = { a: () => success({ tier: 'x' }), b: () => success({ note: 'y' }) };
  expect((await settleWith(model, assets, { total: 1 }, answers, { only: new Set() })).calls).toEqual([]);
  expect((await settleWith(model, assets, { total: 1 }, answers, { only: new Set(['rule:b']) })).calls).toEqual([
    'b({"total":1})',
  ]);
});

it('C73: a forced asset runs once even if nothing has changed', async () => {
  const asset = rule('scoring', ['total'], ['score']);
  const answers: Answers = { scoring: () => success({ score: 1 }) };
  const first = await settleWith(model, [asset], { total: 1 }, answers);
  const again = await settleWith(model, [asset], first.facts, answers, {
    executions: first.executions,
    forced: 'rule:scoring',
  });
  expect(again.calls).toHaveLength(1);
  expect(again.executions['rule:scoring']?.run_count).toBe(2);
});

it('C74, C75: an executor that throws fails only its asset', async () => {
  const assets = [rule('absent', ['total'], ['note']), rule('scoring', ['total'], ['score'])];
  const settled = await settleWith(model, assets, { total: 1 }, { scoring: () => success({ score: 1 }) });
  expect(settled.runs).toMatchObject([
    { slug: 'absent', status: 'infrastructure_error' },
    { slug: 'scoring', status: 'success' },
  ]);
  expect(settled.facts['score']).toBe(1);
  expect(settled.faults).toEqual(['absent: no such rule']);
});

it('C43: derived facts see the changes of this settling as the newest entry', async () => {
  const tracked = modelOf({
    base: [{ key: 'score', type: 'number', track_history: true }, ...base({ total: 'number!', seen: 'number' })],
    derived: derived({ before: 'previous("score")' }),
  });
  const assets = [rule('scoring', ['total'], ['score']), rule('looking', ['before'], ['seen'])];
  const settled = await settleWith(
    tracked,
    assets,
    { total: 5, score: 1 },
    {
      scoring: ({ total }) => success({ score: total }),
      looking: ({ before }) => success({ seen: before }),
    },
    {
      sources: {
        now: NOW,
        related: {},
        history: (fact) =>
          fact === 'score'
            ? [
                { timestamp: NOW - 1, value: 1 },
                { timestamp: NOW - 2, value: 7 },
              ]
            : [],
      },
    },
  );
  expect(settled.calls).toContain('looking({"before":1})');
  expect(settled.facts['seen']).toBe(1);
});

it('C52: an asset reads relationships as $relations', async () => {
  const customers = modelOf({ slug: 'customers', base: base({ vip: 'boolean' }) }, world([], []));
  const others = world(
    [
      customers.definition,
      {
        ...customers.definition,
        id: 'orders',
        slug: 'orders',
        schema: {
          base: [
            { key: 'id', type: 'string' },
            { key: 'customer_id', type: 'string' },
          ],
        },
      },
    ],
    [relationship({ name: 'orders' })],
  );
  const reading = modelOf({ slug: 'customers', base: base({ vip: 'boolean' }) }, others);
  const settled = await settleWith(
    reading,
    [rule('judge', ['$relations.orders'], ['vip'])],
    {},
    { judge: () => success({ vip: true }) },
    { sources: { now: NOW, related: { orders: [{ id: 'o-1' }] } } },
  );
  expect(settled.calls).toEqual(['judge({"$relations":{"orders":[{"id":"o-1"}]}})']);
});

describe('C78: facts that an asset merges into the operation that runs it', () => {
  const scoring = rule('scoring', ['total'], ['score']);
  const tiering = rule('tiering', ['tier'], ['note']);
  const strict = withPolicy('reject', {
    base: [...base({ total: 'number!', tier: 'string' }), { key: 'score', type: 'number', output_only: true }],
    derived: derived({ double: 'total * 2' }),
  });
  const joining =
    (...records: Facts[]): Answers[string] =>
    (_inputs, settling) => {
      const faults = records.map((facts) => settling.join(facts)).filter((fault) => fault !== undefined);
      return faults.length > 0 ? { status: 'infrastructure_error', error: faults.join(' ') } : success({ score: 1 });
    };

  it('are facts of the instance at once, and make other assets due in the next round', async () => {
    const states: Facts[] = [];
    const settled = await settleWith(
      model,
      [scoring, tiering],
      { total: 1 },
      {
        scoring: (_inputs, settling) => {
          states.push(settling.state());
          expect(settling.join({ tier: 'gold', total: 4 })).toBeUndefined();
          states.push(settling.state());
          return success({ score: 1 });
        },
        tiering: ({ tier }) => success({ note: `of ${String(tier)}` }),
      },
      { executions: {} },
    );
    expect(states.slice(0, 2)).toMatchObject([
      { total: 1, double: 2 },
      { total: 4, double: 8, tier: 'gold' },
    ]);
    expect(settled.facts).toEqual({ total: 4, tier: 'gold', score: 1, note: 'of gold' });
    expect(settled.calls.slice(2)).toEqual(['scoring({"total":4})', 'tiering({"tier":"gold"})']);
    expect(settled.ended).toBe('fixpoint');
  });

  it('are written before the outputs of the round', async () => {
    const settled = await settleWith(
      model,
      [scoring, rule('later', ['total'], ['note'])],
      { total: 1 },
      { scoring: joining({ note: 'joined' }), later: () => success({ note: 'answered' }) },
    );
    expect(settled.facts).toMatchObject({ note: 'answered' });
  });

  it('take ownership from the asset that wrote them, which then does not clear them', async () => {
    const first = await settleWith(model, [tiering], { tier: 'a' }, { tiering: () => success({ note: 'x' }) });
    const settled = await settleWith(
      model,
      [scoring, tiering],
      { ...first.facts, total: 1, tier: 'b' },
      { scoring: joining({ note: 'kept' }), tiering: () => success({}) },
      { executions: first.executions },
    );
    expect(settled.facts['note']).toBe('kept');
    expect(settled.runs.find(({ slug }) => slug === 'tiering')).not.toHaveProperty('cleared');
  });

  it('stay even if the asset fails afterwards', async () => {
    const settled = await settleWith(
      model,
      [scoring],
      { total: 1 },
      {
        scoring: (_inputs, settling) => {
          settling.join({ note: 'before' });
          return { status: 'evaluation_error', error: 'no luck' };
        },
      },
    );
    expect(settled).toMatchObject({ facts: { total: 1, note: 'before' }, runs: [{ status: 'evaluation_error' }] });
  });

  it.each([
    ['another type', { tier: 4 }, 'The fact "tier" must be a string, not a number.'],
    ['a derived fact', { double: 4 }, 'The fact "double" is derived and cannot be given.'],
    ['an output_only fact', { score: 4 }, 'The fact "score" is output_only: only bound rules and flows write it.'],
    ['another identity', { id: 'other' }, 'The identity fact "id" of an instance cannot be changed.'],
  ])('are refused like a submission: %s', async (_what, facts, error) => {
    const settled = await settleWith(strict, [scoring], { id: 'o-1', total: 1 }, { scoring: joining(facts) });
    expect(settled.runs).toMatchObject([{ status: 'infrastructure_error', error }]);
    expect(settled.facts).toEqual({ id: 'o-1', total: 1 });
  });

  it('may include the identity of the instance', async () => {
    const settled = await settleWith(model, [scoring], { id: 'o-1', total: 1 }, { scoring: joining({ id: 'o-1' }) });
    expect(settled.runs).toMatchObject([{ status: 'success' }]);
  });

  it('are refused once the round has ended', async () => {
    let late: (() => string | undefined) | undefined;
    const settled = await settleWith(
      model,
      [scoring],
      { total: 1 },
      {
        scoring: (_inputs, settling) => {
          late = () => settling.join({ note: 'late' });
          return success({});
        },
      },
    );
    expect(late?.()).toBe('The round of the operation that ran this has ended.');
    expect(settled.facts).not.toHaveProperty('note');
  });

  it('end as a repeated state if they lead back to inputs of a success', async () => {
    const settled = await settleWith(
      model,
      [scoring],
      { total: 0 },
      {
        scoring: ({ total }, settling) => {
          settling.join({ total: 1 - Number(total) });
          return success({});
        },
      },
    );
    expect(settled).toMatchObject({ ended: 'repeated_state', unfinished: ['rule:scoring'] });
    expect(settled.calls).toHaveLength(2);
  });
});
