import { type Database, findVersions, forgetUntold, takeUntold, type UntoldInstance } from '@decision/persistence';
import { type ContextDirectory } from '../definitions/context-directory';
import { groupBy } from '../operations/group-by';
import { operate, type OperateContext } from '../operations/operate';
import { type RequestOrigin } from '../operations/work';
import { findReadingRelationships } from '../readers/find-readers';
import { Summaries } from '../readers/summaries';
import { tellUntoldReaders } from '../readers/tell-untold';

/** Dependencies of telling readers in upkeep. */
export interface FinishUntoldContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly operate: OperateContext;
  /** How long one piece of work may take, ms. */
  readonly timeoutMs: number;
  /** Instances that one transaction merges at most. */
  readonly chunkSize: number;
  /** Epoch ms. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
  readonly onEvent: (event: UntoldEvent) => void;
}

/** Instances whose readers nobody was telling were taken. */
export interface UntoldEvent {
  readonly type: 'instances_untold';
  readonly count: number;
}

/**
 * Goes on where nobody tells the readers of instances that are gone or were taken over (C120), for as long as one piece of work may take; answers whether
 * there may be more. Whoever came first to a line goes first; what is due then is due to them as well.
 */
export const finishUntold = async (context: FinishUntoldContext, isStopped: () => boolean): Promise<boolean> => {
  const { database, now, timeoutMs, chunkSize: most, onError, onEvent } = context;
  const deadline = now() + timeoutMs;
  while (!isStopped() && now() < deadline) {
    const taken = await takeUntold(database, { leaseMs: timeoutMs, most });
    if (taken.length > 0) onEvent({ type: 'instances_untold', count: taken.length });
    for (const ofContext of groupBy(taken, ({ contextId }) => contextId).values())
      await finishThese(context, ofContext).catch(onError);
    if (taken.length < most) return false;
  }
  return true;
};

/** Finishes the untold instances of one context. */
const finishThese = async (context: FinishUntoldContext, taken: readonly UntoldInstance[]): Promise<void> => {
  const { database, directory, now, timeoutMs, newId } = context;
  const [{ workspaceId, contextId } = { workspaceId: '', contextId: '' }] = taken;
  const access = { workspaceId, userGroups: undefined };
  const beganAt = now();
  const found = await database.inWorkspace(access, async (transaction) => {
    const source = await directory.openById(transaction, workspaceId, contextId);
    if (source === undefined) await forgetUntold(transaction, contextId, taken);
    return (
      source && { source, relationships: await findReadingRelationships(transaction, directory, source, workspaceId) }
    );
  });
  if (found === undefined) return;
  const origin: RequestOrigin = {
    ...{ access, keyId: undefined, requestId: newId(), traceparent: undefined },
    now: beganAt,
    deadline: beganAt + timeoutMs,
  };
  // Instances whose work was due when the operation was taken over; those that are gone are skipped.
  const given = taken.map(({ instanceId }) => ({ instanceId, facts: {} }));
  const { failures } = await operate(context.operate, { context: found.source, origin, given, mode: 'dependent' });
  const ids = given.map(({ instanceId }) => instanceId).filter((id) => !failures.has(id));
  const versions = await database.inWorkspace(access, (transaction) => findVersions(transaction, contextId, ids));
  const sources = taken
    .filter(({ instanceId }) => !failures.has(instanceId))
    .map(({ instanceId, mark, progress }) => ({
      ...{ instanceId, mark, begun: progress, version: versions.get(instanceId) ?? 0 },
    }));
  const readers = { contextId, relationships: found.relationships, summaries: new Summaries() };
  await tellUntoldReaders(context, origin, readers, sources);
};
