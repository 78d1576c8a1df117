import { type FormulaNode } from './syntax/nodes';

/** A formula that parsed. Frozen, and so is every node of it. */
export interface Formula {
  readonly text: string;
  readonly root: FormulaNode;
}

/** Bounds of what parses; larger formulas are refused with their position. */
export const formulaLimits = {
  /** UTF-16 units of a formula. */
  length: 10_000,
  /** Levels of nodes below one another; a chain `a + b + c` is one level an operator. */
  depth: 200,
  /** Nodes of a formula. */
  nodes: 4_000,
  /** Parts of a dotted name. */
  nameParts: 32,
  /** Regular expressions of a formula, each at most `patternLength` UTF-16 units and `patternSize` instructions. */
  patterns: 20,
  patternLength: 1_000,
  patternSize: 1_000,
} as const;
