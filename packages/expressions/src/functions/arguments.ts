import { formulaLimits } from '../formula';
import { type FormulaParsing, parseFormula } from '../syntax/parser';
import { type CallNode, type FormulaNode, type LambdaNode, type LiteralNode } from '../syntax/nodes';
import { type PatternParsing, parsePattern } from '../text/pattern';

/** How many arguments a function takes. */
export interface ArgumentCount {
  readonly minimum: number;
  readonly maximum: number;
}

/** Fault of the number of arguments, or undefined. */
export const faultOfCount = (name: string, given: number, { minimum, maximum }: ArgumentCount): string | undefined => {
  if (given >= minimum && given <= maximum) return undefined;
  const counts = minimum === maximum ? String(minimum) : `${minimum} to ${maximum}`;
  return `${name} takes ${counts} argument${maximum === 1 ? '' : 's'}, ${given} given`;
};

/** An argument that a function applies to each element: a lambda, a formula in quotes, or (undefined) neither. */
type LambdaArgument =
  | { readonly kind: 'lambda'; readonly node: LambdaNode }
  | { readonly kind: 'selector'; readonly text: string; readonly parsing: FormulaParsing };

export const readLambdaArgument = (node: FormulaNode): LambdaArgument | undefined => {
  if (node.kind === 'lambda') return { kind: 'lambda', node };
  if (!isText(node)) return undefined;
  return { kind: 'selector', text: node.value, parsing: parseFormula(node.value) };
};

/** A regular expression that is written in the formula as a string; undefined for all else. */
export const readPatternArgument = (node: FormulaNode): PatternParsing | undefined =>
  isText(node) ? parsePattern(node.value) : undefined;

type TextNode = LiteralNode & { readonly value: string };

const isText = (node: FormulaNode): node is TextNode => node.kind === 'literal' && typeof node.value === 'string';

/** Messages that the check at save and the run share. */
export const argumentMessages = {
  lambdaExpected: ({ name }: CallNode): string =>
    `${name} takes a lambda here, such as item => item.price > 10, or a condition in quotes`,
  lambdaMisplaced: 'a lambda can only be given to a function that applies it to the elements of a list',
  patternExpected: ({ name }: CallNode): string =>
    `the regular expression of ${name} is written as a string in the formula, so that it is checked before it runs`,
  invalidPattern: (reason: string): string => `the regular expression cannot be used: ${reason}`,
  tooManyPatterns: `a formula has at most ${formulaLimits.patterns} regular expressions`,
  selectorInSelector: 'a formula in quotes cannot hold another in quotes: write item => ... instead',
  invalidSelector: (reason: string): string => `the text in quotes is no formula: ${reason}`,
} as const;
