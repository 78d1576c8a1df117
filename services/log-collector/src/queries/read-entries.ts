import { type DecisionLogEntry } from '@decision/contracts';
import { type DecisionAnswers, type DecisionPage, type FoundDecision } from '@decision/decision-logs';
import { byDecision, toEntry } from './answer-decisions';

interface EntriesPage {
  readonly entries: readonly DecisionLogEntry[];
  /** The last decision; undefined if there is none. */
  readonly last: FoundDecision | undefined;
  /** Whether no further decision was found. */
  readonly isLast: boolean;
}

/** Reads a page of decisions. `hidesKeys`: without the keys that asked. */
export const readEntries = async (
  answers: Pick<DecisionAnswers, 'readPage'>,
  hidesKeys: boolean,
  ...asked: Parameters<DecisionAnswers['readPage']>
): Promise<EntriesPage> => {
  const page = await answers.readPage(...asked);
  return { entries: entriesOf(page, hidesKeys), last: page.shown.at(-1), isLast: page.isLast };
};

/** The decisions that were read, in order. */
export const entriesOf = (
  { shown, items }: Pick<DecisionPage, 'shown' | 'items'>,
  hidesKeys: boolean,
): readonly DecisionLogEntry[] =>
  byDecision(
    shown.map(({ id }) => id),
    items,
  ).map((decision) => toEntry(decision, hidesKeys));
