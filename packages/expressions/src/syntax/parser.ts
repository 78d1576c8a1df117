import { FormulaFault, type FormulaProblem, type FormulaProblemCode, problemAt, problemOf } from '../formula-problem';
import {
  childrenOf,
  type Formula,
  formulaLimits,
  type FormulaNode,
  type InfixOperator,
  infixOperatorOf,
  infixOperators,
  type NameNode,
  type Span,
  precedence,
  reservedWords,
} from './nodes';
import { Scanner, type Token } from './scanner';

export type FormulaParsing =
  { readonly ok: true; readonly formula: Formula } | { readonly ok: false; readonly problem: FormulaProblem };

/**
 * Parses a formula, or answers the first fault with its position. Never throws. Bounded by `formulaLimits`; takes time and
 * memory linear in the length of the text. Why the parser is the project's own: docs/adr/0007-own-parser-for-formulas.md.
 */
export const parseFormula = (text: string): FormulaParsing => {
  if (text.length > formulaLimits.length) {
    const message = `a formula has at most ${formulaLimits.length} characters; this one has ${text.length}`;
    const span = { position: formulaLimits.length, length: 1 };
    return { ok: false, problem: problemAt(text, 'formula_too_long', message, span) };
  }
  try {
    return { ok: true, formula: Object.freeze({ text, root: new Parser(text).parse() }) };
  } catch (error) {
    if (error instanceof FormulaFault) return { ok: false, problem: problemOf(text, error) };
    throw error;
  }
};

/** A node without its position; distributing over the union keeps its members distinct. */
type Unpositioned<Node> = Node extends FormulaNode ? Omit<Node, keyof Span> : never;

/** Parentheses have a nesting limit of their own, equal to that of nodes; a printed formula needs no more. */
const RECURSION_LIMIT = 2 * formulaLimits.depth + 2;

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Precedence climbing (Pratt): a prefix form, then infix forms while they bind tightly enough. */
class Parser {
  private readonly scanner: Scanner;
  private token: Token;
  /** End of the last token that was taken. */
  private end = 0;
  private recursion = 0;
  private nodes = 0;
  private readonly depths = new Map<FormulaNode, number>();

  constructor(text: string) {
    this.scanner = new Scanner(text);
    this.token = this.scanner.next();
  }

  parse(): FormulaNode {
    if (this.hasEnded()) return this.fail('empty_formula', 'the formula is empty');
    const root = this.expression(precedence.lambda);
    if (!this.hasEnded()) this.unexpected('an operator or the end of the formula');
    return root;
  }

  private expression(loosest: number): FormulaNode {
    if (++this.recursion > RECURSION_LIMIT) this.tooDeep(this.token);
    const { position } = this.token;
    let left = this.prefix();
    for (;;) {
      if (this.isSymbol('?') && precedence.conditional >= loosest) left = this.conditional(left, position);
      else {
        const infix = this.infixAhead();
        if (infix === undefined || infix.precedence < loosest) break;
        left = this.infix(left, infix, position);
      }
    }
    this.recursion -= 1;
    return left;
  }

  private conditional(test: FormulaNode, position: number): FormulaNode {
    this.advance();
    const yes = this.expression(precedence.conditional);
    this.expect(':', 'the ":" of the conditional');
    const no = this.expression(precedence.conditional);
    return this.node({ kind: 'conditional', test, yes, no }, position);
  }

  /** The infix operator that the current token is or begins. */
  private infixAhead(): InfixOperator | undefined {
    const { token } = this;
    if (token.type === 'symbol') return infixOperatorOf(token.value);
    if (token.type !== 'word' || token.quoted) return undefined;
    return token.value === 'not' ? infixOperators.in : infixOperatorOf(token.value);
  }

