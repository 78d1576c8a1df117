import { type DecisionLogEntry } from '@decision/contracts';
import { type DecisionAnswers, type DecisionFilters, type FoundDecision } from '@decision/decision-logs';
import { toEntries } from './answer-decisions';

/** How decisions that were found are read. */
interface Reading {
  readonly filters: DecisionFilters;
  readonly withTraces: boolean;
  /** Of requests and responses, of all decisions together; items beyond them are left out. */
  readonly characters: number;
  /** Whether it is not said which key asked. */
  readonly hidesKeys: boolean;
}

/** Reads decisions that were found, in their order. */
export const readEntries = async (
  answers: Pick<DecisionAnswers, 'read'>,
  found: readonly FoundDecision[],
  { filters, withTraces, characters, hidesKeys }: Reading,
): Promise<readonly DecisionLogEntry[]> => {
  const items = await answers.read(found, filters, { withTraces, characters });
  const ids = found.map(({ id }) => id);
  return toEntries(ids, items, hidesKeys);
};

/** The decisions, from the first on, that have at most so many characters; one at least. */
export const fitting = (found: readonly FoundDecision[], most: number): readonly FoundDecision[] => {
  let characters = 0;
  const end = found.findIndex((decision, index) => (characters += decision.characters) > most && index > 0);
  return end < 0 ? found : found.slice(0, end);
};
