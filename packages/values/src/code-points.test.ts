import fc from 'fast-check';
import { lengthOfText, sliceText } from './code-points';

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
