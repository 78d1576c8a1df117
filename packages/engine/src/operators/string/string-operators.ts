import { type Operator } from '../operator-entry';
import { formatOperators } from './format-operators';
import { textLengthOperators } from './length-operators';
import { textOperators } from './text-operators';
import { versionOperators } from './version-operators';

/** Operators of string fields, beside those that every type has. */
export const stringOperators: readonly Operator[] = [
  ...textOperators,
  ...textLengthOperators,
  ...formatOperators,
  ...versionOperators,
];
