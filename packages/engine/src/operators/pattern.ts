import { RE2JS, RE2JSException } from 're2js';

/** A regular expression whose time is linear in the text. */
export interface Pattern {
  /** Instructions of its program: the steps that one character of a text may cost. */
  readonly size: number;
  /** Whether it matches some part of the text; `^` and `$` tie it to the ends. */
  readonly isFoundIn: (text: string) => boolean;
}

export type PatternReading =
  { readonly ok: true; readonly pattern: Pattern } | { readonly ok: false; readonly reason: string };

export type PatternReader = (source: string) => PatternReading;

/** UTF-16 units of a pattern. */
const MAX_LENGTH = 1_000;
/** Instructions of its program. Repetitions such as `{1,500}` are written out in it. */
const MAX_SIZE = 1_000;

/** Instructions of all different patterns of a table, those of its formulas included: some 30 MB, and two seconds to compile. */
const MAX_TABLE_SIZE = 200_000;
/** Ends a sentence about a pattern or a formula. */
export const TOO_MANY_PATTERNS = `regular expressions of the rule unfold to more than ${MAX_TABLE_SIZE} instructions together`;

/** What the patterns of one table may still take. */
export class PatternAllowance {
  private left = MAX_TABLE_SIZE;

  get isSpent(): boolean {
    return this.left < 0;
  }

  /** False where a pattern of this size is too much; then nothing more is allowed. */
  take(size: number): boolean {
    if (this.left >= 0) this.left -= size;
    return this.left >= 0;
  }
}

/** Repetitions of a pattern as they are written, outside and, wrongly but harmlessly, inside of classes. */
const REPETITION = /\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}/g;
/** Beyond so many repetitions a pattern is refused unseen: unfolding them takes a tenth of a second and more. */
const MAX_REPETITIONS = 10 * MAX_SIZE;

const repetitionsIn = (source: string): number => {
  let sum = 0;
  for (const [, least = '', most = ''] of source.matchAll(REPETITION)) sum += Math.max(Number(least), Number(most));
  return sum;
};

/** Compiles a regular expression of RE2's syntax. Answers why one cannot be used, and names the construct. */
export const readPattern: PatternReader = (source) => {
  if (source.length > MAX_LENGTH) return { ok: false, reason: `it is longer than ${MAX_LENGTH} characters` };
  const repetitions = repetitionsIn(source);
  if (repetitions > MAX_REPETITIONS)
    return {
      ok: false,
      reason: `its repetitions unfold to ${repetitions} instructions or more; ${MAX_SIZE} are allowed`,
    };
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size > MAX_SIZE) {
      return { ok: false, reason: `its repetitions unfold to ${size} instructions; ${MAX_SIZE} are allowed` };
    }
    return { ok: true, pattern: { size, isFoundIn: (text) => compiled.test(text) } };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace('error parsing regexp: ', '');
    return { ok: false, reason: `${reason} (patterns run in linear time, without look-around and back-references)` };
  }
};

/** A reader that compiles each pattern once, within the allowance of a table; it lives as long as the table is being compiled. */
export const createPatternReader = (allowance = new PatternAllowance()): PatternReader => {
  const known = new Map<string, PatternReading>();
  return (source) => {
    const earlier = known.get(source);
    if (earlier) return earlier;
    const reading = allowance.isSpent ? refused : readPattern(source);
    const allowed = !reading.ok || allowance.take(reading.pattern.size) ? reading : refused;
    known.set(source, allowed);
    return allowed;
  };
};

const refused: PatternReading = { ok: false, reason: `the ${TOO_MANY_PATTERNS}` };
