import { isInstant, isList, isPlainObject, type PlainObject, readIsoDate } from '@decision/values';
import { FormulaFault, type FormulaProblemCode } from '../formula-problem';
import { type Lambda } from '../run/lambda';
import {
  type CallNode,
  formulaLimits,
  type FormulaNode,
  type LambdaNode,
  type LiteralNode,
  type Span,
} from '../syntax/nodes';
import { type FormulaParsing, parseFormula } from '../syntax/parser';
import { parsePattern, type Pattern, type PatternParsing } from '../text/pattern';
import { operandFault } from '../values/operands';

/** One call in a formula, at which its faults are reported. */
export class CallSite {
  readonly name: string;

  constructor(readonly node: CallNode) {
    this.name = node.name;
  }

  spanOf(index: number): Span {
    return this.node.arguments[index] ?? this.node;
  }

  /** Ends the run with a fault at the call, or at one argument of it. */
  fail(code: FormulaProblemCode, message: string, index?: number): never {
    throw new FormulaFault(code, `${this.name}: ${message}`, index === undefined ? this.node : this.spanOf(index));
  }

  /** Ends the run because an argument has the wrong type, or no value. */
  failType(index: number, expected: string, value: unknown): never {
    throw operandFault(`${this.name} needs ${expected}`, this.node.arguments[index] ?? this.node, value);
  }
}

/** How many arguments a function takes. */
export interface ArgumentCount {
  readonly minimum: number;
  readonly maximum: number;
}

/** The fault of a number of arguments, or undefined. */
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

/** A regular expression that is written in the formula as a string; undefined for anything else. */
export const readPatternArgument = (node: FormulaNode): PatternParsing | undefined =>
  isText(node) ? parsePattern(node.value) : undefined;

type TextNode = LiteralNode & { readonly value: string };

const isText = (node: FormulaNode): node is TextNode => node.kind === 'literal' && typeof node.value === 'string';

/** Messages shared by the check at save and the run. */
export const argumentMessages = {
  lambdaExpected: ({ name }: CallNode): string =>
    `${name} takes a lambda here, such as item => item.price > 10, or a condition in quotes`,
  lambdaMisplaced: 'a lambda can only be passed to a function that applies it to the elements of a list',
  patternExpected: ({ name }: CallNode): string =>
    `the regular expression of ${name} is written as a string in the formula, so that it is checked before it runs`,
  invalidPattern: (reason: string): string => `the regular expression cannot be used: ${reason}`,
  tooManyPatterns: `a formula has at most ${formulaLimits.patterns} regular expressions`,
  selectorInSelector: 'a formula in quotes cannot hold another in quotes: write item => ... instead',
  invalidSelector: (reason: string): string => `the text in quotes is no formula: ${reason}`,
} as const;

/**
 * Form of an argument before the formula runs: a value; a lambda (or a quoted selector, a formula over the fields of one element); or a
 * regular expression, written as a string in the formula itself.
 */
export type ArgumentForm = 'value' | 'lambda' | 'pattern';

/** One parameter of a catalogue function: how its argument is checked and converted. */
export interface Parameter<Value = unknown> {
  readonly name: string;
  /** For the documentation. */
  readonly type: string;
  readonly form: ArgumentForm;
  readonly optional: boolean;
  readonly read: (value: unknown, site: CallSite, index: number) => Value;
}

const value = <Value>(name: string, type: string, read: Parameter<Value>['read']): Parameter<Value> => ({
  name,
  type,
  form: 'value',
  optional: false,
  read,
});

/** A parameter that may be left out; the function then receives undefined. */
export const optional = <Value>(parameter: Parameter<Value>): Parameter<Value | undefined> => ({
  ...parameter,
  optional: true,
});

export const anything = (name = 'value'): Parameter => value(name, 'any', (given) => given);

export const number = (name: string): Parameter<number> =>
  value(name, 'number', (given, site, index) =>
    typeof given === 'number' ? given : site.failType(index, 'a number', given),
  );

/** A whole number between two bounds, both included. */
export const integer = (name: string, least: number, most: number): Parameter<number> =>
  value(name, 'whole number', (given, site, index) => {
    if (typeof given !== 'number') return site.failType(index, 'a whole number', given);
    if (Number.isInteger(given) && given >= least && given <= most) return given;
    return site.fail('out_of_range', `${name} must be a whole number from ${least} to ${most}`, index);
  });

export const string = (name = 'text'): Parameter<string> =>
  value(name, 'string', (given, site, index) =>
    typeof given === 'string' ? given : site.failType(index, 'a string', given),
  );

export const list = (name = 'list'): Parameter<readonly unknown[]> =>
  value(name, 'list', (given, site, index) => (isList(given) ? given : site.failType(index, 'a list', given)));

export const listOrString = (name: string): Parameter<readonly unknown[] | string> =>
  value(name, 'list or string', (given, site, index) =>
    typeof given === 'string' || isList(given) ? given : site.failType(index, 'a list or a string', given),
  );

export const object = (name = 'object'): Parameter<PlainObject> =>
  value(name, 'object', (given, site, index) =>
    isPlainObject(given) ? given : site.failType(index, 'an object', given),
  );

/** A moment: an ISO 8601 string or epoch milliseconds, in the years 0000 to 9999. The function receives epoch milliseconds. */
export const date = (name = 'date'): Parameter<number> =>
  value(name, 'date', (given, site, index) => {
    const moment = typeof given === 'string' ? readIsoDate(given) : given;
    if (moment === undefined)
      return site.fail('invalid_value', 'the string is no ISO 8601 date, or no such day or time exists', index);
    if (typeof moment !== 'number') return site.failType(index, 'a date', given);
    if (isInstant(moment)) return moment;
    return site.fail('out_of_range', 'dates lie in the years 0000 to 9999', index);
  });

export const lambda = (name = 'condition'): Parameter<Lambda> => ({
  name,
  type: 'lambda',
  form: 'lambda',
  optional: false,
  read: (given) => given as Lambda, // an argument of this form is compiled to a lambda, or fails before it is read
});

export const pattern = (name = 'pattern'): Parameter<Pattern> => ({
  name,
  type: 'regular expression',
  form: 'pattern',
  optional: false,
  read: (given) => given as Pattern, // an argument of this form is compiled to a pattern, or fails before it is read
});

/** A position from 0, or from the end where it is negative, within a length. */
export const resolvePosition = (position: number, length: number): number =>
  position < 0 ? Math.max(0, length + position) : Math.min(position, length);
