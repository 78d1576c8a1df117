import { ServiceError } from '@decision/contracts';
import { type Database, ranTooLong, type Transaction, type WorkspaceAccess } from '@decision/persistence';

/** Runs a question about decisions in one transaction. Throws `deadline_exceeded`, with what would be faster, where the database gave it up for its time. */
export const ask = async <T>(
  database: Pick<Database, 'inWorkspace'>,
  access: WorkspaceAccess,
  question: (transaction: Transaction) => Promise<T>,
): Promise<T> => {
  try {
    return await database.inWorkspace(access, question);
  } catch (error) {
    if (!ranTooLong(error)) throw error;
    throw new ServiceError(
      'deadline_exceeded',
      'The database looked through decisions for as long as one question may take. Ask for less: give "start" and "end" of fewer days, or "rules", "flows" or "trace", which have indexes; words, "count" and sorts other than by time read every decision of that time.',
      {},
      { cause: error },
    );
  }
};
