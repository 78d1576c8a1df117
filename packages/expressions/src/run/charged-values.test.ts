import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { areEqual, distinctValues, includesValue, memberOf } from './charged-values';
import { Run } from './run';

const span = { position: 0, length: 0 };
const newRun = (steps = 1e9): Run =>
  new Run({ lookup: () => undefined, now: 0, budget: { steps, textLength: 0, listLength: 0, callDepth: 0 } });
const equal = (left: unknown, right: unknown): boolean => areEqual(left, right, newRun(), span);

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe('equality', () => {
  it("agrees with the platform's for JSON values", () => {
    fc.assert(fc.property(json, json, (a, b) => equal(a, b) === isDeepStrictEqual(a, b)));
  });

  it('is charged for what it compares, and costs nothing for different lengths', () => {
    const list = Array.from({ length: 1_000 }, (_, index) => index);
    expect(() => areEqual(list, [...list], newRun(100), span)).toThrow('more than 100 steps');
    expect(areEqual(list, list.slice(1), newRun(0), span)).toBe(false);
    expect(() => areEqual('a'.repeat(1e6), 'b'.repeat(1e6), newRun(100), span)).toThrow('more than 100 steps');
    expect(areEqual('a'.repeat(1e6), 'b', newRun(0), span)).toBe(false);
  });
});

describe('membership', () => {
  it('is equality with some element', () => {
    fc.assert(
      fc.property(fc.array(json), json, (list, sought) => {
        expect(includesValue(list, sought, newRun(), span)).toBe(
          list.some((value) => isDeepStrictEqual(value, sought)),
        );
      }),
    );
  });

  it('is charged for long similar strings', () => {
    const almost = 'a'.repeat(10_000);
    const list = Array.from({ length: 1_000 }, () => `${almost}b`);
    expect(() => includesValue(list, `${almost}c`, newRun(1_000), span)).toThrow('more than 1000 steps');
  });
});

const distinct = (list: readonly unknown[], steps = 1e9): readonly unknown[] => {
  const budget = { steps, textLength: 0, listLength: 0, callDepth: 0 };
  return distinctValues(list, new Run({ lookup: () => undefined, now: 0, budget }), span);
};

describe('distinct values', () => {
  it('are those that equal no earlier one', () => {
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

  it('stay within the budget if objects differ only deep inside', () => {
    const alike = Array.from({ length: 20_000 }, (_, id) => ({ a: { b: { c: { id } } } }));
    expect(() => distinct(alike, 100_000)).toThrow('more than 100000 steps');
  });

  it('stay within the budget if nothing is hashed', () => {
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

class Account {
  readonly balance = 5;
}

describe('members', () => {
  it('are own keys of plain objects', () => {
    expect(memberOf({ a: 1 }, 'a')).toBe(1);
    expect(memberOf(Object.assign(Object.create(null), { a: 1 }), 'a')).toBe(1);
    expect(memberOf({ a: undefined }, 'a')).toBeNull();
    expect(memberOf(Object.create({ a: 1 }), 'a')).toBeNull();
  });

  it('are null for every other kind of value', () => {
    const others = [null, undefined, 5, 'a', true, [1], new Account(), new Map([['a', 1]]), () => 1, Symbol('a'), 5n];
    for (const key of ['a', 'balance', 'size', 'name', '0', 'constructor', '__proto__', 'prototype', 'toString']) {
      for (const value of others) expect(memberOf(value, key)).toBeNull();
    }
  });

  it('are null if only the prototype has them', () => {
    for (const key of Object.getOwnPropertyNames(Object.prototype)) expect(memberOf({}, key)).toBeNull();
    for (const key of Object.getOwnPropertyNames(Array.prototype)) {
      expect(memberOf([1, 2], key)).toBe(key === 'length' ? 2 : null);
    }
    for (const key of Object.getOwnPropertyNames(String.prototype)) {
      expect(memberOf('ab', key)).toBe(key === 'length' ? 2 : null);
    }
  });
});
