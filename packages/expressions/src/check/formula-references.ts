import { functionNamed } from '../functions/catalogue';
import { type ArgumentReading } from '../functions/definition';
import { readLambdaArgument } from '../functions/parameters';
import { type CallNode, childrenOf, type Formula, type FormulaNode, type NameNode } from '../syntax/nodes';

/** Names that a formula mentions, each once, in the order of first mention. */
export interface FormulaReferences {
  /** Dotted names of fields; `a.b` may mean the key `a.b`, or the member `b` of `a`. Variables of lambdas are left out. */
  readonly fields: readonly string[];
  /** Names of function values that it calls, without the `$`. */
  readonly functions: readonly string[];
  /** Dotted names that begin with `$` and are not called: `$relations.orders`. */
  readonly references: readonly string[];
  /** Functions that it calls and that are not in the catalogue: the host must add them. */
  readonly hostFunctions: readonly string[];
}

/**
 * The quoted formula at an argument index of a call: a text at a position where the function takes a lambda. Undefined for every other
 * argument, where text is plain text.
 */
export const selectorIn = (call: CallNode, index: number): Formula | undefined => {
  const argument = call.arguments[index];
  if (argument === undefined || functionNamed(call.name)?.formOf(index, argument) !== 'lambda') return undefined;
  const given = readLambdaArgument(argument);
  return given?.kind === 'selector' && given.parsing.ok ? given.parsing.formula : undefined;
};

/** Collects the names that a formula depends on, including those inside quoted selectors. */
export const formulaReferences = (formula: Formula): FormulaReferences => {
  const names = new NameCollector();
  names.collect(formula, false);
  return {
    fields: [...names.fields],
    functions: [...names.functions],
    references: [...names.references],
    hostFunctions: [...names.hostFunctions],
  };
};

class NameCollector {
  readonly fields = new Set<string>();
  readonly functions = new Set<string>();
  readonly references = new Set<string>();
  readonly hostFunctions = new Set<string>();

  collect(formula: Formula, inSelector: boolean): void {
    walkFormula(formula.root, (node, variables) => {
      if (node.kind === 'name') this.addName(node, variables, inSelector);
      if (node.kind === 'value-call') this.functions.add(node.name);
      if (node.kind === 'call') this.addCall(node, inSelector);
    });
  }

  private addName({ parts }: NameNode, variables: ReadonlySet<string>, inSelector: boolean): void {
    const [first = ''] = parts;
    if (variables.has(first)) return;
    if (first.startsWith('$')) this.references.add(parts.join('.'));
    else if (!inSelector) this.fields.add(parts.join('.'));
  }

  private addCall(node: CallNode, inSelector: boolean): void {
    if (functionNamed(node.name) === undefined) this.hostFunctions.add(node.name);
    node.arguments.forEach((_argument, index) => {
      const selector = inSelector ? undefined : selectorIn(node, index);
      if (selector !== undefined) this.collect(selector, true);
    });
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Called for each node before its children, with the variables of the enclosing lambdas. */
type VisitNode = (node: FormulaNode, variables: ReadonlySet<string>) => void;

/** Visits every node of a formula in text order; quoted formulas are not entered. */
export const walkFormula = (node: FormulaNode, visit: VisitNode, variables: ReadonlySet<string> = NONE): void => {
  visit(node, variables);
  const inside = node.kind === 'lambda' ? new Set([...variables, node.parameter]) : variables;
  for (const child of childrenOf(node)) walkFormula(child, visit, inside);
};

/**
 * How much a call reads of its argument at an index, as the catalogue entry of its function declares it. Host functions read their
 * arguments whole.
 */
export const readingOfArgument = (call: CallNode, index: number): Exclude<ArgumentReading, 'selected'> => {
  const reading = functionNamed(call.name)?.readingOf(index) ?? 'whole';
  if (reading !== 'selected') return reading;
  return selectorIn(call, index + 1)?.root.kind === 'name' ? 'parts' : 'answered';
};
