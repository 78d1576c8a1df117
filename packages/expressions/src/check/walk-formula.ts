import { childrenOf, type FormulaNode } from '../syntax/nodes';

const NONE: ReadonlySet<string> = new Set();

/** Called for each node before those below it, with the variables of the lambdas around it. */
type VisitNode = (node: FormulaNode, variables: ReadonlySet<string>) => void;

/** Visits every node of one formula in the order in which they are written; what stands in quotes stays closed. */
export const walkFormula = (node: FormulaNode, visit: VisitNode, variables: ReadonlySet<string> = NONE): void => {
  visit(node, variables);
  const inside = node.kind === 'lambda' ? new Set([...variables, node.parameter]) : variables;
  for (const child of childrenOf(node)) walkFormula(child, visit, inside);
};
