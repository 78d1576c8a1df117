import fc from 'fast-check';
import { nextAbove, nextBelow } from './points';

const view = new DataView(new ArrayBuffer(8));

/** The next double by its bits as one number of 64 bits. */
const neighbour = (value: number, step: 1n | -1n): number => {
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? step : -step));
  return view.getFloat64(0);
};

const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value !== 0);
/** Numbers at whose neighbour the lower half of the bits wraps around. */
const atHalves = fc.tuple(fc.integer({ min: 1, max: 0x7fefffff }), fc.constantFrom(0, 1, 0xffffffff), fc.boolean()).map(([high, low, isNegative]) => {
  view.setUint32(0, high);
  view.setUint32(4, low);
  return isNegative ? -view.getFloat64(0) : view.getFloat64(0);
}); // prettier-ignore

it('neighbours of a number are those of its 64 bits', () => {
  fc.assert(
    fc.property(fc.oneof(finite, atHalves), (value) => {
      expect(nextAbove(value)).toBe(neighbour(value, 1n));
      expect(nextBelow(value)).toBe(neighbour(value, -1n));
    }),
    { numRuns: 2_000 },
  );
});

it.each([
  [0, Number.MIN_VALUE, -Number.MIN_VALUE],
  [-0, Number.MIN_VALUE, -Number.MIN_VALUE],
  [Number.MAX_VALUE, Infinity, 1.7976931348623155e308],
  [-Number.MAX_VALUE, -1.7976931348623155e308, -Infinity],
  [Infinity, Infinity, Number.MAX_VALUE],
  [-Infinity, -Number.MAX_VALUE, -Infinity],
  [NaN, NaN, NaN],
])('%d lies between its neighbours', (value, above, below) => {
  expect(nextAbove(value)).toBe(above);
  expect(nextBelow(value)).toBe(below);
});
