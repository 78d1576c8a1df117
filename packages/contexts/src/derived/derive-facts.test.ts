import { base, customersAndOrders, derived, modelOf, NOW, relationship } from '../../test/fixtures';
import { type ContextModel } from '../definitions/context-model';
import { type Facts } from '../facts/facts';
import { type DerivationSources, deriveFacts, historyOfChange, noHistory, type RelatedInstances } from './derive-facts';

const compute = (
  model: ContextModel,
  facts: Facts,
  related: RelatedInstances = {},
  rest: Partial<DerivationSources> = {},
) => deriveFacts(model, facts, { now: NOW, related, ...rest });

it('C40: derived facts are computed after those that they read, in whatever order they are written', () => {
  const model = modelOf({
    base: base({ n: 'number' }),
    derived: derived({ c: 'b * 10', b: 'a + 1', a: 'n', today_is: 'format_date(now(), "YYYY-MM-DD")' }),
  });
  expect(compute(model, { n: 1 }).derived).toEqual({ a: 1, b: 2, c: 20, today_is: '2026-01-15' });
  expect([...model.derived.keys()].indexOf('c')).toBeGreaterThan([...model.derived.keys()].indexOf('b'));
});

describe('C41: related instances', () => {
  const { customers, world: both } = customersAndOrders();
  const model = modelOf(
    { ...customers, base: customers.schema.base.slice(1), derived: customers.schema.derived ?? [] },
    both,
  );

  it('are a list for has_many', () => {
    const orders = [{ id: 'o-1', total: 10 }, { id: 'o-2', total: 2.5 }, { id: 'o-3', total: null }, { id: 'o-4' }];
    expect(compute(model, {}, { orders }).derived).toEqual({ spent: 12.5, order_count: 4 });
    expect(compute(model, {}, { orders: [] }).derived).toEqual({ spent: 0, order_count: 0 });
  });

  it('are one instance or null for belongs_to and has_one', () => {
    const { orders } = customersAndOrders();
    const order = modelOf(
      {
        ...orders,
        base: orders.schema.base.slice(1),
        derived: derived({ greeting: '"Dear " + $customer.name', is_vip: '$relations.customer.vip == true' }),
      },
      {
        ...both,
        relationships: [
          relationship({ name: 'customer', type: 'belongs_to', fromContextId: 'orders', toContextId: 'customers' }),
        ],
      },
    );
    expect(compute(order, {}, { customer: { id: 'c-1', name: 'Ada', vip: true } }).derived).toEqual({
      greeting: 'Dear Ada',
      is_vip: true,
    });
    const { derived: facts, failures } = compute(order, {}, { customer: null });
    expect(facts).toEqual({ is_vip: false });
    expect(failures).toMatchObject([{ fact: 'greeting' }]);
  });

  it('are not read through a prototype', () => {
    expect(compute(model, {}, Object.create({ orders: [{ total: 1 }] }) as RelatedInstances).derived).not.toMatchObject(
      { spent: 1 },
    );
  });
});

describe('C42: formulas without an answer', () => {
  const facts = [
    { key: 'plain', expression: 'secret / 0' },
    { key: 'covered', expression: 'secret / 0', default_value: -1 },
    { key: 'nothing', expression: 'ifelse(secret == 1, 1, null)', default_value: 7 },
    { key: 'wrong', expression: 'to_text(secret)', type: 'number' as const },
    { key: 'after', expression: 'covered + 1' },
    { key: 'falsy', expression: 'secret * 0', default_value: 9 },
  ];
  const model = modelOf({ base: base({ secret: 'number' }), derived: facts });

  it('leave the default, or no value', () => {
    expect(compute(model, { secret: 424_242 }).derived).toEqual({ covered: -1, nothing: 7, after: 0, falsy: 0 });
  });

  it('are reported without values', () => {
    const { failures } = compute(model, { secret: 424_242 });
    expect(failures.map(({ fact }) => fact).sort()).toEqual(['covered', 'plain', 'wrong']);
    expect(failures.find(({ fact }) => fact === 'wrong')?.error).toBe(
      'the formula answers a string instead of a number',
    );
    expect(JSON.stringify(failures)).not.toContain('424242');
  });
});

it('C42: an answer that cannot be stored counts as no value', () => {
  const model = modelOf({
    base: base({ text: 'string' }),
    derived: derived({ marked: 'text + "\u0000"', plain: 'text' }),
  });
  const { derived: facts, failures } = compute(model, { text: 'a' });
  expect(facts).toEqual({ plain: 'a' });
  expect(failures).toMatchObject([{ fact: 'marked' }]);
});

it('C43: history and previous see the current change as the newest', () => {
  const model = modelOf({
    base: [{ key: 'score', type: 'number', track_history: true }],
    derived: derived({
      before: 'previous("score")',
      best: 'max(history("score"), "value")',
      since: 'last(history("score")).timestamp',
      risen: 'score > coalesce(previous("score"), 0)',
    }),
  });
  const entries = [
    { timestamp: NOW, value: 7 },
    { timestamp: NOW - 1_000, value: 9 },
    { timestamp: NOW - 2_000, value: 3 },
  ];
  const history = (fact: string) => (fact === 'score' ? entries : []);
  expect(compute(model, { score: 7 }, {}, { history }).derived).toEqual({
    before: 9,
    best: 9,
    since: '2026-01-15T09:29:58.000Z',
    risen: false,
  });
  expect(compute(model, { score: 7 }).derived).toEqual({ risen: true });
});

it('C44: the formulas of one instance share an allowance', () => {
  const heavy = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`d${index}`, 'count(list, x => x > 0)']));
  const model = modelOf({ base: base({ list: 'list' }), derived: derived(heavy) });
  const { derived: facts, failures } = compute(model, { list: Array.from({ length: 20_000 }, () => 1) });
  expect(Object.keys(facts).length).toBeGreaterThan(10);
  expect(failures.length).toBeGreaterThan(100);
  expect(failures.at(-1)?.problem?.code).toBe('steps_exhausted');
});

const model = modelOf({
  base: [
    { key: 'score', type: 'number', track_history: true },
    { key: 'tags', type: 'list', track_history: true },
    { key: 'note', type: 'string' },
  ],
});

describe('C100: history', () => {
  it('adds each tracked fact whose value has changed', () => {
    const entries = historyOfChange(model, { score: 1, note: 'a' }, { score: 2, note: 'b' }, NOW);
    expect([...entries]).toEqual([['score', { timestamp: NOW, value: 2 }]]);
  });

  it('adds null too, and does not repeat an equal value', () => {
    expect([...historyOfChange(model, { score: 1 }, { score: null }, NOW).values()]).toEqual([
      { timestamp: NOW, value: null },
    ]);
    expect(historyOfChange(model, { tags: [{ a: 1, b: 2 }] }, { tags: [{ b: 2, a: 1 }] }, NOW).size).toBe(0);
    expect(historyOfChange(model, {}, { score: null }, NOW).size).toBe(0);
  });

  it('begins with the values of a new instance', () => {
    expect([...historyOfChange(model, {}, { score: 1, tags: [] }, NOW).keys()]).toEqual(['score', 'tags']);
  });
});

it('is empty for a fact without entries', () => {
  expect(noHistory('score')).toEqual([]);
});
