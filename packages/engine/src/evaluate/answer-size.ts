import { measureValue } from '@decision/expressions';
import { answerFault, MAX_ANSWER_DEPTH, MAX_ANSWER_SIZE } from './answer';

/** Values that are checked in one piece. */
const PIECE = 5_000;

/** As {@link answerFault}, in pieces of some hundred microseconds: it yields after each. Small values are checked in one piece. */
export function* answerFaultInPieces(values: readonly unknown[]): Generator<undefined, string | undefined> {
  if (measureValue(values, PIECE) <= PIECE) return answerFault(values);
  let left = MAX_ANSWER_SIZE;
  /** Lists being traversed, each nested in the previous one. */
  const around = [{ list: values, at: 0 }];
  for (let count = 1; ; count += 1) {
    if (count % PIECE === 0) yield;
    const innermost = around.at(-1);
    if (innermost === undefined) return undefined;
    const { list, at } = innermost;
    if (at === list.length) {
      around.pop();
      continue;
    }
    innermost.at += 1;
    const value = list[at];
    left -= typeof value === 'string' ? value.length + 1 : 1;
    if (typeof value === 'object' && value !== null) {
      around.push({ list: partsOf(value), at: 0 });
      if (!Array.isArray(value)) for (const key of Object.keys(value)) left -= key.length;
      if (around.length > MAX_ANSWER_DEPTH + 1) return `nests deeper than ${MAX_ANSWER_DEPTH} levels`;
    }
    if (left < 0) return `is larger than ${MAX_ANSWER_SIZE} elements and characters`;
  }
}

const partsOf = (container: object): readonly unknown[] =>
  Array.isArray(container) ? container : Object.values(container);
