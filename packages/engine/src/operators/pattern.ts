import { parsePattern, type Pattern } from '@decision/expressions';

type PatternReading =
  { readonly ok: true; readonly pattern: Pattern } | { readonly ok: false; readonly reason: string };

export type PatternReader = (source: string) => PatternReading;

/** Maximum weight of all different patterns of a table, including those of its formulas: about two seconds to compile, at 10 microseconds each. */
const MAX_TABLE_WEIGHT = 200_000;
/** Ends a sentence about a pattern or a formula. */
export const TOO_MANY_PATTERNS = `regular expressions of the rule are too many together: they unfold to more than ${MAX_TABLE_WEIGHT} instructions`;

/** Remaining allowance for the patterns of one table. */
export class PatternAllowance {
  private left = MAX_TABLE_WEIGHT;

  get isSpent(): boolean {
    return this.left < 0;
  }

  /** False if a pattern of this weight exceeds the allowance; then nothing more is allowed. */
  take(weight: number): boolean {
    if (this.left >= 0) this.left -= weight;
    return this.left >= 0;
  }
}

/** A reader that compiles each pattern once, within the allowance of a table; it lives until the table is compiled. */
export const createPatternReader = (allowance = new PatternAllowance()): PatternReader => {
  const known = new Map<string, PatternReading>();
  return (source) => {
    const earlier = known.get(source);
    if (earlier) return earlier;
    const reading = allowance.isSpent ? refused : readPattern(source);
    const allowed = !reading.ok || allowance.take(reading.pattern.weight) ? reading : refused;
    known.set(source, allowed);
    return allowed;
  };
};

const refused: PatternReading = { ok: false, reason: `the ${TOO_MANY_PATTERNS}` };

/** Returns why a pattern cannot be used, and names the construct. */
const readPattern: PatternReader = (source) => {
  const parsing = parsePattern(source);
  if (parsing.ok) return parsing;
  return {
    ok: false,
    reason: `${parsing.reason} (patterns run in linear time, without look-around and back-references)`,
  };
};
