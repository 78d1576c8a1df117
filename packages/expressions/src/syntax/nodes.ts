/** Place in the text of a formula. */
export interface Place {
  /** UTF-16 units from 0. */
  readonly position: number;
  /** UTF-16 units; 0 at the end of the text. */
  readonly length: number;
}

export interface LiteralNode extends Place {
  readonly kind: 'literal';
  /** Numbers are finite and not negative: a minus sign is a unary operator. */
  readonly value: string | number | boolean | null;
}

export interface ListNode extends Place {
  readonly kind: 'list';
  readonly items: readonly FormulaNode[];
}

/**
 * A field, a lambda's variable, or (where the first part begins with `$`) something that the host knows by that name; then
 * perhaps members of it. Whether `a.b` is one dotted key or a member of `a` is decided when it is looked up.
 */
export interface NameNode extends Place {
  readonly kind: 'name';
  /** 1 to 32 parts, none empty. A part that was quoted may hold any characters, dots included. */
  readonly parts: readonly string[];
}

interface MemberNode extends Place {
  readonly kind: 'member';
  readonly object: FormulaNode;
  readonly key: string;
}

export interface IndexNode extends Place {
  readonly kind: 'index';
  readonly object: FormulaNode;
  readonly index: FormulaNode;
}

export interface UnaryNode extends Place {
  readonly kind: 'unary';
  readonly operator: '-' | 'not';
  readonly operand: FormulaNode;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '**';
export type OrderOperator = '<' | '<=' | '>' | '>=';
export type BinaryOperator = ArithmeticOperator | OrderOperator | '==' | '!=' | 'in' | 'and' | 'or';

export interface BinaryNode extends Place {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: FormulaNode;
  readonly right: FormulaNode;
}

export interface ConditionalNode extends Place {
  readonly kind: 'conditional';
  readonly test: FormulaNode;
  readonly yes: FormulaNode;
  readonly no: FormulaNode;
}

/** A call of a catalogue function or of a function that the host adds: `round(x, 2)`. */
export interface CallNode extends Place {
  readonly kind: 'call';
  readonly name: string;
  readonly arguments: readonly FormulaNode[];
}

/** A call of a function value: `$discount(quantity, price)`. */
export interface ValueCallNode extends Place {
  readonly kind: 'value-call';
  /** Without the `$`. */
  readonly name: string;
  readonly arguments: readonly FormulaNode[];
}

/** `item => item.price > 10`; only as an argument of a call. */
export interface LambdaNode extends Place {
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

/** The nodes directly below one, in the order in which they are written. */
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
