import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Run } from './run';
import { areEqual, includesValue } from './equal';

const place = { position: 0, length: 0 };
const newRun = (steps = 1e9): Run =>
  new Run({ lookup: () => undefined, now: 0, budget: { steps, textLength: 0, listLength: 0, callDepth: 0 } });
const equal = (left: unknown, right: unknown): boolean => areEqual(left, right, newRun(), place);

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe('equality', () => {
  it('is that of the platform for JSON values', () => {
    fc.assert(fc.property(json, json, (a, b) => equal(a, b) === isDeepStrictEqual(a, b)));
  });

  it('pays for what it looks at, and for nothing of two different lengths', () => {
    const list = Array.from({ length: 1_000 }, (_, index) => index);
    expect(() => areEqual(list, [...list], newRun(100), place)).toThrow('more than 100 steps');
    expect(areEqual(list, list.slice(1), newRun(0), place)).toBe(false);
    expect(() => areEqual('a'.repeat(1e6), 'b'.repeat(1e6), newRun(100), place)).toThrow('more than 100 steps');
    expect(areEqual('a'.repeat(1e6), 'b', newRun(0), place)).toBe(false);
  });
});

describe('membership', () => {
  it('is equality with some element', () => {
    fc.assert(
      fc.property(fc.array(json), json, (list, sought) => {
        expect(includesValue(list, sought, newRun(), place)).toBe(
          list.some((value) => isDeepStrictEqual(value, sought)),
        );
      }),
    );
  });

  it('pays for long strings that look alike', () => {
    const almost = 'a'.repeat(10_000);
    const list = Array.from({ length: 1_000 }, () => `${almost}b`);
    expect(() => includesValue(list, `${almost}c`, newRun(1_000), place)).toThrow('more than 1000 steps');
  });
});
