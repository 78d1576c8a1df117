import { findSyntaxFault } from './syntax-fault';

/** Position at which text stops being JSON, or holds a number that a double cannot carry. Positions count characters from 0. */
export interface JsonProblem {
  readonly kind: 'syntax' | 'number';
  readonly reason: string;
  readonly position: number;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

type JsonParsing =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: JsonProblem };

/**
 * Parses JSON text. Never throws: a fault is answered with its position. Numbers are exact or refused: an integer beyond
 * 2^53 or a number that overflows would be changed silently by `JSON.parse`, so it is a problem here. `isExact` says that
 * {@link hasOnlyExactNumbers} is known of the text.
 */
export const parseJson = (text: string, isExact = false): JsonParsing => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: syntaxProblem(text) };
  }
  const position = isExact || hasOnlyExactNumbers(text) ? -1 : inexactNumberPosition(text);
  if (position < 0) return { ok: true, value };
  return { ok: false, problem: problemAt(text, 'number', 'the number cannot be held exactly', position) };
};

/** A cheap first look: sixteen digits in a row, or an exponent of three digits, is where exactness can end. */
const MAYBE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;

/** Whether text, also JSON texts one after the other, certainly has no number that {@link parseJson} refuses. */
export const hasOnlyExactNumbers = (text: string): boolean => !MAYBE_INEXACT.test(text);

/** Looks at the numbers of sound JSON text. Without a pattern: one that matches strings overflows the stack at some millions of characters. */
const inexactNumberPosition = (text: string): number => {
  let at = 0;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (isOfNumber(character)) {
      const end = endOfNumber(text, at);
      if (isInexact(text.slice(at, end))) return at;
      at = end;
    } else at += 1;
  }
  return -1;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** End of the string that begins here: behind the first quote that no odd number of backslashes precedes. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
};

const isEscaped = (text: string, at: number): boolean => {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
};

const endOfNumber = (text: string, start: number): number => {
  let end = start + 1;
  while (end < text.length && (isOfNumber(text.charCodeAt(end)) || NUMBER_LETTERS.has(text.charCodeAt(end)))) end += 1;
  return end;
};

const NUMBER_LETTERS: ReadonlySet<number> = new Set([...'+.eE'].map((letter) => letter.charCodeAt(0)));
/** A digit or the minus: what a number begins with. */
const isOfNumber = (character: number): boolean => (character >= 0x30 && character <= 0x39) || character === 0x2d;

/**
 * Whether a number literal would change by being read: overflow, and integers past 2^53 that are neither what a double holds nor what
 * a double is printed as.
 */
const isInexact = (literal: string): boolean => {
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  if (!/^-?\d+$/.test(literal) || Number.isSafeInteger(value)) return false;
  return String(value) !== literal && BigInt(literal) !== BigInt(value);
};

const syntaxProblem = (text: string): JsonProblem => {
  const { position, reason } = findSyntaxFault(text) ?? { position: 0, reason: 'the text cannot be read' };
  return problemAt(text, 'syntax', reason, position);
};

const problemAt = (text: string, kind: JsonProblem['kind'], reason: string, position: number): JsonProblem => {
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  return { kind, reason, position, line, column: position - before.lastIndexOf('\n') };
};
