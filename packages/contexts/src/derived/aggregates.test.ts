import { contextLimits } from '@decision/contracts';
import {
  base,
  customersAndOrders,
  derived,
  modelOf,
  noCollections,
  NOW,
  relationship,
  world,
} from '../../test/fixtures';
import { type BoundAsset } from '../assets/bound-asset';
import { waitingOn } from '../assets/readiness';
import { type ContextModel } from '../definitions/context-model';
import { type Facts } from '../facts/facts';
import { settle } from '../rounds/settle';
import { type Aggregates, aggregatesOver, RelationFolds } from './aggregates';
import { deriveFacts } from './derive-facts';

const { world: both, orders } = customersAndOrders();
const FORMULAS = {
  spent: "sum($orders, 'total')",
  mean: 'avg($relations.orders, o => o.total)',
  most: "max($orders, 'total')",
  open: "count(filter($orders, o => o.state == 'open'))",
  any_open: "any($orders, o => o.state == 'open')",
  share: "count($orders) == 0 ? null : round(sum($orders, 'total') / count($orders), 2) + rate",
  twice: "sum($orders, 'total') + sum($orders, 'total')",
  guarded: "count($orders) > 3 ? sum($orders, 'state') : 0",
  mixed: "sum($orders, 'total') - first($orders, 'total')",
  nested: "sum(map([1, 2], x => x * sum($orders, 'total')))",
};
const customersWith = (formulas: Readonly<Record<string, string>>): ContextModel =>
  modelOf({ slug: 'customers', base: base({ rate: 'number' }), derived: derived(formulas) }, both);

const model = customersWith(FORMULAS);

const aggregatesOf = (of: ContextModel, items: readonly Facts[], piece = 3): Aggregates => {
  const folds = new RelationFolds(aggregatesOver(of, 'orders'), NOW);
  for (let from = 0; from < items.length; from += piece) folds.add(items.slice(from, from + piece));
  return { orders: folds.result() };
};

it('C45: derived facts are the same with aggregates in pieces as with the whole list', () => {
  let state = 3;
  const random = (most: number): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) % most;
  for (let run = 0; run < 500; run += 1) {
    const odd = run % 5 === 0 ? [null, 'text', 2] : [null, 0.1, 2];
    const items = Array.from({ length: random(12) }, (): Facts => ({
      ...(random(10) < 8 ? { total: random(10) < 8 ? random(1_000) / 7 : odd[random(3)] } : {}),
      state: ['open', 'closed'][random(2)],
    }));
    const facts = { id: 'c', rate: 2 };
    const whole = deriveFacts(model, facts, { now: NOW, related: { orders: items } });
    const folded = deriveFacts(model, facts, {
      now: NOW,
      related: { orders: items },
      aggregates: aggregatesOf(model, items),
    });
    expect(folded.derived).toEqual(whole.derived);
    expect(folded.failures.map(({ fact, error }) => [fact, error])).toEqual(
      whole.failures.map(({ fact, error }) => [fact, error]),
    );
  }
});

it('C45: each aggregate is computed once, and reads only the facts that it names', () => {
  const found = aggregatesOver(model, 'orders');
  expect(new Set(found.map(({ key }) => key)).size).toBe(found.length);
  expect(found.find(({ key }) => key === "$=sum($orders, 'total')")?.facts).toEqual(new Set(['total']));
  expect([...(model.derived.get('spent')?.rest.reads.relations ?? [])]).toEqual([]);
  expect([...(model.derived.get('mixed')?.rest.reads.relations ?? [])]).toEqual(['orders']);
  expect([...(model.derived.get('spent')?.reads.relations ?? [])]).toEqual(['orders']);
});

