import { areEqual } from '@decision/values';
import { areEqualFolded } from '../../values/folded-equality';
import { foldedKeyOf, keyOf, type KeyOf } from '../../values/value-key';

/** Equality of two elements: the same value, or the same but for the case of texts. */
export interface Matching {
  /** Suffix of the operator's name. */
  readonly suffix: '' | ' (case-insensitive)';
  /** Words for the operator's meaning. */
  readonly inWords: string;
  readonly areEqual: (left: unknown, right: unknown) => boolean;
  readonly keyOf: KeyOf;
}

export const exactly: Matching = { suffix: '', inWords: '', areEqual, keyOf };

export const ignoringCase: Matching = {
  suffix: ' (case-insensitive)',
  inWords: ', whatever the case of texts',
  areEqual: areEqualFolded,
  keyOf: foldedKeyOf,
};

export type List = readonly unknown[];

/** Elements of a list that equal a value, counted up to a bound. */
export const countOf = (list: List, value: unknown, matching: Matching, bound = Infinity): number => {
  let count = 0;
  for (const element of list) {
    if (matching.areEqual(element, value)) count += 1;
    if (count >= bound) break;
  }
  return count;
};
