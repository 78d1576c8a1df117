import { type BinaryOperator } from './nodes';

/** How tightly each form binds, loosest first. The parser and the printer share these numbers. */
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

/** Words that are not names unless they are quoted or follow a dot. */
export const reservedWords: ReadonlySet<string> = new Set(['true', 'false', 'null', 'and', 'or', 'not', 'in']);
