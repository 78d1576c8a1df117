import { cacheKeys } from '@decision/contracts';
import { type Database, type ReleaseRecord, type WorkspaceAccess } from '@decision/persistence';
import { type Announce } from '../announce';

/** What the calls on releases need from outside. */
export interface ReleaseContext {
  readonly database: Database;
  readonly announce: Announce;
  readonly newId: () => string;
}

/** A release as it now is, and whether a pin has moved. */
export interface ReleaseChange {
  readonly release: ReleaseRecord;
  readonly moved: boolean;
}

/** Tells every process of a moved pin, after the commit. */
export const announceMove = async (
  { announce }: ReleaseContext,
  { workspaceId }: WorkspaceAccess,
  { release, moved }: ReleaseChange,
): Promise<ReleaseRecord> => {
  if (moved) await announce('release', workspaceId, [cacheKeys.rulePointer(workspaceId, release.rule.slug)]);
  return release;
};
