import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Run } from './run';
import { distinctValues } from './distinct';

const place = { position: 0, length: 0 };
const distinct = (list: readonly unknown[], steps = 1e9): readonly unknown[] => {
  const budget = { steps, textLength: 0, listLength: 0, callDepth: 0 };
  return distinctValues(list, new Run({ lookup: () => undefined, now: 0, budget }), place);
};

describe('distinct values', () => {
  it('are those that equal none before them', () => {
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', 'b') });
    fc.assert(
      fc.property(fc.array(small), (list) => {
        const values = JSON.parse(JSON.stringify([...list, ...list])) as unknown[];
        const expected = values.filter(
          (value, index) => !values.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, value)),
        );
        expect(distinct(values)).toEqual(expected);
      }),
    );
  });

  it('take linear time over objects that differ', () => {
    const orders = Array.from({ length: 20_000 }, (_, id) => ({ id, total: id % 7, tags: ['a', String(id)] }));
    expect(distinct([...orders, ...orders.map((order) => ({ ...order }))], 500_000)).toHaveLength(20_000);
  });

  it('end within the budget where objects differ only deep inside', () => {
    const alike = Array.from({ length: 20_000 }, (_, id) => ({ a: { b: { c: { id } } } }));
    expect(() => distinct(alike, 100_000)).toThrow('more than 100000 steps');
  });

  it('end within the budget where nothing is hashed', () => {
    const days = Array.from({ length: 20_000 }, (_, day) => new Date(day));
    expect(() => distinct(days, 100_000)).toThrow('more than 100000 steps');
  });

  it('do not count the keys of one wide object again and again', () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, index]));
    expect(
      distinct(
        Array.from({ length: 50_000 }, () => wide),
        100_000,
      ),
    ).toEqual([wide]);
    expect(() =>
      distinct(
        Array.from({ length: 50 }, (_, index) => [wide, index]),
        100_000,
      ),
    ).toThrow('steps');
  });
});
