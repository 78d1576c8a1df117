import { findSyntaxFault } from './json-syntax';

/** Where JSON text stops being JSON, or holds a number that a double cannot carry. Positions count characters from 0. */
export interface JsonProblem {
  readonly kind: 'syntax' | 'number';
  readonly reason: string;
  readonly position: number;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

export type JsonParsing =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: JsonProblem };

/**
 * Parses JSON text. Never throws: a fault is answered with its position. Numbers are exact or refused: an integer beyond
 * 2^53 or a number that overflows would be changed silently by `JSON.parse`, so it is a problem here.
 */
export const parseJson = (text: string): JsonParsing => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: syntaxProblem(text) };
  }
  const position = MAYBE_INEXACT.test(text) ? inexactNumberPosition(text) : -1;
  if (position < 0) return { ok: true, value };
  return { ok: false, problem: problemAt(text, 'number', 'the number cannot be held exactly', position) };
};

/** A cheap first look: sixteen digits in a row, or an exponent of three digits, is where exactness can end. */
const MAYBE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;

const NUMBER_OR_STRING = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const inexactNumberPosition = (text: string): number => {
  for (const match of text.matchAll(NUMBER_OR_STRING)) {
    if (!match[0].startsWith('"') && isInexact(match[0])) return match.index;
  }
  return -1;
};

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
