import {
  checkFormula,
  type CheckScope,
  compileFormula,
  type CompiledFormula,
  type FormulaProblem,
  parseFormula,
} from '@decision/expressions';

export type FormulaReading =
  | { readonly ok: true; readonly formula: CompiledFormula }
  | { readonly ok: false; readonly problems: readonly FormulaProblem[] };

/** Parses, checks and compiles a formula for the place where it stands. */
export const readFormula = (text: string, scope: CheckScope): FormulaReading => {
  const parsing = parseFormula(text);
  if (!parsing.ok) return { ok: false, problems: [parsing.problem] };
  const problems = checkFormula(parsing.formula, scope);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, formula: compileFormula(parsing.formula) };
};

/** Formulas that stand in many rows of a column are read once. */
export class FormulaReader {
  private readonly known = new Map<string, FormulaReading>();

  /** The scope is asked for with the first formula: most columns have none. */
  constructor(private readonly scope: () => CheckScope) {}

  read(text: string): FormulaReading {
    const earlier = this.known.get(text);
    if (earlier) return earlier;
    const reading = readFormula(text, this.scope());
    this.known.set(text, reading);
    return reading;
  }
}