it('C45: a fault of an aggregate counts only if the aggregate is evaluated, and keeps its position', () => {
  const items = [{ state: 'open' }, { state: 'open' }];
  const compute = (some: readonly Facts[]) =>
    deriveFacts(
      customersWith({ guarded: FORMULAS.guarded }),
      { id: 'c' },
      { now: NOW, related: {}, aggregates: aggregatesOf(model, some) },
    );
  expect(compute(items)).toMatchObject({ derived: { guarded: 0 }, failures: [] });
  expect(compute([...items, ...items]).failures).toMatchObject([
    { fact: 'guarded', problem: { code: 'wrong_type', position: FORMULAS.guarded.indexOf('sum') } },
  ]);
});

it('C45: aggregates of other relationships, and those that read whole instances, stay in the formula', () => {
  const related = world(
    [...both.contexts.values()],
    [relationship({ name: 'orders' }), relationship({ name: 'latest', type: 'has_one' })],
  );
  const other = modelOf(
    { slug: 'customers', derived: derived({ a: "sum($latest, 'total')", b: 'count($orders, o => o == 1)' }) },
    related,
  );
  expect([...other.derived.values()].flatMap(({ aggregates }) => aggregates)).toEqual([]);
  expect(orders.slug).toBe('orders');
});

it('C46: a list of more than 10,000 instances is read like any other', () => {
  const items = Array.from({ length: 12_000 }, (_, total) => ({ total }));
  const result = deriveFacts(
    customersWith({ last: "last($orders, 'total')" }),
    { id: 'c' },
    {
      now: NOW,
      related: { orders: items },
      aggregates: { orders: { instances: items.length, answers: {} } },
    },
  );
  expect(result).toMatchObject({ derived: { last: 11_999 }, failures: [] });
});

describe('C46: a relationship with more bytes than may be read as a list', () => {
  const aggregates: Aggregates = {
    orders: {
      instances: 3,
      listBytes: contextLimits.relatedBytes + 1,
      answers: { "$=sum($orders, 'total')": { value: 12 } },
    },
  };
  const sources = { now: NOW, related: {}, aggregates };
  const TOO_LONG = 'orders takes 16,777,217 bytes or more as a list, and at most 16,777,216 are read';

  it('answers its aggregates, and fails the formulas that read the list', () => {
    const { spent, mixed } = FORMULAS;
    const result = deriveFacts(customersWith({ spent, mixed }), { id: 'c' }, sources);
    expect(result.derived).toEqual({ spent: 12 });
    expect(result.failures).toMatchObject([{ fact: 'mixed', error: expect.stringContaining(TOO_LONG) as unknown }]);
  });

  it('fails the assets that read it', async () => {
    const asset: BoundAsset = {
      ...{ type: 'rule', slug: 'r', effectiveVersion: '1', outputs: [] },
      inputs: [{ key: '$relations.orders', hasDefault: false }],
    };
    const settled = await settle(
      { model, assets: [asset], facts: { id: 'c' }, executions: {}, sources },
      {
        execute: () => Promise.resolve({ status: 'success', outputs: {} }),
        hash: (text) => text,
        isOver: () => false,
        isFull: () => false,
        pause: () => Promise.resolve(),
        onFault: () => undefined,
        collections: noCollections,
      },
    );
    expect(settled.runs).toMatchObject([
      {
        status: 'evaluation_error',
        error: expect.stringContaining(TOO_LONG) as unknown,
      },
    ]);
  });
});

it('C55: a relation of which only aggregates were read has instances if they counted some', () => {
  const asset: BoundAsset = {
    ...{ type: 'rule', slug: 'r', effectiveVersion: '1', outputs: [] },
    inputs: [{ key: 'most', hasDefault: false }],
  };
  const waits = (instances: number) =>
    waitingOn(model, asset, {
      ...{ instanceId: 'c', state: {}, related: {}, slugOfRelation: () => 'orders' },
      aggregates: { orders: { instances, answers: {} } },
    });
  expect(waits(0)).toMatchObject([{ relation: 'orders' }]);
  expect(waits(2)).toMatchObject([{ instance: 'c', fields: ['most'] }]);
});
