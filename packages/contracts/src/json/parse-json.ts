import { findSyntaxFault } from './syntax-fault';

/** Position at which text is not JSON, or has a number that a double cannot represent. Positions count characters from 0. */
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
 * Parses JSON text. Never throws: a fault is returned with its position. Numbers are exact or rejected: `JSON.parse` would silently change an
 * integer beyond 2^53 or a number that overflows, so it is a problem here. `isExact` states that {@link hasOnlyExactNumbers} holds for the text.
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

/** A cheap first check: exactness can end only at sixteen digits in a row, or an exponent of three digits. */
const MAYBE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;

/** Whether a text, or several consecutive JSON texts, certainly has no number that {@link parseJson} rejects. */
export const hasOnlyExactNumbers = (text: string): boolean => !MAYBE_INEXACT.test(text);

/** Checks the numbers of valid JSON text. Without a pattern: one that matches strings overflows the stack at some millions of characters. */
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

/** End of the string that starts here: after the first quote preceded by an even number of backslashes. */
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
/** A digit or a minus sign: the start of a number. */
const isOfNumber = (character: number): boolean => (character >= 0x30 && character <= 0x39) || character === 0x2d;

/**
 * Whether parsing would change a number literal: overflow, and integers past 2^53 that are neither exact doubles nor the printed form of a
 * double.
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
