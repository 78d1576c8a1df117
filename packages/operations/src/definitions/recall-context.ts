import { type ServiceError } from '@decision/contracts';
import { type WorkspaceAccess } from '@decision/persistence';
import { type ContextDirectory, type ContextInUse, type OpenContext } from './context-directory';

/** A recalled context is no longer in force. Nothing was written: the work can be repeated with the one in force. */
export class ContextOutdated extends Error {
  override readonly name = 'ContextOutdated';
}

/**
 * Runs work on instances of a context with the recalled context, which their admission compares with the one in force; if they differ, or
 * nothing is recalled, with the context read from the database. Throws `context_not_found`, and the errors of the work.
 */
export const withContext = async <T>(
  directory: Pick<ContextDirectory, 'open' | 'recall'>,
  access: WorkspaceAccess,
  slug: string,
  work: (context: OpenContext) => Promise<T>,
): Promise<T> => {
  const recalled = directory.recall(access, slug);
  if (recalled !== undefined) {
    try {
      return await work(recalled);
    } catch (error) {
      if (!(error instanceof ContextOutdated)) throw error;
    }
  }
  return work(await directory.open(access, slug));
};

/** The error that refuses a request before its instances are admitted: only the context in force may refuse one. */
export const refusedBy = ({ recalled }: ContextInUse, error: ServiceError): Error =>
  recalled === undefined ? error : new ContextOutdated('Whether a recalled context is in force was not asked yet.');
