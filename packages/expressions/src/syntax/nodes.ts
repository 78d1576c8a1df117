/** A range in the text of a formula. */
export interface Span {
  /** UTF-16 units from 0. */
  readonly position: number;
  /** UTF-16 units; 0 at the end of the text. */
  readonly length: number;
}

export interface LiteralNode extends Span {
  readonly kind: 'literal';
  /** Numbers are finite and not negative: a minus sign is a unary operator. */
  readonly value: string | number | boolean | null;
}

export interface ListNode extends Span {
  readonly kind: 'list';
  readonly items: readonly FormulaNode[];
}

/**
 * A field, a lambda variable, or (if the first part begins with `$`) a value of the host, possibly followed by members. Whether `a.b` is
 * one dotted key or a member of `a` is decided at look-up.
 */
export interface NameNode extends Span {
  readonly kind: 'name';
  /** 1 to 32 parts, none empty. A quoted part may contain any characters, including dots. */
  readonly parts: readonly string[];
}

interface MemberNode extends Span {
  readonly kind: 'member';
  readonly object: FormulaNode;
  readonly key: string;
}

export interface IndexNode extends Span {
  readonly kind: 'index';
  readonly object: FormulaNode;
  readonly index: FormulaNode;
}

export interface UnaryNode extends Span {
  readonly kind: 'unary';
  readonly operator: '-' | 'not';
  readonly operand: FormulaNode;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '**';
export type OrderOperator = '<' | '<=' | '>' | '>=';
type BinaryOperator = ArithmeticOperator | OrderOperator | '==' | '!=' | 'in' | 'and' | 'or';

export interface BinaryNode extends Span {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: FormulaNode;
  readonly right: FormulaNode;
}

export interface ConditionalNode extends Span {
  readonly kind: 'conditional';
  readonly test: FormulaNode;
  readonly yes: FormulaNode;
  readonly no: FormulaNode;
}

/** A call of a catalogue function or host function: `round(x, 2)`. */
export interface CallNode extends Span {
  readonly kind: 'call';
  readonly name: string;
  readonly arguments: readonly FormulaNode[];
}

/** A call of a function value: `$discount(quantity, price)`. */
export interface ValueCallNode extends Span {
  readonly kind: 'value-call';
  /** Without the `$`. */
  readonly name: string;
  readonly arguments: readonly FormulaNode[];
}

/** `item => item.price > 10`; only as an argument of a call. */
export interface LambdaNode extends Span {
  readonly kind: 'lambda';
  readonly parameter: string;
  readonly body: FormulaNode;
}

export type FormulaNode =
  | LiteralNode
  | ListNode
  | NameNode
  | MemberNode
  | IndexNode
  | UnaryNode
  | BinaryNode
  | ConditionalNode
  | CallNode
  | ValueCallNode
  | LambdaNode;

/** The direct children of a node, in text order. */
export const childrenOf = (node: FormulaNode): readonly FormulaNode[] => {
  switch (node.kind) {
    case 'literal':
    case 'name':
      return [];
    case 'list':
      return node.items;
    case 'member':
      return [node.object];
    case 'index':
      return [node.object, node.index];
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'conditional':
      return [node.test, node.yes, node.no];
    case 'call':
    case 'value-call':
      return node.arguments;
    case 'lambda':
      return [node.body];
  }
};

/** Precedence of each form, loosest first. The parser and the printer share these numbers. */
export const precedence = {
  lambda: 0,
  conditional: 1,
  or: 2,
  and: 3,
  not: 4,
  comparison: 5,
  sum: 6,
  product: 7,
  sign: 8,
  power: 9,
  postfix: 10,
} as const;

export interface InfixOperator {
  readonly operator: BinaryOperator;
  readonly precedence: number;
  /** `left` groups from the left, `right` from the right; two of `none` in a row are refused. */
  readonly grouping: 'left' | 'right' | 'none';
}

const infix = (
  operator: BinaryOperator,
  level: number,
  grouping: InfixOperator['grouping'] = 'left',
): InfixOperator => ({
  operator,
  precedence: level,
  grouping,
});

const comparison = (operator: BinaryOperator): InfixOperator => infix(operator, precedence.comparison, 'none');

/** Every infix operator by its canonical spelling. */
export const infixOperators: Readonly<Record<BinaryOperator, InfixOperator>> = {
  or: infix('or', precedence.or),
  and: infix('and', precedence.and),
  '==': comparison('=='),
  '!=': comparison('!='),
  '<': comparison('<'),
  '<=': comparison('<='),
  '>': comparison('>'),
  '>=': comparison('>='),
  in: comparison('in'),
  '+': infix('+', precedence.sum),
  '-': infix('-', precedence.sum),
  '*': infix('*', precedence.product),
  '/': infix('/', precedence.product),
  '%': infix('%', precedence.product),
  '**': infix('**', precedence.power, 'right'),
};

const ALIASES: ReadonlyMap<string, BinaryOperator> = new Map([
  ['=', '=='],
  ['<>', '!='],
  ['&&', 'and'],
  ['||', 'or'],
]);

const bySpelling: ReadonlyMap<string, InfixOperator> = new Map([
  ...Object.entries(infixOperators),
  ...[...ALIASES].map(([alias, operator]) => [alias, infixOperators[operator]] as const),
]);

/** The infix operator of a spelling, aliases included. */
export const infixOperatorOf = (spelling: string): InfixOperator | undefined => bySpelling.get(spelling);

/** Reserved words: names only if they are quoted or follow a dot. */
export const reservedWords: ReadonlySet<string> = new Set(['true', 'false', 'null', 'and', 'or', 'not', 'in']);

/** A parsed formula. It and all its nodes are frozen. */
export interface Formula {
  readonly text: string;
  readonly root: FormulaNode;
}

/** Limits of formulas; larger ones are refused with the position. */
export const formulaLimits = {
  /** UTF-16 units of a formula. */
  length: 10_000,
  /** Maximum nesting of nodes; a chain `a + b + c` has one level per operator. */
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
