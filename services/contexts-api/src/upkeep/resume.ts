import { type Database, markUntold, releaseInstances, type TakenOperation } from '@decision/persistence';

/**
 * Frees the instances of an operation whose owner fell silent, under their new fences, which the former owner does not have. Its merge is committed,
 * so what is left is to run what is due now and to tell their readers: the same commit marks them, so that another process does both (C120) if this
 * one dies.
 */
export const resume = (database: Database, { workspaceId, contextId, held }: TakenOperation): Promise<void> =>
  database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    await releaseInstances(transaction, contextId, held);
    await markUntold(transaction, contextId, [...held.fences.keys()], 0);
  });
