import { type Facts, historyOfChange, linksOf } from '@decision/contexts';
import { addHistory, type HistoryAddition, type LinkWrite, type Transaction } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';

/** Facts of an instance before and after one commit. */
interface FactsChange {
  readonly instanceId: string;
  readonly before: Facts;
  readonly after: Facts;
}

/** The entries of history that changes add (C100). */
export const historyOfChanges = (
  { model }: ContextInUse,
  changes: readonly FactsChange[],
  now: number,
): readonly HistoryAddition[] =>
  changes.flatMap(({ instanceId, before, after }) =>
    [...historyOfChange(model, before, after, now)].map(([fact, entry]) => ({ instanceId, fact, ...entry })),
  );

/** Adds entries of history, in the transaction of their changes. */
export const writeHistory = (
  transaction: Transaction,
  { id, model }: ContextInUse,
  entries: readonly HistoryAddition[],
): Promise<void> => addHistory(transaction, id, entries, model.definition.historyLimit);

/** The links of the foreign keys that changes change (C110). */
export const linksOfChanges = (
  { foreignKeys }: ContextInUse,
  changes: readonly FactsChange[],
): readonly LinkWrite[] => {
  if (foreignKeys.length === 0) return [];
  return changes.flatMap(({ instanceId, before, after }) => {
    const [was, is] = [linksOf(foreignKeys, before), linksOf(foreignKeys, after)];
    return foreignKeys
      .filter((fact) => was.get(fact) !== is.get(fact))
      .map((fact) => ({ instanceId, fact, targetId: is.get(fact) ?? null }));
  });
};
