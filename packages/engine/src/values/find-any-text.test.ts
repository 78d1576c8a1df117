import fc from 'fast-check';
import { searchForAny } from './find-any-text';

describe('a search for any of several parts', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\ud83d', '\ude00', '\u0000'), maxLength: 30 });
  const part = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\ud83d', '\ude00', '\u0000'), maxLength: 6 });

  it('finds what a search one after the other finds', () => {
    fc.assert(
      fc.property(text, fc.array(part, { maxLength: 60 }), (came, parts) => {
        expect(searchForAny(parts)(came)).toBe(parts.some((one) => came.includes(one)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds long parts among many at any position', () => {
    const parts = Array.from({ length: 500 }, (_, index) => `${'ab'.repeat(50)}${index}!`);
    const search = searchForAny(parts);
    for (const filling of ['', 'ab'.repeat(49), 'x'.repeat(1_000)]) {
      expect(search(`${filling}${parts[250] ?? ''}`)).toBe(true);
      expect(search(`${parts[499] ?? ''}${filling}`)).toBe(true);
      expect(search(`${filling}${'ab'.repeat(50)}250`)).toBe(false);
    }
  });

  it('finds nothing without parts, and the empty part everywhere', () => {
    expect(searchForAny([])('abc')).toBe(false);
    expect(searchForAny(['x', ''])('')).toBe(true);
  });
});
