import {
  childrenOf,
  type Formula,
  type FormulaNode,
  formulaReferences,
  readingOfArgument,
  selectorIn,
} from '@decision/expressions';
import { hostFunctions } from './host-functions';

/** Names that the formula of a derived fact may read. */
export interface FormulaReads {
  /** Facts of the same instance. */
  readonly facts: ReadonlySet<string>;
  /** Names of relationships. */
  readonly relations: ReadonlySet<string>;
  /** Relationships whose instances the formula may answer as a whole. */
  readonly whole: ReadonlySet<string>;
  /** Names of facts that it reads of related instances, through any relation. */
  readonly related: ReadonlySet<string>;
  /** The fact that each call of a history function names; undefined if its argument is not a string. */
  readonly history: readonly (string | undefined)[];
  /** Whether it names `$relations` without a relationship. */
  readonly namesNoRelation: boolean;
}

const RELATIONS = '$relations';

/** Prefix of the names that replace aggregates; no name of a relationship begins with it. */
export const AGGREGATE_PREFIX = '$=';

/** Collects what a formula reads (C9). If it is unclear which facts of related instances are read, the result is a superset. */
export const readsOf = (formula: Formula): FormulaReads => {
  const reader = new Reader();
  reader.visit(formula.root, false, new Set());
  const { fields } = formulaReferences(formula);
  const { relations, related, history, namesNoRelation } = reader;
  const whole = reader.anyWhole ? relations : reader.whole;
  return { facts: new Set(fields.map(firstPart)), relations, whole, related, history, namesNoRelation };
};

const firstPart = (name: string): string => name.split('.', 1)[0] ?? name;

type Call = Extract<FormulaNode, { kind: 'call' }>;
type Name = Extract<FormulaNode, { kind: 'name' }>;

class Reader {
  readonly relations = new Set<string>();
  readonly whole = new Set<string>();
  readonly related = new Set<string>();
  readonly history: (string | undefined)[] = [];
  anyWhole = false;
  namesNoRelation = false;

  /** `partly`: only members of the node's value, or its length, are used. */
  visit(node: FormulaNode, partly: boolean, variables: ReadonlySet<string>): void {
    switch (node.kind) {
      case 'name':
        return this.visitName(node, partly, variables);
      case 'call':
        return this.visitCall(node, partly, variables);
      case 'member':
        this.related.add(node.key);
        return this.visit(node.object, true, variables);
      case 'index':
        return this.visitIndex(node, partly, variables);
      case 'lambda':
        return this.visit(node.body, partly, new Set([...variables, node.parameter]));
      default:
        for (const child of childrenOf(node)) this.visit(child, false, variables);
    }
  }

  private visitName({ parts }: Name, partly: boolean, variables: ReadonlySet<string>): void {
    const [first = '', second] = parts;
    if (variables.has(first)) {
      if (second !== undefined) this.related.add(second);
      else if (!partly) this.anyWhole = true;
      return;
    }
    if (!first.startsWith('$') || first.startsWith(AGGREGATE_PREFIX)) return;
    const isLong = first === RELATIONS;
    const name = isLong ? second : first.slice(1);
    if (name === undefined) {
      this.namesNoRelation = true;
      return;
    }
    this.relations.add(name);
    const member = parts[isLong ? 2 : 1];
    if (member !== undefined) this.related.add(member);
    else if (!partly) this.whole.add(name);
  }

  private visitIndex(
    node: Extract<FormulaNode, { kind: 'index' }>,
    partly: boolean,
    variables: ReadonlySet<string>,
  ): void {
    const { index } = node;
    const key = index.kind === 'literal' && typeof index.value === 'string' ? index.value : undefined;
    if (key !== undefined) this.related.add(key);
    this.visit(node.object, partly || key !== undefined, variables);
    this.visit(index, false, variables);
  }

  private visitCall(node: Call, partly: boolean, variables: ReadonlySet<string>): void {
    const added = hostFunctions.get(node.name);
    if (added !== undefined) this.history.push(textOf(node.arguments[added.historyOf]));
    node.arguments.forEach((argument, position) => {
      const selector = selectorIn(node, position);
      if (selector !== undefined) this.visitSelector(selector);
      else this.visit(argument, isPartly(node, position, partly), variables);
    });
  }

  private visitSelector(selector: Formula): void {
    for (const field of formulaReferences(selector).fields) this.related.add(firstPart(field));
    this.visit(selector.root, false, new Set());
  }
}

/** Whether only members of an argument are used, given `partly` for the call's value. */
const isPartly = (call: Call, position: number, partly: boolean): boolean => {
  const reading = readingOfArgument(call, position);
  return reading === 'parts' || (reading === 'answered' && partly);
};

const textOf = (node: FormulaNode | undefined): string | undefined =>
  node?.kind === 'literal' && typeof node.value === 'string' ? node.value : undefined;
