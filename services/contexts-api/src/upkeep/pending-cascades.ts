import {
  cascadePending,
  type ContextDirectory,
  findReadingRelationships,
  groupBy,
  operate,
  type OperateContext,
  type RequestOrigin,
  Summaries,
} from '@decision/operations';
import {
  type Database,
  findVersions,
  removePendingCascades,
  takePendingCascades,
  type PendingCascade,
} from '@decision/persistence';

/** Dependencies of pending cascades in upkeep. */
export interface PendingCascadesContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly operate: OperateContext;
  /** Time limit of one piece of work, ms. */
  readonly timeoutMs: number;
  /** Maximum number of instances that one transaction merges. */
  readonly chunkSize: number;
  /** Epoch ms. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
  readonly onEvent: (event: PendingCascadesEvent) => void;
}

/** Reports instances whose pending cascades were taken. The name of the event is a label of a metric. */
export interface PendingCascadesEvent {
  readonly type: 'instances_untold';
  readonly count: number;
}

/**
 * Finishes pending cascades of instances that are gone or were taken over (C120, ADR 30), within the time limit of one piece of work; answers
 * whether there may be more. Requests waiting in a line take precedence.
 */
export const finishPendingCascades = async (
  context: PendingCascadesContext,
  isStopped: () => boolean,
): Promise<boolean> => {
  const { database, now, timeoutMs, chunkSize: most, onError, onEvent } = context;
  const deadline = now() + timeoutMs;
  while (!isStopped() && now() < deadline) {
    const taken = await takePendingCascades(database, { leaseMs: timeoutMs, most });
    if (taken.length > 0) onEvent({ type: 'instances_untold', count: taken.length });
    for (const ofContext of groupBy(taken, ({ contextId }) => contextId).values())
      await finishForContext(context, ofContext).catch(onError);
    if (taken.length < most) return false;
  }
  return true;
};

/** Finishes the pending cascades of instances of one context. */
const finishForContext = async (context: PendingCascadesContext, taken: readonly PendingCascade[]): Promise<void> => {
  const { database, directory, now, timeoutMs, newId } = context;
  const [{ workspaceId, contextId } = { workspaceId: '', contextId: '' }] = taken;
  const access = { workspaceId, userGroups: undefined };
  const beganAt = now();
  const found = await database.inWorkspace(access, async (transaction) => {
    const source = await directory.openById(transaction, workspaceId, contextId);
    if (source === undefined) await removePendingCascades(transaction, contextId, taken);
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
  // Instances whose work was due at the takeover of the operation; those that are gone are skipped.
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
  await cascadePending(context, origin, readers, sources);
};
