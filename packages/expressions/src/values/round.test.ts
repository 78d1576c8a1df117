import fc from 'fast-check';
import { roundTo } from './round';

/** Reference implementation: rounding on the decimal digits. */
const roundDigits = (digits: string, places: number): number => {
  const [whole = '0', fraction = ''] = digits.split('.');
  const padded = fraction.padEnd(places + 1, '0');
  const kept = BigInt(`${whole}${padded.slice(0, places)}`) + (Number(padded[places]) >= 5 ? 1n : 0n);
  return Number(`${kept}e-${places}`);
};

describe('rounding', () => {
  it('rounds the decimal notation, halves away from zero', () => {
    const decimal = fc.tuple(fc.nat(1_000_000), fc.nat(99_999_999)).map(
      ([whole, fraction]) => `${whole}.${String(fraction).padStart(8, '0')}`, // prettier-ignore
    );
    fc.assert(
      fc.property(decimal, fc.nat(7), (text, places) => {
        const value = Number(text);
        fc.pre(String(value) === text.replace(/\.?0+$/, ''));
        expect(roundTo(value, places)).toBe(roundDigits(text, places));
        expect(roundTo(-value, places) + 0).toBe(0 - roundTo(value, places));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is right at every half of three digits', () => {
    for (let thousandths = 5; thousandths < 100_000; thousandths += 10) {
      expect(roundTo(thousandths / 1_000, 2)).toBe((thousandths + 5) / 10 / 100);
    }
  });

  it.each([
    [1234.5, -2, 1200],
    [1250, -2, 1300],
    [1249.999, -2, 1200],
    [0.5, 0, 1],
    [0.49999999999999994, 0, 0],
    [1e21, 2, 1e21],
    [1.5e300, 15, 1.5e300],
    [5e-324, 15, 0],
    [0, 5, 0],
    [4503599627370495.5, 0, 4503599627370496],
    [123456789012.345, 2, 123456789012.35],
    [1.7976931348623157e308, -6, 1.7976931348623157e308],
    [-1.7976931348623157e308, 15, -1.7976931348623157e308],
  ])('of %d to %d digits is %d', (value, digits, expected) => {
    expect(roundTo(value, digits)).toBe(expected);
  });

  it('answers a finite number for every finite one, no further away than half a step', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: -15, max: 15 }),
        (value, digits) => {
          const rounded = roundTo(value, digits);
          expect(Number.isFinite(rounded)).toBe(true);
          const tolerance = Math.abs(value) * Number.EPSILON * 2;
          expect(Math.abs(rounded - value)).toBeLessThanOrEqual(0.5 * 10 ** -digits * (1 + 1e-12) + tolerance);
        },
      ),
    );
  });
});
