import { type Database, type Transaction, type WorkspaceAccess } from '@decision/persistence';

/** Rolls a dry run back and carries its result. */
class DryRun<T> extends Error {
  override readonly name = 'DryRun';

  constructor(readonly result: T) {
    super('The transaction of a dry run is rolled back.');
  }
}

/** Does the work in a transaction that is rolled back: its result and every refusal are those of the real work (decision 15). */
export const runDry = async <T>(
  database: Database,
  access: WorkspaceAccess,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> => {
  try {
    return await database.inWorkspace(access, async (transaction): Promise<T> => {
      throw new DryRun(await work(transaction));
    });
  } catch (error) {
    if (error instanceof DryRun) return (error as DryRun<T>).result; // of this call: nobody else sees the error
    throw error;
  }
};
