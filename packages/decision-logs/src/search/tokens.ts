import { ServiceError } from '@decision/contracts';
import { comparisonOperators, type ComparisonOperator, type Literal } from './syntax-tree';

export type Token =
  | { readonly kind: 'open' | 'close'; readonly at: number }
  | { readonly kind: 'operator'; readonly at: number; readonly operator: ComparisonOperator }
  | { readonly kind: 'text'; readonly at: number; readonly value: Literal; readonly isQuoted: boolean };

/** Maximum characters of a search. */
export const MOST_CHARACTERS = 4_096;
/** Characters of the search that an error shows on either side of its position. */
const SHOWN_AROUND = 30;

/** Makes the error for a position, counted from 0, and a reason. */
export type SearchFault = (at: number, reason: string) => ServiceError;

/** Errors of a search in a parameter, with the position and an excerpt around it. */
export const faultsOf =
  (search: string, parameter: string): SearchFault =>
  (at, reason) => {
    const from = Math.max(0, at - SHOWN_AROUND);
    const shown = search.slice(from, at + SHOWN_AROUND).replace(/\s/g, ' ');
    const message = `The parameter "${parameter}" is not understood at position ${at}: ${reason}`;
    return new ServiceError('invalid_request', message, {
      position: at,
      caret: `${shown}\n${' '.repeat(at - from)}^`,
      problems: [{ in: 'query', path: `/${parameter}`, message: reason }],
    });
  };

const SPACE = /\s+/y;
/** A value may contain the characters of operators: a time has colons. A word before an operator ends at it. */
const WORD = /[^\s()"=!<>:]+/y;
const VALUE = /[^\s()"]+/y;
const NUMBER = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?$/;

const CONSTANTS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

const literalOf = (text: string, isQuoted: boolean): Literal => ({
  text,
  number: !isQuoted && NUMBER.test(text) ? text : undefined,
  constant: !isQuoted && Object.hasOwn(CONSTANTS, text) ? CONSTANTS[text] : undefined,
});

/** Splits a search into tokens. Throws `invalid_request` with the position for an unterminated text, or one that is too long. */
export const tokensOf = (search: string, fault: SearchFault): readonly Token[] => {
  if (search.length > MOST_CHARACTERS)
    throw fault(MOST_CHARACTERS, `it has ${search.length} characters, and at most ${MOST_CHARACTERS} are read.`);
  const tokens: Token[] = [];
  let at = 0;
  while ((at = endOf(SPACE, search, at)) < search.length) {
    const { token, end } = tokenAt(search, fault, at, tokens.at(-1)?.kind === 'operator');
    tokens.push(token);
    at = end;
  }
  return tokens;
};

/** The end of the match of the pattern at a position; the position itself if it does not match. */
const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
};

interface Cut {
  readonly token: Token;
  readonly end: number;
}

const tokenAt = (search: string, fault: SearchFault, at: number, isValue: boolean): Cut => {
  const first = search[at];
  if (first === '(' || first === ')') return { token: { kind: first === '(' ? 'open' : 'close', at }, end: at + 1 };
  if (first === '"') return quotedAt(search, fault, at);
  const operator = isValue ? undefined : comparisonOperators.find((candidate) => search.startsWith(candidate, at));
  if (operator !== undefined) return { token: { kind: 'operator', at, operator }, end: at + operator.length };
  const end = endOf(isValue ? VALUE : WORD, search, at);
  if (end === at) throw fault(at, `"${first}" has no meaning here; put text with such signs in quotes.`);
  const value = literalOf(search.slice(at, end), false);
  return { token: { kind: 'text', at, value, isQuoted: false }, end };
};

/** A quoted text, in which a backslash escapes the next character. */
const quotedAt = (search: string, fault: SearchFault, start: number): Cut => {
  let text = '';
  for (let at = start + 1; at < search.length; at += 1) {
    const character = search[at] ?? '';
    if (character === '"')
      return { token: { kind: 'text', at: start, value: literalOf(text, true), isQuoted: true }, end: at + 1 };
    if (character === '\\') at += 1;
    text += character === '\\' ? (search[at] ?? '') : character;
  }
  throw fault(start, 'the quotes that begin here are not closed.');
};