  private infix(
    left: FormulaNode,
    { operator, precedence: level, grouping }: InfixOperator,
    position: number,
  ): FormulaNode {
    const negated = this.isWord('not');
    this.advance();
    if (negated) {
      if (!this.isWord('in')) this.unexpected('"in" after "not"');
      this.advance();
    }
    const right = this.expression(grouping === 'right' ? level : level + 1);
    const node = this.node({ kind: 'binary', operator, left, right }, position);
    if (grouping === 'none' && this.infixAhead()?.precedence === level) {
      this.fail(
        'chained_comparison',
        'a comparison cannot follow a comparison: write a < b and b < c, or add parentheses',
      );
    }
    return negated ? this.node({ kind: 'unary', operator: 'not', operand: node }, position) : node;
  }

  private prefix(): FormulaNode {
    const { position } = this.token;
    if (this.isSymbol('-')) return this.unary('-', precedence.sign, position);
    if (this.isSymbol('!')) return this.unary('not', precedence.sign, position);
    if (this.isWord('not')) return this.unary('not', precedence.not, position);
    return this.postfix(this.primary(position), position);
  }

  private unary(operator: '-' | 'not', level: number, position: number): FormulaNode {
    this.advance();
    return this.node({ kind: 'unary', operator, operand: this.expression(level) }, position);
  }

  private primary(position: number): FormulaNode {
    const { token } = this;
    if (token.type === 'number' || token.type === 'string') {
      this.advance();
      return this.node({ kind: 'literal', value: token.value }, position);
    }
    if (token.type === 'word')
      return token.quoted || !reservedWords.has(token.value) ? this.name() : this.constant(token.value);
    if (this.isSymbol('(')) {
      this.advance();
      const inside = this.expression(precedence.conditional);
      this.expect(')', 'the closing ")"');
      return inside;
    }
    if (!this.isSymbol('[')) return this.unexpected('a value');
    this.advance();
    return this.node(
      { kind: 'list', items: this.separated(']', () => this.expression(precedence.conditional)) },
      position,
    );
  }

  private constant(word: string): FormulaNode {
    const { position } = this.token;
    const value = CONSTANTS.get(word);
    if (value === undefined) return this.unexpected(`a value (a field named ${word} is written in backticks)`);
    this.advance();
    return this.node({ kind: 'literal', value }, position);
  }

  /** A dotted name, or a call of one. */
  private name(): FormulaNode {
    const { position } = this.token;
    const parts = [this.part()];
    while (this.isSymbol('.')) {
      this.advance();
      parts.push(this.part());
    }
    if (this.isSymbol('(')) return this.call(parts, position);
    if (parts.length > formulaLimits.nameParts) {
      const message = `a name has at most ${formulaLimits.nameParts} parts`;
      throw new FormulaFault('formula_too_large', message, { position, length: this.end - position });
    }
    return this.node({ kind: 'name', parts: Object.freeze(parts) }, position);
  }

  private part(): string {
    if (this.token.type !== 'word') return this.unexpected('a name after the "."');
    const { value } = this.token;
    this.advance();
    return value;
  }

  private call(parts: readonly string[], position: number): FormulaNode {
    const name = parts.join('.');
    if (name === '$') this.unexpected('an operator after the name $');
    if (!name.startsWith('$') && parts.length > 1) {
      const last = parts.at(-1) ?? '';
      const message = `members cannot be called; a function takes what it works on as an argument: ${last}(...)`;
      throw new FormulaFault('unexpected_text', message, { position, length: this.end - position });
    }
    this.advance();
    const given = this.separated(')', () => this.argument());
    if (name.startsWith('$')) return this.node({ kind: 'value-call', name: name.slice(1), arguments: given }, position);
    return this.node({ kind: 'call', name, arguments: given }, position);
  }

  private argument(): FormulaNode {
    const { position } = this.token;
    const value = this.expression(precedence.conditional);
    if (!this.isSymbol('=>')) return value;
    if (!isVariable(value)) return this.fail('unexpected_text', 'before => stands one name: item => item.price');
    this.advance();
    return this.node(
      { kind: 'lambda', parameter: value.parts[0] ?? '', body: this.expression(precedence.conditional) },
      position,
    );
  }

