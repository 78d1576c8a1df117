import { formulaReferences } from '../check/formula-references';
import { compileFormula } from '../compile/compile-formula';
import { FormulaFault, type FormulaProblem, problemOf } from '../formula-problem';
import { isSelector } from '../functions/aggregate-functions';
import { functionNamed } from '../functions/catalogue';
import { type PieceMerging, type PieceReduction } from '../functions/definition';
import { CallSite, faultOfCount, readLambdaArgument } from '../functions/parameters';
import {
  type CompiledFormula,
  defaultFormulaBudget,
  type FormulaBudget,
  type FormulaOutcome,
  runFormula,
} from '../run/run';
import { type CallNode, type Formula, type FormulaNode, type NameNode } from '../syntax/nodes';

/** Steps, and UTF-16 units, per element of a piece, if that exceeds a formula's own budget. */
const STEPS_PER_ELEMENT = 200;
const UNITS_PER_ELEMENT = 10_000;

/**
 * The state of an aggregate whose list comes in pieces (docs/adr/0020-aggregates-in-pieces.md). It does not grow with the list. Each piece
 * has its own budget (F89), so a piece should have some thousand elements at most.
 */
export class Fold {
  private failure: FormulaProblem | undefined;
  private isCertain = false;

  constructor(
    private readonly compiled: CompiledFormula,
    private readonly reduction: PieceReduction,
    private readonly now: number,
  ) {}

  /** Whether further elements cannot change the result: the answer is certain, or an element was at fault. */
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

interface CallParts {
  readonly call: CallNode;
  readonly list: FormulaNode;
  /** A lambda, or a selector in quotes. */
  readonly selector: FormulaNode | undefined;
  /** Text of the formula that has the call. */
  readonly text: string;
}

/** Converts each piece of the list before it is added. */
const compilePiece = (merging: PieceMerging, { call, list, selector, text }: CallParts): CompiledFormula => {
  if (merging.of === 'answers') return compileFormula({ text, root: call });
  // A selector chooses the same values as `map` with it.
  return compileFormula({
    text,
    root: selector === undefined ? list : { ...call, name: 'map', arguments: [list, selector] },
  });
};

/** A call whose list may be given piece by piece: `sum($orders, 'total')`, `count(filter($orders, o => o.open))`. */
export interface FoldableCall {
  readonly call: CallNode;
  /** The reference that the call aggregates: it begins with `$`, and the call mentions it nowhere else. */
  readonly source: NameNode;
  /** `now`: epoch ms, the result of `now()`. */
  readonly begin: (now: number) => Fold;
}

/**
 * A call that can be computed from pieces of its list with the same answer: an aggregate of a reference, possibly through element-wise
 * functions, whose lambdas and selectors read only the element. Undefined for every other node.
 */
export const foldableCall = ({ text }: Formula, node: FormulaNode): FoldableCall | undefined => {
  if (node.kind !== 'call') return undefined;
  const definition = functionNamed(node.name);
  const merging = definition?.pieces;
  if (definition === undefined || merging === undefined) return undefined;
  const [list, selector] = node.arguments;
  if (faultOfCount(node.name, node.arguments.length, definition.count(node.arguments)) !== undefined) return undefined;
  if (list === undefined || (selector !== undefined && !(isSelector(selector) && readsElementOnly(selector))))
    return undefined;
  const source = sourceOf(list);
  if (source === undefined) return undefined;
  const compiled = compilePiece(merging, { call: node, list, selector, text });
  return { call: node, source, begin: (now) => new Fold(compiled, merging.begin(new CallSite(node)), now) };
};

/** The reference from which a list comes, possibly through element-wise functions. */
const sourceOf = (list: FormulaNode): NameNode | undefined => {
  if (list.kind === 'name') return list.parts[0]?.startsWith('$') === true ? list : undefined;
  const definition = list.kind === 'call' ? functionNamed(list.name) : undefined;
  if (list.kind !== 'call' || definition?.isElementwise !== true) return undefined;
  if (faultOfCount(list.name, list.arguments.length, definition.count(list.arguments)) !== undefined) return undefined;
  const [inner, selector] = list.arguments;
  const isPlain = selector === undefined || readsElementOnly(selector);
  return inner === undefined || !isPlain ? undefined : sourceOf(inner);
};

/** Whether a lambda or a quoted selector depends only on the element and the clock. */
const readsElementOnly = (node: FormulaNode): boolean => {
  const given = readLambdaArgument(node);
  if (given === undefined || (given.kind === 'selector' && !given.parsing.ok)) return false;
  const isLambda = given.kind === 'lambda';
  const formula = isLambda || !given.parsing.ok ? { text: '', root: node } : given.parsing.formula;
  const { fields, functions, references, hostFunctions } = formulaReferences(formula);
  const outside = [...functions, ...references, ...hostFunctions];
  return outside.length === 0 && (!isLambda || fields.length === 0);
};
