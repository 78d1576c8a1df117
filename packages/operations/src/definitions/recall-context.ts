import { type ServiceError } from '@decision/contracts';
import { type WorkspaceAccess } from '@decision/persistence';
import { type ContextDirectory, type ContextInUse, type OpenContext } from './context-directory';

/** A context that was recalled is another one by now. Nothing was written: the same can be done with the one that is in force. */
export class ContextOutdated extends Error {
  override readonly name = 'ContextOutdated';
}

/**
 * Does what a request asks of instances of a context: with the context that this process recalls, which their admission compares with the one in force,
 * and where that is another one, or nothing is recalled, with the one that the database tells. Throws `context_not_found`, and as the work does.
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

/** The error that refuses a request before its instances are admitted: only the context in force refuses anything. */
export const refusedBy = ({ recalled }: ContextInUse, error: ServiceError): Error =>
  recalled === undefined ? error : new ContextOutdated('Whether a recalled context is in force was not asked yet.');
