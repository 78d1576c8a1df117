import fc from 'fast-check';
import { base, derived, modelOf, withPolicy } from '../../test/fixtures';
import { type Answers, rule, settleWith, success } from '../../test/settling';
import { type Facts } from '../facts/facts';
import { type Executions } from './settle-task';
import { disownFacts } from './write-outputs';

const model = modelOf({
  base: [
    ...base({ total: 'number!', tier: 'string', offer: 'object', note: 'string' }),
    { key: 'score', type: 'number', output_only: true },
  ],
  derived: derived({ double: 'total * 2' }),
});

describe('C65: an invalid answer', () => {
  const asset = rule('odd', ['total'], ['tier']);
  const answering = (outputs: Facts, on = model) =>
    settleWith(on, [asset], { total: 1 }, { odd: () => success(outputs) });

  it.each<[string, Facts]>([
    ['the identity', { id: 'other', tier: 'gold' }],
    ['a derived fact', { double: 3, tier: 'gold' }],
    ['another type', { score: 'many', tier: 'gold' }],
    ['a NUL', { note: 'a\0b', tier: 'gold' }],
  ])('with %s writes nothing', async (_, outputs) => {
    const settled = await answering(outputs);
    expect(settled.facts).toEqual({ total: 1 });
    expect(settled.runs).toMatchObject([{ status: 'evaluation_error' }]);
    expect(settled.executions['rule:odd']).toMatchObject({ status: 'evaluation_error', written_to_context: [] });
  });

  it('with an undeclared fact follows the policy of the context', async () => {
    const facts = { base: base({ total: 'number!', tier: 'string' }) };
    expect((await answering({ extra: 1, tier: 'x' }, withPolicy('ignore', facts))).facts).toEqual({
      total: 1,
      tier: 'x',
    });
    expect((await answering({ extra: 1, tier: 'x' }, withPolicy('store', facts))).facts).toEqual({
      total: 1,
      tier: 'x',
      extra: 1,
    });
    expect((await answering({ extra: 1, tier: 'x' }, withPolicy('reject', facts))).facts).toEqual({ total: 1 });
  });

  it('with a fact __proto__ is refused even if undeclared facts are stored', async () => {
    const settled = await answering(
      JSON.parse('{"__proto__": {"tier": "gold"}}') as Facts,
      withPolicy('store', { base: base({ total: 'number!' }) }),
    );
    expect(settled.runs).toMatchObject([{ status: 'evaluation_error' }]);
  });
});

it('C58: an output with dots writes the fact before the first dot', async () => {
  const asset = rule('rate', ['total'], ['offer.rate']);
  const settled = await settleWith(model, [asset], { total: 1 }, { rate: () => success({ offer: { rate: 3 } }) });
  expect(settled.facts['offer']).toEqual({ rate: 3 });
});

describe('C66: a fact that the asset no longer answers', () => {
  const one = rule('one', ['total'], ['tier', 'note']);
  const answers: Answers = {
    one: ({ total }) => success(total === 1 ? { tier: 'one', note: 'first' } : {}),
    two: () => success({ tier: 'two' }),
  };

  it('is cleared and reported, unless another asset has written it since', async () => {
    const two = rule('two', ['double'], ['tier']);
    const first = await settleWith(model, [one, two], { total: 1 }, answers);
    expect(first.facts).toEqual({ total: 1, tier: 'two', note: 'first' });
    expect(first.executions).toMatchObject({
      'rule:one': { written_to_context: ['tier', 'note'], owned_facts: ['note'] },
      'rule:two': { owned_facts: ['tier'] },
    });
    const { executions } = first;
    const again = await settleWith(model, [one], { ...first.facts, total: 2 }, answers, { executions });
    expect(again.facts).toEqual({ total: 2, tier: 'two' });
    expect(again.runs).toMatchObject([{ slug: 'one', status: 'success', written: [], cleared: ['note'] }]);
    expect(again.executions).toMatchObject({ 'rule:one': { owned_facts: [] }, 'rule:two': { owned_facts: ['tier'] } });
  });

  it.each([
    ['another value', 'mine'],
    ['null', null],
    ['the same value', 'first'],
  ])('keeps %s submitted since then', async (_, note) => {
    const first = await settleWith(model, [one], { total: 1 }, answers);
    const executions = disownFacts(first.executions, ['note', 'total']);
    const again = await settleWith(model, [one], { ...first.facts, note, total: 2 }, answers, { executions });
    expect(again.facts).toEqual({ total: 2, note });
    expect(again.runs).toMatchObject([{ written: [], cleared: ['tier'] }]);
  });

  it('stays if the asset fails, and is cleared by the next success', async () => {
    const first = await settleWith(model, [one], { total: 1 }, answers);
    const { executions } = await settleWith(
      model,
      [one],
      { ...first.facts, total: 2 },
      { one: () => ({ status: 'evaluation_error', error: 'no luck' }) },
      { executions: first.executions },
    );
    const again = await settleWith(model, [one], { ...first.facts, total: 2 }, answers, { executions });
    expect(again.runs).toMatchObject([{ cleared: ['tier', 'note'] }]);
  });

  it('stays if the record of the asset does not list what it owns', async () => {
    const first = await settleWith(model, [one], { total: 1 }, answers);
    const text = JSON.stringify(first.executions, (key, value: unknown) => (key === 'owned_facts' ? undefined : value));
    const executions = JSON.parse(text) as Executions; // the same except for one member
    const again = await settleWith(model, [one], { ...first.facts, total: 2 }, answers, { executions });
    expect(again.facts).toEqual({ ...first.facts, total: 2 });
  });

  it('is never one that a client gave last, for any sequence of writes', async () => {
    const written = ['tier', 'note', 'score'] as const;
    const assets = [rule('one', ['total'], written), rule('two', ['total'], written)];
    const some = fc.subarray([...written]);
    const step = fc.record({ given: some, one: some, two: some });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        let facts: Facts = {};
        let executions: Executions = {};
        /** The last writer of each fact. */
        const last = new Map<string, string>();
        for (const [total, { given, ...outputs }] of steps.entries()) {
          const submitted = Object.fromEntries(given.map((fact) => [fact, fact === 'score' ? 0 : 'of a client']));
          facts = { ...facts, ...submitted, total };
          executions = disownFacts(executions, Object.keys(submitted));
          for (const fact of given) last.set(fact, 'client');
          const answersOf = (slug: 'one' | 'two') => () =>
            success(Object.fromEntries(outputs[slug].map((fact) => [fact, fact === 'score' ? 1 : slug])));
          const settled = await settleWith(
            model,
            assets,
            facts,
            { one: answersOf('one'), two: answersOf('two') },
            { executions },
          );
          ({ facts, executions } = settled);
          for (const slug of ['one', 'two'] as const) {
            const run = settled.runs.find((each) => each.slug === slug);
            for (const fact of run?.cleared ?? []) expect([fact, last.get(fact)]).toEqual([fact, slug]);
            for (const fact of run?.cleared ?? []) last.delete(fact);
            for (const fact of outputs[slug]) last.set(fact, slug);
          }
          expect(Object.keys(facts).sort()).toEqual(['total', ...last.keys()].sort());
        }
      }),
      { numRuns: 200 },
    );
  });
});
