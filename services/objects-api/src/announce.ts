import { type Invalidator } from '@decision/cache';
import { type InvalidationKind } from '@decision/contracts';

/** Tells every process that cache entries are stale. Called after the commit, never before. */
export type Announce = (kind: InvalidationKind, workspaceId: string, keys: readonly string[]) => Promise<void>;

export const createAnnounce =
  (invalidator: Invalidator): Announce =>
  (kind, workspaceId, keys) =>
    invalidator.announce({ v: 1, kind, workspace_id: workspaceId, keys: [...keys] });
