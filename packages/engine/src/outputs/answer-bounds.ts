import { measureValue } from '@decision/expressions';
import { isTooDeep } from '../values/json-depth';

/**
 * Elements, members and UTF-16 units of the values of one answer together. A list that rows, outputs or values share is small in memory and
 * enormous as JSON.
 */
const MAX_ANSWER_SIZE = 10_000_000;
/** Lists and objects within one another in an answer: what writes JSON recurses. */
const MAX_ANSWER_DEPTH = 1_000;

/** Why values cannot be answered, as the end of a sentence about them; undefined where they can. Scalars cost next to nothing. */
export const answerFault = (values: readonly unknown[]): string | undefined => {
  let left = MAX_ANSWER_SIZE;
  for (const value of values) {
    if (typeof value === 'string') left -= value.length;
    else if (typeof value === 'object' && value !== null) {
      left -= measureValue(value, left);
      if (left >= 0 && isTooDeep(value, MAX_ANSWER_DEPTH)) return `nests deeper than ${MAX_ANSWER_DEPTH} levels`;
    } else left -= 1;
    if (left < 0) return `is larger than ${MAX_ANSWER_SIZE} elements and characters`;
  }
  return undefined;
};
