import fc from 'fast-check';
import { finderOf, lengthOfText, sliceText } from './text';

const position = (text: string, sought: string): number => finderOf(sought)(text, 0);

describe('finding a string', () => {
  it.each([
    ['abc', 'c', 2],
    ['abc', '', 0],
    ['abc', 'abcd', -1],
    ['', 'a', -1],
  ])('in %j: %j at %d', (text, sought, expected) => {
    expect(position(text, sought)).toBe(expected);
  });

  const long = 'ab'.repeat(200);

  it.each([
    ['at the start', `${long}x`, 0],
    ['in the middle', `a${long}x`, 1],
    ['after a false start', `${'ab'.repeat(199)}a${long}`, 399],
    ['nowhere', 'ab'.repeat(199), -1],
    ['at the very end', `${'b'.repeat(7)}${long}`, 7],
  ])('beyond the length of the platform search: %s', (_name, text, expected) => {
    expect(position(text, long)).toBe(expected);
  });

  it('goes on from a position', () => {
    const find = finderOf(long);
    const text = `${long}-${long}`;
    expect(find(text, 1)).toBe(long.length + 1);
    expect(find(text, long.length + 2)).toBe(-1);
  });

  it('agrees with the platform on strings of few characters', () => {
    const fewLetters = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength });
    fc.assert(
      fc.property(fewLetters(1, 3), fewLetters(0, 4), fewLetters(0, 300), (repeated, tail, before) => {
        const sought = `${repeated.repeat(Math.ceil(251 / repeated.length))}${tail}`;
        const text = `${before}${repeated.repeat(150)}${tail}${sought}${before}`;
        expect(position(text, sought)).toBe(text.indexOf(sought));
        expect(position(before, sought)).toBe(before.indexOf(sought));
      }),
    );
  });
});

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('😀', '\ud83d', '\ude00', 'é', 'a'), fc.string({ maxLength: 1 })),
});

describe('code points', () => {
  it('count a pair of surrogates as one, and a lone one as one', () => {
    expect(lengthOfText('a😀b')).toBe(3);
    expect(lengthOfText('\ude00\ud83d')).toBe(2);
    expect(lengthOfText('\ud83d')).toBe(1);
  });

  it('are those of the platform', () => {
    fc.assert(fc.property(anyText, (text) => lengthOfText(text) === Array.from(text).length));
  });

  it('are cut where the platform cuts them', () => {
    fc.assert(
      fc.property(anyText, fc.nat(20), fc.nat(20), (text, start, length) => {
        const characters = Array.from(text);
        expect(sliceText(text, start, start + length)).toBe(characters.slice(start, start + length).join(''));
      }),
    );
  });
});
