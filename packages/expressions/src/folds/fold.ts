import { FormulaFault, type FormulaProblem, problemOf } from '../formula-problem';
import { defaultFormulaBudget, type FormulaBudget } from '../run/budget';
import { type CompiledFormula } from '../run/run';
import { type FormulaOutcome, runFormula } from '../run/run-formula';
import { type PieceReduction } from './piece-reductions';

/** Steps, and UTF-16 units, for each element of a piece, where that is more than a formula's own budget. */
const STEPS_PER_ELEMENT = 200;
const UNITS_PER_ELEMENT = 10_000;

/**
 * An aggregate on its way over a list that comes in pieces; what it holds does not grow with them. Each piece has a budget of its own (F89), so
 * pieces should be of some thousand elements at most.
 */
export class Fold {
  private failure: FormulaProblem | undefined;
  private isCertain = false;

  constructor(
    private readonly compiled: CompiledFormula,
    private readonly reduction: PieceReduction,
    private readonly now: number,
  ) {}

  /** Whether further elements change nothing: the answer is certain, or an element was at fault. */
  get isOver(): boolean {
    return this.isCertain || this.failure !== undefined;
  }

  /** Takes the next elements of the list. */
  add(items: readonly unknown[]): void {
    if (this.isOver) return;
    const made = runFormula(this.compiled, {
      now: this.now,
      lookup: () => items,
      budget: budgetFor(items.length),
    });
    if (!made.ok) this.failure = made.problem;
    else this.attempt(() => (this.isCertain = this.reduction.addPiece(made.value)));
  }

  /** Answer of the aggregate for all elements so far. */
  outcome(): FormulaOutcome {
    const value = this.attempt(() => this.reduction.result());
    return this.failure === undefined ? { ok: true, value } : { ok: false, problem: this.failure };
  }

  private attempt<Value>(work: () => Value): Value | undefined {
    if (this.failure !== undefined) return undefined;
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FormulaFault)) throw error;
      this.failure = problemOf(this.compiled.formula.text, error);
      return undefined;
    }
  }
}

const budgetFor = (elements: number): FormulaBudget => ({
  ...defaultFormulaBudget,
  steps: Math.max(defaultFormulaBudget.steps, elements * STEPS_PER_ELEMENT),
  textLength: Math.max(defaultFormulaBudget.textLength, elements * UNITS_PER_ELEMENT),
});
