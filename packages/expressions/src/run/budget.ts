/** How much one run may take; what exceeds it ends with a problem of its own. */
export interface FormulaBudget {
  /**
   * A node costs one step when its formula, lambda or function value begins; 8 list elements or 64 UTF-16 units that a function
   * looks at cost one more. Default 100,000.
   */
  readonly steps: number;
  /** UTF-16 units of all strings that one run makes, and of all strings in a list that it answers. Default 1,000,000. */
  readonly textLength: number;
  /** Elements of the longest list that it may make. Default 100,000. */
  readonly listLength: number;
  /** Function values that may be under way within one another. Default 64. */
  readonly callDepth: number;
}

export const defaultFormulaBudget: FormulaBudget = Object.freeze({
  steps: 100_000,
  textLength: 1_000_000,
  listLength: 100_000,
  callDepth: 64,
});

/** Bounds of all runs of one evaluation together. */
interface FormulaAllowanceSize {
  readonly steps: number;
  readonly textLength: number;
}

/** Shared by runs, which take from it what they used; a run that finds too little left ends as one that exceeds its own budget. */
export class FormulaAllowance {
  steps: number;
  textLength: number;

  constructor(readonly size: FormulaAllowanceSize) {
    this.steps = size.steps;
    this.textLength = size.textLength;
  }
}
