import fc from 'fast-check';
import { replaceText } from './replace-text';

const replace = (text: string, sought: string, replacement: string): { result: string; announced: number } => {
  let announced = -1;
  const result = replaceText(text, sought, replacement, (length) => {
    announced = length;
  });
  return { result, announced };
};

describe('replacing', () => {
  it('announces the exact length, and agrees with the platform', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '$') });
    fc.assert(
      fc.property(text, text, text, (whole, part, replacement) => {
        fc.pre(part !== '');
        const { result, announced } = replace(whole, part, replacement);
        expect(result).toBe(whole.split(part).join(replacement));
        expect(announced).toBe(result.length);
      }),
    );
  });

  it('finds long strings too', () => {
    const long = 'ab'.repeat(300);
    expect(replace(`x${long}y${long}`, long, '-').result).toBe('x-y-');
  });

  it('makes no string if the announcement throws', () => {
    const refuse = (): never => {
      throw new RangeError('too long');
    };
    expect(() => replaceText('aaa', 'a', 'b'.repeat(1_000_000), refuse)).toThrow('too long');
  });
});
