import { FormulaFault } from '../formula-problem';
import { type Evaluate, type FormulaBudget, Run } from '../run/run';
import { formulaLimits, type FormulaNode } from '../syntax/nodes';
import { measureValue } from '../values/operands';

/** Compiled form of a node. */
export interface Code {
  readonly evaluate: Evaluate;
  /** Present where the value is known before the formula runs. */
  readonly constant?: { readonly value: unknown };
}

/** Meaning of names at one place of a formula. */
export interface NameScope {
  /** Variables of the lambdas around the place, and their slots. */
  readonly variables: ReadonlyMap<string, number>;
  /** Inside a selector in quotes: the slot of the element whose fields the names are. */
  readonly item: number | undefined;
  /** The next slot that is free. */
  readonly nextSlot: number;
}

export const outermostScope: NameScope = { variables: new Map(), item: undefined, nextSlot: 0 };

/** Constants are computed within this budget, all of one formula together; what exceeds it is computed when the formula runs. */
const FOLDING: FormulaBudget = { steps: 2_000, textLength: 2_000, listLength: 200, callDepth: 0 };

/** The largest constant that is kept: values of a list and units of its strings. */
const LARGEST_CONSTANT = 2_000;

export type CompileNode = (node: FormulaNode, scope: NameScope, compilation: Compilation) => Code;

/** State of the compilation of one formula. */
export class Compilation {
  /** Steps of the lambda, or of the formula, that is being compiled. */
  private cost = 0;
  private level = 0;
  private patterns = 0;
  private readonly folding = new Run({ lookup: () => undefined, now: 0, budget: FOLDING });
  depth = 0;
  slots = 0;
  patternWeight = 0;

  constructor(private readonly compileNode: CompileNode) {}

  compile(node: FormulaNode, scope: NameScope): Code {
    this.cost += 1;
    this.level += 1;
    this.depth = Math.max(this.depth, this.level);
    const code = this.compileNode(node, scope, this);
    this.level -= 1;
    return code;
  }

  /** Compiles what runs by itself, and answers its steps apart. */
  compileBody(node: FormulaNode, scope: NameScope): { readonly body: Evaluate; readonly cost: number } {
    const outside = this.cost;
    this.cost = 0;
    this.slots = Math.max(this.slots, scope.nextSlot);
    const { evaluate: body } = this.compile(node, scope);
    const { cost } = this;
    this.cost = outside;
    return { body, cost };
  }

  /** Computes a node now where all below it is constant and it does not fail. */
  fold(parts: readonly Code[], evaluate: Evaluate): Code {
    if (!parts.every((part) => part.constant !== undefined)) return { evaluate };
    try {
      const value = evaluate(this.folding);
      return measureValue(value, LARGEST_CONSTANT) <= LARGEST_CONSTANT ? constantCode(value) : { evaluate };
    } catch (error) {
      if (error instanceof FormulaFault) return { evaluate };
      throw error;
    }
  }

  /** Counts one more regular expression, the dearest thing to compile; false where it is one too many. */
  admitPattern(): boolean {
    this.patterns += 1;
    return this.patterns <= formulaLimits.patterns;
  }
}

/** A value known beforehand. It is shared by all runs, so lists are frozen. */
export const constantCode = (value: unknown): Code => {
  const constant = value ?? null;
  if (Array.isArray(constant)) freezeList(constant);
  return { evaluate: () => constant, constant: { value: constant } };
};

const freezeList = (list: readonly unknown[]): void => {
  Object.freeze(list);
  for (const item of list) if (Array.isArray(item)) freezeList(item);
};
