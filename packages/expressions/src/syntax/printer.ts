import { type FormulaNode, infixOperators, precedence, reservedWords } from './nodes';

/**
 * The canonical spelling of a node, valid in any context, or of a whole formula given its root: one space around infix operators, strings in double
 * quotes, `and`, `or`, `not`, `==`, `!=`, and no parentheses that change nothing. Parsing it gives the same nodes apart from positions, unless it
 * exceeds the length limit.
 */
export const printNode = (node: FormulaNode): string => print(node, precedence.lambda);

const PLAIN_NAME = /^\$?[\p{L}_][\p{L}\p{M}\p{N}_]*$/u;

const print = (node: FormulaNode, loosest: number): string => {
  const text = spell(node);
  return precedenceOf(node) < loosest ? `(${text})` : text;
};

const spell = (node: FormulaNode): string => {
  switch (node.kind) {
    case 'literal':
      return typeof node.value === 'string' ? JSON.stringify(node.value) : String(node.value);
    case 'list':
      return `[${printAll(node.items)}]`;
    case 'name':
      return node.parts.map((part, index) => spellPart(part, index === 0)).join('.');
    case 'member':
      return `${printObject(node.object)}.${spellPart(node.key, false)}`;
    case 'index':
      return `${print(node.object, precedence.postfix)}[${print(node.index, precedence.conditional)}]`;
    case 'unary':
      return node.operator === 'not'
        ? `not ${print(node.operand, precedence.not)}`
        : `-${print(node.operand, precedence.sign)}`;
    case 'binary':
      return spellBinary(node);
    case 'conditional':
      return spellConditional(node);
    case 'call':
      return `${spellPart(node.name, true)}(${printAll(node.arguments)})`;
    case 'value-call':
      return `${spellFunctionValue(node.name)}(${printAll(node.arguments)})`;
    case 'lambda':
      return `${spellPart(node.parameter, true)} => ${print(node.body, precedence.conditional)}`;
  }
};

const printAll = (nodes: readonly FormulaNode[]): string => nodes.map(printNode).join(', ');

const spellBinary = ({ operator, left, right }: FormulaNode & { kind: 'binary' }): string => {
  const { precedence: level, grouping } = infixOperators[operator];
  const leftText = print(left, grouping === 'left' ? level : level + 1);
  return `${leftText} ${operator} ${print(right, grouping === 'right' ? level : level + 1)}`;
};

const spellConditional = ({ test, yes, no }: FormulaNode & { kind: 'conditional' }): string =>
  `${print(test, precedence.or)} ? ${print(yes, precedence.conditional)} : ${print(no, precedence.conditional)}`;

/** Prints the object before a dot: a name would absorb the member as a part, and a number would absorb the dot. */
const printObject = (object: FormulaNode): string => {
  const takesTheDot = object.kind === 'name' || (object.kind === 'literal' && typeof object.value === 'number');
  return takesTheDot ? `(${printNode(object)})` : print(object, precedence.postfix);
};

const spellPart = (part: string, first: boolean): string =>
  PLAIN_NAME.test(part) && !(first && reservedWords.has(part)) ? part : quote(part);

const spellFunctionValue = (name: string): string =>
  !name.startsWith('$') && name.split('.').every((part) => PLAIN_NAME.test(part)) ? `$${name}` : `$${quote(name)}`;

/** A name in backticks, escaped like a JSON string, including its backticks. */
const quote = (name: string): string => `\`${JSON.stringify(name).slice(1, -1).replaceAll('`', '\\`')}\``;

const precedenceOf = (node: FormulaNode): number => {
  switch (node.kind) {
    case 'lambda':
      return precedence.lambda;
    case 'conditional':
      return precedence.conditional;
    case 'unary':
      return node.operator === 'not' ? precedence.not : precedence.sign;
    case 'binary':
      return infixOperators[node.operator].precedence;
    default:
      return precedence.postfix;
  }
};
