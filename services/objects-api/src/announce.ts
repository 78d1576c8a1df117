import { type Invalidator } from '@decision/cache';
import { type InvalidationKind } from '@decision/contracts';

/**
 * Tells every process that cache entries are stale. Called after the commit, never before. Rejects where not everybody can have heard it,
 * so that it stays owed.
 */
export type Announce = (kind: InvalidationKind, workspaceId: string, keys: readonly string[]) => Promise<void>;

/** There is a shared cache, and it cannot be reached: what it holds may be stale when it is back. */
export class CacheUnreachableError extends Error {
  override readonly name = 'CacheUnreachableError';

  constructor() {
    super('The cache cannot be reached; what changed is announced to it when it is back.');
  }
}

/** `isReachable` says whether the shared cache answers; true where there is none. */
export const createAnnounce =
  (invalidator: Invalidator, isReachable: () => boolean): Announce =>
  async (kind, workspaceId, keys) => {
    await invalidator.announce({ v: 1, kind, workspace_id: workspaceId, keys: [...keys] });
    if (!isReachable()) throw new CacheUnreachableError();
  };
