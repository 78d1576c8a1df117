import { formulaLimits } from '../formula';
import { parsePattern } from './pattern';

const test = (source: string, text: string): boolean => {
  const parsing = parsePattern(source);
  if (!parsing.ok) throw new Error(parsing.reason);
  return parsing.pattern.test(text);
};

describe('regular expressions', () => {
  it('match some part of a text', () => {
    expect(test('b+', 'abbc')).toBe(true);
    expect(test('^b+$', 'abbc')).toBe(false);
    expect(test('', '')).toBe(true);
  });

  it.each([
    '(?=a)',
    '(?!a)',
    '(?<=a)',
    '(?<!a)',
    '(a)\\1',
    '(?P=name)',
    '(',
    '[a',
    'a**',
    '\\',
    '*',
    'a{2,1}',
    '(?>a)',
    'a++',
  ])('refuse %s with a reason', (source) => {
    const parsing = parsePattern(source);
    expect(parsing).toMatchObject({ ok: false, reason: expect.stringMatching(/^[a-z].*$/) });
  });

  it('say which construct is not supported', () => {
    expect(parsePattern('ab(?=c)')).toEqual({ ok: false, reason: 'invalid or unsupported Perl syntax: `(?=`' });
  });

  it('are bounded in length and size', () => {
    expect(parsePattern('a'.repeat(formulaLimits.patternLength + 1))).toMatchObject({ ok: false });
    expect(parsePattern('(a{1,100}){1,100}')).toMatchObject({ ok: false });
    expect(parsePattern('a{900}')).toMatchObject({ ok: true, pattern: { size: expect.any(Number) } });
  });

  it('know what a character costs', () => {
    const parsing = parsePattern('a{500}');
    expect(parsing.ok && parsing.pattern.size).toBeGreaterThanOrEqual(500);
  });
});
