import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { areEqual as equal, areEqualBy } from './equality';

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe('equality', () => {
  it("agrees with the platform's for JSON values", () => {
    fc.assert(fc.property(json, json, (a, b) => equal(a, b) === isDeepStrictEqual(a, b)));
  });

  it('holds for a copy, with any order of keys', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, reversed(member)]),
      );
    };
    fc.assert(fc.property(json, (value) => equal(value, reversed(value))));
  });

  it('ignores prototypes', () => {
    expect(equal({}, { toString: null })).toBe(false);
    expect(equal({ a: 1 }, Object.create({ a: 1 }))).toBe(false);
    expect(equal(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}'))).toBe(true);
    expect(equal(JSON.parse('{"__proto__": 1}'), {})).toBe(false);
    expect(equal(JSON.parse('{"__proto__": {}}'), { a: {} })).toBe(false);
  });

  it('is identity for values that JSON cannot represent', () => {
    const day = new Date(0);
    expect(equal(day, day)).toBe(true);
    expect(equal(day, new Date(0))).toBe(false);
    expect(equal({ day }, { day: new Date(0) })).toBe(false);
  });

  it('works at any depth', () => {
    const nest = (depth: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
      return value;
    };
    expect(equal(nest(200_000), nest(200_000))).toBe(true);
    expect(equal(nest(200_000), nest(200_001))).toBe(false);
  });

  it('works for wide objects, frozen or not', () => {
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]));
    const frozen = Object.freeze({ ...wide });
    for (const other of [wide, frozen, frozen]) {
      expect(equal({ ...wide }, other)).toBe(true);
      expect(equal({ ...wide, k99: 0 }, other)).toBe(false);
      expect(equal({ ...wide, more: 0 }, other)).toBe(false);
      expect(equal({ k0: 0 }, other)).toBe(false);
    }
  });
});

describe('equality with a comparison of texts', () => {
  const isEqualText = (left: string, right: unknown): boolean => left.length === String(right).length;

  it('calls it for every text, and for no key', () => {
    expect(areEqualBy('a', 'b', { isEqualText })).toBe(true);
    expect(areEqualBy([{ a: 'a' }], [{ a: 'b' }], { isEqualText })).toBe(true);
    expect(areEqualBy([{ a: 'a' }], [{ b: 'a' }], { isEqualText })).toBe(false);
    expect(areEqualBy(['a'], ['ab'], { isEqualText })).toBe(false);
  });

  it('announces the number of parts before it compares them', () => {
    const told: (readonly [number, number])[] = [];
    const onParts = (parts: number, keys: number): void => void told.push([parts, keys]);
    areEqualBy([{ a: 1 }, 2], [{ b: 1, c: 2 }, 2], { isEqualText, onParts });
    expect(told).toEqual([
      [2, 0],
      [1, 2],
    ]);
  });
});
