import fc from 'fast-check';
import { canonicalJson, type Facts, faultOfFactName, hasValue, mergeFacts, quoted, sameValue, valueOf } from './facts';

describe('C2: names of facts', () => {
  it.each(['a', 'order total', 'größe', '数', 'constructor', 'toString', 'x'.repeat(200), 'a$', '😀'])(
    'may be %s',
    (name) => {
      expect(faultOfFactName(name)).toBeUndefined();
    },
  );

  it.each([
    ['', 'empty'],
    ['x'.repeat(201), 'longer than 200'],
    ['a.b', 'dot'],
    ['$a', 'begins with $'],
    ['__proto__', 'reserved'],
    ['a\u0000', 'control'],
    ['a\nb', 'control'],
    ['\ud83d', 'half of a character'],
  ])('may not be %j: %s', (name, reason) => {
    expect(faultOfFactName(name)).toContain(reason);
  });
});

it('shortens names in messages', () => {
  expect(quoted('x'.repeat(10_000)).length).toBeLessThan(80);
  expect(quoted('total')).toBe('"total"');
});

const names = fc.constantFrom('a', 'b', 'c', 'constructor', 'toString');
const facts: fc.Arbitrary<Facts> = fc.dictionary(names, fc.jsonValue({ maxDepth: 2 }));

it('C30: a merge replaces given values whole and keeps the rest', () => {
  const before = { a: { x: 1, y: 2 }, b: [1, 2] };
  expect(mergeFacts(before, { a: { x: 3 } })).toEqual({ a: { x: 3 }, b: [1, 2] });
  expect(before).toEqual({ a: { x: 1, y: 2 }, b: [1, 2] });
});

it('C31: merging twice is merging once', () => {
  fc.assert(
    fc.property(facts, facts, (before, given) => {
      const once = mergeFacts(before, given);
      expect(mergeFacts(once, given)).toEqual(once);
    }),
  );
});

it('C32: records without a common fact merge in any order; for a common fact the later one wins', () => {
  fc.assert(
    fc.property(facts, facts, facts, (before, first, second) => {
      const merge = (...given: Facts[]): Facts => given.reduce((all, each) => mergeFacts(all, each), before);
      const apart = Object.fromEntries(Object.entries(second).filter(([fact]) => !Object.hasOwn(first, fact)));
      expect(canonicalJson(merge(first, apart))).toBe(canonicalJson(merge(apart, first)));
      for (const fact of Object.keys(second))
        expect(valueOf(merge(first, second), fact)).toEqual(valueOf(second, fact));
    }),
  );
});

it('C35: names of prototype members are ordinary facts', () => {
  expect(valueOf({}, 'constructor')).toBeNull();
  expect(hasValue({}, 'toString')).toBe(false);
  const merged = mergeFacts({}, JSON.parse('{"__proto__": 1, "constructor": 2}') as Facts);
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  expect(Object.keys(merged)).toEqual(['__proto__', 'constructor']);
  expect(valueOf(merged, 'constructor')).toBe(2);
});

it('C33: equal values differ in the order of keys at most', () => {
  expect(sameValue(0, -0)).toBe(true);
  expect(sameValue(1, null)).toBe(false);
  expect(sameValue(null, null)).toBe(true);
  expect(sameValue({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true);
  expect(sameValue([1, 2], [2, 1])).toBe(false);
  expect(sameValue('1', 1)).toBe(false);
  expect(sameValue({}, [])).toBe(false);
  expect(sameValue(null, {})).toBe(false);
});
