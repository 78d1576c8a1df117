import { type Facts, valueOf } from './facts';
import { sameValue } from './canonical-json';

/** Result of a merge into an instance. */
interface Merged {
  readonly facts: Facts;
  /** Facts whose value is another than before, in the order in which they were given. */
  readonly changed: readonly string[];
}

/** Merges by fact (C30): what is given replaces the former value whole, all else stays. Neither argument is changed. */
export const mergeFacts = (facts: Facts, given: Facts): Merged => ({
  facts: { ...facts, ...given },
  changed: Object.keys(given).filter(
    (fact) => !Object.hasOwn(facts, fact) || !sameValue(valueOf(facts, fact), valueOf(given, fact)),
  ),
});
