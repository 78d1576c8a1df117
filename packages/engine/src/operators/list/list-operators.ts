import { type Operator } from '../operator-entry';
import { membershipOperators } from './membership-operators';
import { objectElementOperators } from './object-operators';
import { occurrenceOperators } from './occurrence-operators';
import { listOrderOperators } from './order-operators';
import { listSizeOperators } from './size-operators';

/** Operators of list fields, beside those that every type has. */
export const listOperators: readonly Operator[] = [
  ...membershipOperators,
  ...listSizeOperators,
  ...occurrenceOperators,
  ...listOrderOperators,
  ...objectElementOperators,
];
