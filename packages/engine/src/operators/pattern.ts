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

/** Compiles a regular expression of RE2's syntax. Answers why one cannot be used, and names the construct. */
export const readPattern: PatternReader = (source) => {
  if (source.length > MAX_LENGTH) return { ok: false, reason: `it is longer than ${MAX_LENGTH} characters` };
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

/** A reader that compiles each pattern once; it lives as long as the table is being compiled. */
export const createPatternReader = (): PatternReader => {
  const known = new Map<string, PatternReading>();
  return (source) => {
    const earlier = known.get(source);
    if (earlier) return earlier;
    const reading = readPattern(source);
    known.set(source, reading);
    return reading;
  };
};
