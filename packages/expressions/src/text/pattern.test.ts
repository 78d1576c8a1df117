import { formulaLimits } from '../syntax/nodes';
import { parsePattern, PatternMemory, patternMemory, type PatternStates } from './pattern';

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

  it('report the cost of a character', () => {
    const parsing = parsePattern('a{500}');
    expect(parsing.ok && parsing.pattern.size).toBeGreaterThanOrEqual(500);
  });
});

const MAX = 1_000_000;

/** A pattern whose states take this many bytes. */
const statesOf = (size: number): PatternStates & { memBudget: number; cleared: number } => ({
  maxMem: MAX,
  memBudget: MAX - size,
  cleared: 0,
  clearCache() {
    this.cleared += 1;
    this.memBudget = MAX;
  },
});

describe('PatternMemory', () => {
  it('does not count small patterns', () => {
    const memory = new PatternMemory(100_000);
    memory.note(statesOf(16_384));
    expect(memory.used).toBe(0);
  });

  it('counts a pattern once, with its current size', () => {
    const memory = new PatternMemory(100_000);
    const states = statesOf(20_000);
    memory.note(states);
    memory.note(states);
    states.memBudget -= 5_000;
    memory.note(states);
    expect(memory.used).toBe(25_000);
  });

  it('clears the patterns that grew longest ago until a quarter is free', () => {
    const memory = new PatternMemory(100_000);
    const patterns = [20_000, 20_000, 20_000, 20_000].map(statesOf);
    for (const states of patterns) memory.note(states);
    const [first] = patterns;
    if (first) first.memBudget -= 1_000;
    for (const states of patterns) memory.note(states);
    expect(memory.used).toBe(81_000);
    memory.note(statesOf(30_000));
    expect(patterns.map(({ cleared }) => cleared)).toEqual([0, 1, 1, 0]);
    expect(memory.used).toBe(71_000);
  });

  it('counts a pattern again when it rebuilds its states', () => {
    const memory = new PatternMemory(100_000);
    const states = statesOf(90_000);
    memory.note(states);
    memory.note(statesOf(20_000));
    expect([states.cleared, memory.used]).toEqual([1, 20_000]);
    states.memBudget = MAX - 17_000;
    memory.note(states);
    expect(memory.used).toBe(37_000);
  });
});

it('hostile patterns together stay within the memory bound, and still answer', () => {
  const letters = 'abcdefghijklmnop';
  const text = (seed: number) =>
    Array.from({ length: 20_000 }, (_, span) => letters[(span * span * seed + (span >> 3)) % 16]).join('');
  const patterns = Array.from({ length: 30 }, (_, index) => parsePattern(`[a-h].{${index + 30}}[i-p][a-h]$`));
  for (const [index, parsing] of patterns.entries()) {
    if (!parsing.ok) throw new Error(parsing.reason);
    parsing.pattern.test(text(index + 1));
    expect(patternMemory.used).toBeLessThanOrEqual(33_554_432);
  }
  expect(patternMemory.used).toBeGreaterThan(1_000_000);
  for (const [index, parsing] of patterns.entries())
    expect(parsing.ok && parsing.pattern.test(`a${'b'.repeat(index + 30)}ia`)).toBe(true);
});
