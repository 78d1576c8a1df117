import { type FormulaProblem, type FormulaProblemCode, problemAt } from '../formula-problem';
import { formulaFunctions, functionNamed } from '../functions/catalogue';
import {
  type ArgumentCount,
  argumentMessages,
  faultOfCount,
  readLambdaArgument,
  readPatternArgument,
} from '../functions/parameters';
import {
  type CallNode,
  type Formula,
  formulaLimits,
  type FormulaNode,
  type NameNode,
  type Span,
  type ValueCallNode,
} from '../syntax/nodes';
import { printNode } from '../syntax/printer';
import { walkFormula } from './formula-references';
import { nearName } from './near-name';

/** Names that a formula may use. A kind that is left out is not checked, except host functions. */
export interface CheckScope {
  /** Whole keys of fields; dotted ones may be reached through a prefix. */
  readonly fields?: ReadonlySet<string>;
  /** Function values by name, without the `$`. */
  readonly functions?: ReadonlyMap<string, { readonly parameters: number }>;
  /** Dotted names that begin with `$` and are not called. */
  readonly references?: ReadonlySet<string>;
  /** Functions that the host adds; without this there are none. */
  readonly hostFunctions?: ReadonlyMap<string, ArgumentCount>;
}

/** Maximum number of problems listed for one formula. */
const MOST_PROBLEMS = 100;

/**
 * All faults of a formula that can be found before it runs, by position, at most 100: unknown fields and functions (with the name that is
 * probably meant), wrong numbers of arguments, lambdas out of place, selectors in quotes that do not parse, and regular expressions that
 * are not supported.
 */
export const checkFormula = (formula: Formula, scope: CheckScope): readonly FormulaProblem[] => {
  return new Checker(formula, scope, false).check().sort((a, b) => a.position - b.position).slice(0, MOST_PROBLEMS); // prettier-ignore
};

class Checker {
  private readonly problems: FormulaProblem[] = [];
  /** Lambdas at a position where one is expected. */
  private readonly welcome = new Set<FormulaNode>();
  private patterns = 0;

  constructor(
    private readonly formula: Formula,
    private readonly scope: CheckScope,
    private readonly inSelector: boolean,
  ) {}

  check(): FormulaProblem[] {
    walkFormula(this.formula.root, (node, variables) => {
      if (this.problems.length >= MOST_PROBLEMS) return;
      if (node.kind === 'name') this.checkName(node, variables);
      if (node.kind === 'call') this.checkCall(node);
      if (node.kind === 'value-call') this.checkFunctionCall(node);
      if (node.kind === 'lambda' && !this.welcome.has(node)) {
        this.report('lambda_misplaced', argumentMessages.lambdaMisplaced, node);
      }
    });
    return this.problems;
  }

  private checkName(node: NameNode, variables: ReadonlySet<string>): void {
    const [first = ''] = node.parts;
    if (variables.has(first)) return;
    const known = first.startsWith('$') ? this.scope.references : this.scope.fields;
    if (known === undefined || isReachable(node.parts, known)) return;
    const suggestion = suggest(node.parts.join('.'), [...variables, ...known], (name) =>
      printNode({ ...node, parts: name.split('.') }),
    );
    this.report('unknown_field', `there is no field ${printNode(node)}${suggestion}`, node);
  }

  private checkCall(node: CallNode): void {
    const { name } = node;
    const definition = functionNamed(name);
    const count = definition?.count(node.arguments) ?? this.scope.hostFunctions?.get(name);
    if (count === undefined) {
      const names = [...formulaFunctions.map((entry) => entry.name), ...(this.scope.hostFunctions?.keys() ?? [])];
      return this.report('unknown_function', `there is no function ${name}${suggest(name, names)}`, nameOf(node));
    }
    this.checkCount(name, node, count);
    node.arguments.forEach((argument, index) => {
      const form = definition?.formOf(index, argument);
      if (form === 'lambda') this.checkLambda(argument, node);
      if (form === 'pattern') this.checkPattern(argument, node);
    });
  }

  private checkFunctionCall(node: ValueCallNode): void {
    const { functions } = this.scope;
    if (functions === undefined) return;
    const called = functions.get(node.name);
    if (called === undefined) {
      const suggestion = suggest(node.name, functions.keys(), (name) => `$${name}`);
      return this.report('unknown_function', `no function value is named ${node.name}${suggestion}`, nameOf(node));
    }
    this.checkCount(`$${node.name}`, node, { minimum: called.parameters, maximum: called.parameters });
  }

  private checkCount(name: string, node: CallNode | ValueCallNode, count: ArgumentCount): void {
    const fault = faultOfCount(name, node.arguments.length, count);
    if (fault !== undefined) this.report('wrong_argument_count', fault, node);
  }

  private checkLambda(argument: FormulaNode, call: CallNode): void {
    const given = readLambdaArgument(argument);
    if (given === undefined) return this.report('lambda_expected', argumentMessages.lambdaExpected(call), argument);
    if (given.kind === 'lambda') return void this.welcome.add(argument);
    const { parsing } = given;
    if (this.inSelector) return this.report('invalid_selector', argumentMessages.selectorInSelector, argument);
    if (!parsing.ok) {
      const message = argumentMessages.invalidSelector(parsing.problem.message);
      return this.report('invalid_selector', message, argument, parsing.problem);
    }
    for (const problem of new Checker(parsing.formula, { ...this.scope, fields: undefined }, true).check()) {
      this.report(problem.code, `in the selector: ${problem.message}`, argument, problem);
    }
  }

  private checkPattern(argument: FormulaNode, call: CallNode): void {
    this.patterns += 1;
    if (this.patterns > formulaLimits.patterns) {
      return this.report('formula_too_large', argumentMessages.tooManyPatterns, argument);
    }
    const given = readPatternArgument(argument);
    if (given === undefined) return this.report('invalid_pattern', argumentMessages.patternExpected(call), argument);
    if (!given.ok) this.report('invalid_pattern', argumentMessages.invalidPattern(given.reason), argument);
  }

  private report(code: FormulaProblemCode, message: string, span: Span, inner?: FormulaProblem): void {
    this.problems.push(problemAt(this.formula.text, code, message, span, inner));
  }
}

/** Whether a dotted name, or a prefix of it, is a known key, or is itself the prefix of one. */
const isReachable = (parts: readonly string[], known: ReadonlySet<string>): boolean => {
  if (parts.some((_, index) => known.has(parts.slice(0, index + 1).join('.')))) return true;
  const beginning = `${parts.join('.')}.`;
  for (const key of known) if (key.startsWith(beginning)) return true;
  return false;
};

/** The part of a call before its parenthesis. */
const nameOf = ({ position, length, name, kind }: CallNode | ValueCallNode): Span => ({
  position,
  length: Math.min(length, name.length + (kind === 'value-call' ? 1 : 0)),
});

const suggest = (written: string, known: Iterable<string>, spell = (name: string): string => name): string => {
  const near = nearName(written, known);
  return near === undefined ? '' : `; did you mean ${spell(near)}?`;
};