  /** Elements between an opening bracket, already consumed, and its closing one; a trailing comma is refused. */
  private separated(closing: ')' | ']', parseOne: () => FormulaNode): readonly FormulaNode[] {
    const items: FormulaNode[] = [];
    if (!this.isSymbol(closing)) {
      items.push(parseOne());
      while (this.isSymbol(',')) {
        this.advance();
        items.push(parseOne());
      }
    }
    this.expect(closing, `a comma or the closing "${closing}"`);
    return Object.freeze(items);
  }

  private postfix(start: FormulaNode, position: number): FormulaNode {
    let object = start;
    for (;;) {
      if (this.isSymbol('.')) {
        this.advance();
        object = this.node({ kind: 'member', object, key: this.part() }, position);
      } else if (this.isSymbol('[')) {
        this.advance();
        const index = this.expression(precedence.conditional);
        this.expect(']', 'the closing "]"');
        object = this.node({ kind: 'index', object, index }, position);
      } else return object;
    }
  }

  private node(unpositioned: Unpositioned<FormulaNode>, position: number): FormulaNode {
    // The parts are a fresh object of the caller, so it is completed in place without a copy.
    const node = Object.freeze(Object.assign(unpositioned, { position, length: this.end - position }) as FormulaNode); // parts and position
    const below = childrenOf(node).reduce((deepest, child) => Math.max(deepest, this.depths.get(child) ?? 0), 0);
    if (below >= formulaLimits.depth) this.tooDeep(node);
    if (++this.nodes > formulaLimits.nodes) {
      this.fail('formula_too_large', `a formula has at most ${formulaLimits.nodes} operators, names and values`);
    }
    this.depths.set(node, below + 1);
    return node;
  }

  private advance(): void {
    this.end = this.token.position + this.token.length;
    this.token = this.scanner.next();
  }

  private hasEnded(): boolean {
    return this.token.type === 'end';
  }

  private isSymbol(value: string): boolean {
    return this.token.type === 'symbol' && this.token.value === value;
  }

  private isWord(value: string): boolean {
    return this.token.type === 'word' && !this.token.quoted && this.token.value === value;
  }

  private expect(symbol: string, expected: string): void {
    if (!this.isSymbol(symbol)) this.unexpected(expected);
    this.advance();
  }

  private unexpected(expected: string): never {
    return this.fail('unexpected_text', `expected ${expected}, found ${describeToken(this.token)}`);
  }

  private tooDeep(span: Span): never {
    const message = `a formula nests at most ${formulaLimits.depth} levels deep; split it, or use a list function`;
    throw new FormulaFault('formula_too_deep', message, {
      position: span.position,
      length: Math.min(1, span.length),
    });
  }

  private fail(code: FormulaProblemCode, message: string): never {
    throw new FormulaFault(code, message, { position: this.token.position, length: this.token.length });
  }
}

const isVariable = (node: FormulaNode): node is NameNode =>
  node.kind === 'name' && node.parts.length === 1 && !node.parts[0]?.startsWith('$');

const describeToken = (token: Token): string => {
  switch (token.type) {
    case 'end':
      return 'the end of the formula';
    case 'number':
      return 'a number';
    case 'string':
      return 'a string';
    case 'word':
      return wordHint(token.value) ?? `the name ${token.value.slice(0, 40)}`;
    case 'symbol':
      return token.value === '=>' ? '"=>" (to compare, write >=)' : `"${token.value}"`;
  }
};

/** Words that are operators when they are written in lower case. */
const wordHint = (word: string): string | undefined => {
  const lower = word.toLowerCase();
  if (!reservedWords.has(lower)) return undefined;
  return lower === word ? `"${word}"` : `the name ${word} (the operator is written ${lower})`;
};
