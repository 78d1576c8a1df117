import { type DecisionAnswers, type DecisionFilters, type DecisionOrder, type FoundDecision } from './questions';

/** A store that first finds decisions and then reads them. */
interface FindingAnswers extends Omit<DecisionAnswers, 'readPage'> {
  /** Decisions with an item that passes the filters, in order. */
  readonly find: (filters: DecisionFilters, order: DecisionOrder) => Promise<readonly FoundDecision[]>;
}

/** Adds pages to the answers of such a store. */
export const withPages = ({ find, ...answers }: FindingAnswers): DecisionAnswers => ({
  ...answers,
  readPage: async (filters, order, { pageCharacters, ...reading }) => {
    const found = await find(filters, { ...order, limit: order.limit + 1 });
    const shown = fitting(found.slice(0, order.limit), pageCharacters);
    const items = await answers.read(shown, filters, reading);
    return { shown, items, isLast: shown.length === found.length };
  },
});

/** The first decisions that together have at most this many characters; at least one. */
const fitting = (found: readonly FoundDecision[], most: number): readonly FoundDecision[] => {
  let characters = 0;
  const end = found.findIndex((decision, index) => (characters += decision.characters) > most && index > 0);
  return end < 0 ? found : found.slice(0, end);
};
