import {
  checkFormula,
  type CheckScope,
  compileFormula,
  type CompiledFormula,
  type FormulaProblem,
  parseFormula,
} from '@decision/expressions';
import { type PatternAllowance, TOO_MANY_PATTERNS } from './operators/pattern';

type FormulaReading =
  | { readonly ok: true; readonly formula: CompiledFormula }
  | { readonly ok: false; readonly problems: readonly FormulaProblem[] };

/** Parses, checks and compiles a formula for the place where it stands. */
export const readFormula = (text: string, scope: CheckScope, patterns: PatternAllowance): FormulaReading => {
  if (patterns.isSpent) return { ok: false, problems: [tooManyPatterns(text)] };
  const parsing = parseFormula(text);
  if (!parsing.ok) return { ok: false, problems: [parsing.problem] };
  const problems = checkFormula(parsing.formula, scope);
  if (problems.length > 0) return { ok: false, problems };
  const formula = compileFormula(parsing.formula);
  return patterns.take(formula.patternWeight)
    ? { ok: true, formula }
    : { ok: false, problems: [tooManyPatterns(text)] };
};

/** A problem of the whole formula. */
const tooManyPatterns = (text: string): FormulaProblem => {
  const [line = ''] = text.split('\n', 1);
  const caret = `${line}\n${'^'.repeat(Math.max(1, line.length))}`;
  const message = `the ${TOO_MANY_PATTERNS}`;
  return { code: 'formula_too_large', message, position: 0, length: line.length, line: 1, column: 1, caret };
};

/** Formulas that stand in many rows of a column are read once. */
export class FormulaReader {
  private readonly known = new Map<string, FormulaReading>();

  /** The scope is asked for with the first formula: most columns have none. */
  constructor(
    private readonly scope: () => CheckScope,
    private readonly patterns: PatternAllowance,
  ) {}

  read(text: string): FormulaReading {
    const earlier = this.known.get(text);
    if (earlier) return earlier;
    const reading = readFormula(text, this.scope(), this.patterns);
    this.known.set(text, reading);
    return reading;
  }
}
