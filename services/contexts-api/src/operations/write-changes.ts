import { type Facts, historyOfChange, linksOf } from '@decision/contexts';
import { addHistory, type HistoryAddition, type LinkWrite, type Transaction, writeLinks } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';

/** Facts of an instance before and after one commit. */
interface FactsChange {
  readonly instanceId: string;
  readonly before: Facts;
  readonly after: Facts;
}

/** Adds the history of changes (C100), in the transaction that makes them. */
export const writeHistory = async (
  transaction: Transaction,
  { id, model }: ContextInUse,
  changes: readonly FactsChange[],
  now: number,
): Promise<void> => {
  const entries = changes.flatMap(({ instanceId, before, after }): HistoryAddition[] =>
    [...historyOfChange(model, before, after, now)].map(([fact, entry]) => ({ instanceId, fact, ...entry })),
  );
  await addHistory(transaction, id, entries, model.definition.historyLimit);
};

/** Follows foreign keys that changed (C110), in the transaction that changes them. */
export const followLinks = async (
  transaction: Transaction,
  { id, foreignKeys }: ContextInUse,
  changes: readonly FactsChange[],
): Promise<void> => {
  if (foreignKeys.length === 0) return;
  const writes = changes.flatMap(({ instanceId, before, after }): LinkWrite[] => {
    const [was, is] = [linksOf(foreignKeys, before), linksOf(foreignKeys, after)];
    return foreignKeys
      .filter((fact) => was.get(fact) !== is.get(fact))
      .map((fact) => ({ instanceId, fact, targetId: is.get(fact) ?? null }));
  });
  await writeLinks(transaction, id, writes);
};
