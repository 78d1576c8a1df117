import { base, customersAndOrders, modelOf, relationship } from '../../test/fixtures';
import { rule } from '../../test/settling';
import { foreignKeysOf, linksOf, readersThrough, relationsInUse } from './links';

it('C110: a foreign key with a value links to the instance with that id', () => {
  const { world } = customersAndOrders();
  const both = {
    ...world,
    relationships: [
      ...world.relationships,
      relationship({ name: 'customer', type: 'belongs_to', fromContextId: 'orders', toContextId: 'customers' }),
    ],
  };
  expect(foreignKeysOf('orders', both)).toEqual(['customer_id']);
  expect(foreignKeysOf('customers', both)).toEqual([]);
  const keys = ['customer_id', 'number', 'nothing', 'empty', 'odd', 'object'];
  const facts = { customer_id: 'c-1', number: 7, nothing: null, empty: '', odd: 'a\0', object: {} };
  expect([...linksOf(keys, facts)]).toEqual([
    ['customer_id', 'c-1'],
    ['number', '7'],
  ]);
});

describe('C111: readers', () => {
  it('are found by the foreign key for has_many and has_one, and by the own id of the instance for belongs_to', () => {
    expect(readersThrough(relationship({ name: 'orders' }))).toEqual({ by: 'target', foreignKeyFact: 'customer_id' });
    expect(readersThrough(relationship({ name: 'order', type: 'has_one' })).by).toBe('target');
    expect(readersThrough(relationship({ name: 'customer', type: 'belongs_to' })).by).toBe('holder');
  });

  it('read a relationship through formulas or bound assets', () => {
    const { customers, world } = customersAndOrders();
    const parts = { slug: 'customers', base: base({ vip: 'boolean' }) };
    const without = modelOf(parts, world);
    expect(relationsInUse(without, []).size).toBe(0);
    expect(relationsInUse(without, [rule('r', ['$relations.orders.total'], ['vip'])])).toEqual(new Set(['orders']));
    const reading = modelOf({ ...parts, derived: customers.schema.derived ?? [] }, world);
    expect(relationsInUse(reading, [])).toEqual(new Set(['orders']));
  });
});
