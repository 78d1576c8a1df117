import { RE2JS, RE2JSException } from 're2js';
import { formulaLimits } from '../formula';

/** A regular expression that runs in time linear in the text. */
export interface Pattern {
  /** Instructions of its program: what one character costs at most. */
  readonly size: number;
  /** Whether some part of the text matches. */
  readonly test: (text: string) => boolean;
}

export type PatternParsing =
  { readonly ok: true; readonly pattern: Pattern } | { readonly ok: false; readonly reason: string };

/** Compiles a regular expression of RE2 syntax: no look-around and no back-references. */
export const parsePattern = (source: string): PatternParsing => {
  if (source.length > formulaLimits.patternLength) {
    return { ok: false, reason: `it has more than ${formulaLimits.patternLength} characters` };
  }
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size > formulaLimits.patternSize) {
      return {
        ok: false,
        reason: `its repetitions unfold to ${size} instructions; ${formulaLimits.patternSize} are allowed`,
      };
    }
    return { ok: true, pattern: { size, test: (text) => compiled.test(text) } };
  } catch (error) {
    if (error instanceof RE2JSException)
      return { ok: false, reason: error.message.replace('error parsing regexp: ', '') };
    throw error;
  }
};
