import { areEqualBy, type Comparison } from '@decision/values';
import { fold } from './fold';

/** Deep equality that ignores the case of texts, but not of keys. */
export const areEqualFolded = (left: unknown, right: unknown): boolean => areEqualBy(left, right, FOLDED);

const FOLDED: Comparison = {
  isEqualText: (left, right) =>
    left === right ||
    (typeof right === 'string' && mayFoldAlike(left.length, right.length) && fold(left) === fold(right)),
};

/** Folding at most triples a text and never shortens it, so that lengths further apart need no look at the characters. */
const mayFoldAlike = (left: number, right: number): boolean =>
  left <= right * MOST_GROWTH && right <= left * MOST_GROWTH;
const MOST_GROWTH = 3;
