import { FormulaFault } from '../formula-problem';
import { type Evaluate, type FormulaBudget, Run } from '../run/run';
import { formulaLimits, type FormulaNode } from '../syntax/nodes';
import { measureValue } from '../values/operands';

/** Compiled form of a node. */
export interface Code {
  readonly evaluate: Evaluate;
  /** Present if the value is known before the formula runs. */
  readonly constant?: { readonly value: unknown };
}

/** Scope of names at one point of a formula. */
export interface NameScope {
  /** Variables of the enclosing lambdas, and their slots. */
  readonly variables: ReadonlyMap<string, number>;
  /** Inside a quoted selector: the slot of the element whose fields the names refer to. */
  readonly item: number | undefined;
  /** The next free slot. */
  readonly nextSlot: number;
}

export const outermostScope: NameScope = { variables: new Map(), item: undefined, nextSlot: 0 };

/** Shared budget for the constants of one formula; constants beyond it are computed when the formula runs. */
const FOLDING: FormulaBudget = { steps: 2_000, textLength: 2_000, listLength: 200, callDepth: 0 };

/** The largest constant that is kept: number of values in a list plus UTF-16 units of its strings. */
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

  /** Compiles a part that is charged separately, and answers its steps. */
  compileBody(node: FormulaNode, scope: NameScope): { readonly body: Evaluate; readonly cost: number } {
    const outside = this.cost;
    this.cost = 0;
    this.slots = Math.max(this.slots, scope.nextSlot);
    const { evaluate: body } = this.compile(node, scope);
    const { cost } = this;
    this.cost = outside;
    return { body, cost };
  }

  /** Computes a node now if all its operands are constant and it does not fail. */
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

  /** Counts one more regular expression, the most expensive thing to compile; false if it is one too many. */
  admitPattern(): boolean {
    this.patterns += 1;
    return this.patterns <= formulaLimits.patterns;
  }
}

/** A precomputed value. All runs share it, so lists are frozen. */
export const constantCode = (value: unknown): Code => {
  const constant = value ?? null;
  if (Array.isArray(constant)) freezeList(constant);
  return { evaluate: () => constant, constant: { value: constant } };
};

const freezeList = (list: readonly unknown[]): void => {
  Object.freeze(list);
  for (const item of list) if (Array.isArray(item)) freezeList(item);
};
