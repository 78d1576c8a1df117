import { type Database, markUntold, releaseInstances, type TakenOperation } from '@decision/persistence';

/**
 * Frees the instances of an operation whose owner fell silent, under their new fences, which the former owner does not have. Its merge is committed, so
 * what is left is to run what is due now and to tell their readers: with the same commit they are marked, so that whoever comes next does
 * both (C120), whatever becomes of this process.
 */
export const resume = (database: Database, { workspaceId, contextId, held }: TakenOperation): Promise<void> =>
  database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    await releaseInstances(transaction, contextId, held);
    await markUntold(transaction, contextId, [...held.fences.keys()], 0);
  });
